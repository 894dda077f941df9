import Synchronization

/// Limits how many submissions are in progress for a lane's spool, and notices when the spool does not keep up.
///
/// That happens if its disk hangs, or if all threads of the cooperative pool wait for a commit that needs one of them.
final class CommitPace: Sendable {
    /// The maximum number of submissions in progress; further ones are refused.
    private static let capacity = 10_000

    private struct State: Sendable {
        var onTheirWay = 0
        var isStalled = false
    }

    private let state = Mutex(State())

    /// Whether a wait timed out since the last commit of the spool.
    var isStalled: Bool { state.withLock(\.isStalled) }

    /// Counts another submission; returns false if there are too many.
    func begin() -> Bool {
        state.withLock { state in
            guard state.onTheirWay < Self.capacity else { return false }
            state.onTheirWay += 1
            return true
        }
    }

    /// Records that a submission has ended.
    func settle() {
        state.withLock { state in
            state.onTheirWay -= 1
            state.isStalled = false
        }
    }

    /// Records that a wait has timed out.
    func stall() {
        state.withLock { $0.isStalled = true }
    }
}
