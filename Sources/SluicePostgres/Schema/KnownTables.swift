import EventModel
import MetricDefinitions
import Metrics
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

    /// How often the partitions are read while events are delivered, so that the metric follows the time.
    private static let partitionsInterval = Duration.seconds(3600)

    private let tables = Mutex<[String: Known]>([:])
    private let partitionsReadAt = Mutex<ContinuousClock.Instant?>(nil)
    private let partitionsAhead: Gauge

    /// Knows nothing yet.
    init(ofTracker name: String, _ factory: any MetricsFactory = MetricsSystem.factory) {
        partitionsAhead = PostgresMetricDefinitions.partitionsAhead.gauge(name, in: factory)
    }

    /// Replaces what is known.
    func note(_ present: PresentSchema) {
        let known = present.tables.mapValues { table in
            let types = Dictionary(table.columns.map { ($0.name, $0.type) }) { first, _ in first }
            return Known(key: table.eventKey, types: types, coverage: table.coverage)
        }
        tables.withLock { $0 = known }
        notePartitionsAhead()
    }

    /// Replaces what is known of the tables' partitions.
    func note(_ coverages: [String: PartitionCoverage]) {
        tables.withLock { tables in
            for name in tables.keys { tables[name]?.coverage = coverages[name] }
        }
        notePartitionsAhead()
    }

    /// Whether a table is partitioned by time, and its partitions were read a while ago.
    var shouldReadPartitions: Bool {
        guard let last = partitionsReadAt.withLock({ $0 }), .now - last >= Self.partitionsInterval else { return false }
        return tables.withLock { $0.values.contains { $0.coverage != nil } }
    }

    private func notePartitionsAhead() {
        partitionsReadAt.withLock { $0 = .now }
        let coverages = tables.withLock { $0.values.compactMap(\.coverage) }
        if let seconds = coverages.compactMap({ $0.secondsAhead(of: .now()) }).min() { partitionsAhead.record(seconds) }
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
