import Synchronization

/// How many submissions are on their way into a lane's spool, and whether it takes them as fast as they come.
///
/// It may not: its disk stands still, or all threads of the system's pool wait for it, on one of which it has to begin.
final class CommitPace: Sendable {
    /// So many may be on their way; then no more are taken.
    private static let capacity = 10_000

    private struct State: Sendable {
        var onTheirWay = 0
        var isStalled = false
    }

    private let state = Mutex(State())

    /// Whether somebody waited in vain since the spool last took something.
    var isStalled: Bool { state.withLock(\.isStalled) }

    /// Notes one more; false where there are too many.
    func begin() -> Bool {
        state.withLock { state in
            guard state.onTheirWay < Self.capacity else { return false }
            state.onTheirWay += 1
            return true
        }
    }

    /// Notes that it is known what became of one.
    func settle() {
        state.withLock { state in
            state.onTheirWay -= 1
            state.isStalled = false
        }
    }

    /// Notes that somebody waited in vain.
    func stall() {
        state.withLock { $0.isStalled = true }
    }
}
