import Synchronization

/// The tables of the schema, as one of the tracker's sessions last read them.
///
/// They may be outdated: the types are compared again in each transaction, and a delivery that fails because of a key reads the tables
/// again before it is isolated.
final class KnownTables: Sendable {
    private struct Known {
        let key: [String]
        /// The type of each column, by its name.
        let types: [String: String]
        var coverage: PartitionCoverage?
    }

    private let tables = Mutex<[String: Known]>([:])

    /// Replaces what is known.
    func note(_ present: PresentSchema) {
        let known = present.tables.mapValues { table in
            let types = Dictionary(table.columns.map { ($0.name, $0.type) }) { first, _ in first }
            return Known(key: table.eventKey, types: types, coverage: table.coverage)
        }
        tables.withLock { $0 = known }
    }

    /// Replaces what is known of the tables' partitions.
    func note(_ coverages: [String: PartitionCoverage]) {
        tables.withLock { tables in
            for name in tables.keys { tables[name]?.coverage = coverages[name] }
        }
    }

    /// For which times a table has partitions; `nil` if that is unknown, or if the table is not partitioned by time.
    func coverage(of table: EventTable) -> PartitionCoverage? { tables.withLock { $0[table.name]?.coverage } }

    /// The columns by which a table recognizes an event that it already has, which are none if the table has no key; `nil` if they
    /// are unknown.
    func key(of table: EventTable) -> [String]? { tables.withLock { $0[table.name]?.key } }

    /// Whether a column of the table is known not to store each value exactly.
    func isMistyped(_ table: EventTable) -> Bool {
        guard let types = tables.withLock({ $0[table.name]?.types }) else { return false }
        return table.mistypedColumn(in: types) != nil
    }
}
