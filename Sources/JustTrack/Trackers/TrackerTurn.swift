import Synchronization

/// Lets one thread at a time call a tracker, even if it is in several lanes: a tracker that is unloaded and loaded again is
/// called by the old lane for its remaining events, and by the new one.
final class TrackerTurn: Sendable {
    private struct Known {
        weak var turn: TrackerTurn?
    }

    /// A turn keeps the tracker alive, so that no other object has its identifier.
    private static let known = Mutex<[ObjectIdentifier: Known]>([:])

    private let lock = Mutex<Void>(())

    private init() {}

    /// The turn of a tracker; a value type has a turn of its own.
    static func of(_ tracker: any EventTracker) -> TrackerTurn {
        guard type(of: tracker) is AnyClass else { return TrackerTurn() }
        let identifier = ObjectIdentifier(tracker as AnyObject)
        return known.withLock { known in
            if let turn = known[identifier]?.turn { return turn }
            known = known.filter { $0.value.turn != nil }
            let turn = TrackerTurn()
            known[identifier] = Known(turn: turn)
            return turn
        }
    }

    /// Waits for the turn, and takes it.
    func take<Result>(_ body: () -> Result) -> Result {
        lock.withLock { _ in body() }
    }
}
