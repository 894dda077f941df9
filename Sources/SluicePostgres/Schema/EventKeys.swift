import Synchronization

/// The columns by which each table recognizes an event that it already has, as one of the tracker's sessions last read them.
///
/// They may be outdated: a delivery that fails because of that reads them again before it is isolated.
final class EventKeys: Sendable {
    private let keys = Mutex<[String: [String]]>([:])

    /// Replaces what is known.
    func note(_ present: PresentSchema) {
        keys.withLock { $0 = present.tables.mapValues(\.eventKey) }
    }

    /// The columns of a table's key, which are none if the table has no key; `nil` if they are unknown.
    func key(of table: EventTable) -> [String]? { keys.withLock { $0[table.name] } }
}
