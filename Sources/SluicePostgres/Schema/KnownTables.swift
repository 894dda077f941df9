import EventModel
import MetricDefinitions
import Metrics
import Synchronization

/// By which columns the tables recognize an event that they already have.
struct KnownKeys: Sendable {
    fileprivate let keys: [String: [String]]
    /// Whether the ids of events whose time is not the sender's can be remembered.
    let hasRecentIDs: Bool

    /// The columns, which are none if the table has no key; `nil` if they are unknown.
    func key(of table: EventTable) -> [String]? { keys[table.name] }
}

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

    /// How often the partitions are read while events are delivered, so that the metric follows what an operator does.
    private static let partitionsInterval = Duration.seconds(3600)
    /// The shortest time between two readings, because one sender with a wrong clock could otherwise cause one for each delivery.
    private static let shortestPartitionsInterval = Duration.seconds(1)

    private struct State {
        var tables: [String: Known] = [:]
        var hasRecentIDs = false
    }

    private let state = Mutex(State())
    private let partitionsReadAt = Mutex<ContinuousClock.Instant?>(nil)
    private let partitionsEnd: Gauge

    /// Knows nothing yet.
    init(ofTracker name: String, _ factory: any MetricsFactory = MetricsSystem.factory) {
        partitionsEnd = PostgresMetricDefinitions.partitionsEnd.gauge(name, in: factory)
    }

    /// Replaces what is known.
    func note(_ present: PresentSchema) {
        let known = present.tables.mapValues { table in
            let types = Dictionary(table.columns.map { ($0.name, $0.type) }) { first, _ in first }
            return Known(key: table.eventKey, types: types, coverage: table.coverage)
        }
        state.withLock { $0 = State(tables: known, hasRecentIDs: RecentIDs.areUsable(in: present)) }
        notePartitionsEnd()
    }

    /// Replaces what is known of the tables' partitions.
    func note(_ coverages: [String: PartitionCoverage]) {
        state.withLock { state in
            for name in state.tables.keys { state.tables[name]?.coverage = coverages[name] }
        }
        notePartitionsEnd()
    }

    /// Whether the partitions have to be read again; if so, it counts as done, so that others do not do the same.
    func mayReadPartitions(isMissingOne: Bool) -> Bool {
        let interval = isMissingOne ? Self.shortestPartitionsInterval : Self.partitionsInterval
        return partitionsReadAt.withLock { last in
            guard let time = last, .now - time >= interval else { return false }
            last = .now
            return true
        }
    }

    private func notePartitionsEnd() {
        partitionsReadAt.withLock { $0 = .now }
        let ends = state.withLock { $0.tables.values.compactMap { $0.coverage?.end(from: .now()) } }
        if let first = ends.map(\.microseconds).min() { partitionsEnd.record(first / 1_000_000) }
    }

    /// For which times a table has partitions; `nil` if that is unknown, or if the table is not partitioned by time.
    func coverage(of table: EventTable) -> PartitionCoverage? { state.withLock { $0.tables[table.name]?.coverage } }

    /// The columns by which a table recognizes an event that it already has, which are none if the table has no key; `nil` if they
    /// are unknown.
    func key(of table: EventTable) -> [String]? { state.withLock { $0.tables[table.name]?.key } }

    /// All keys at this time.
    var keys: KnownKeys {
        state.withLock { KnownKeys(keys: $0.tables.mapValues(\.key), hasRecentIDs: $0.hasRecentIDs) }
    }

    /// Whether the ids of events whose time is not the sender's can be remembered.
    var hasRecentIDs: Bool { state.withLock { $0.hasRecentIDs } }

    /// Whether a column of the table is known not to store each value exactly.
    func isMistyped(_ table: EventTable) -> Bool {
        guard let types = state.withLock({ $0.tables[table.name]?.types }) else { return false }
        return table.mistypedColumn(in: types) != nil
    }
}
