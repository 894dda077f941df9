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
    }

    private let tables = Mutex<[String: Known]>([:])
    private let recentIDs = Mutex(false)

    /// Replaces what is known.
    func note(_ present: PresentSchema) {
        let known = present.tables.mapValues { table in
            let types = Dictionary(table.columns.map { ($0.name, $0.type) }) { first, _ in first }
            return Known(key: table.eventKey, types: types)
        }
        tables.withLock { $0 = known }
        recentIDs.withLock { $0 = RecentIDs.areUsable(in: present) }
    }

    /// The columns by which a table recognizes an event that it already has, which are none if the table has no key; `nil` if they
    /// are unknown.
    func key(of table: EventTable) -> [String]? { tables.withLock { $0[table.name]?.key } }

    /// Whether the ids of events whose time is not the sender's can be remembered.
    var hasRecentIDs: Bool { recentIDs.withLock { $0 } }

    /// Whether a column of the table is known not to store each value exactly.
    func isMistyped(_ table: EventTable) -> Bool {
        guard let types = tables.withLock({ $0[table.name]?.types }) else { return false }
        return table.mistypedColumn(in: types) != nil
    }
}
