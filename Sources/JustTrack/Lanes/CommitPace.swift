import Synchronization

/// How many submissions are on their way into a lane's spool, and whether it takes them as fast as they come.
///
/// It may not: its disk stands still, or all threads of the system's pool wait for it, on one of which it has to begin.
final class CommitPace: Sendable {
    /// So many may be on their way; then no more are taken.
    private static let capacity = 10_000

    private struct State: Sendable {
        var begun = 0
        var settled = 0
        var isStalled = false
        /// Those who wait until so many are settled.
        var waiters: [(target: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    /// Whether somebody waited in vain since the spool last took something.
    var isStalled: Bool { state.withLock(\.isStalled) }

    /// Notes one more; false where there are too many.
    func begin() -> Bool {
        state.withLock { state in
            guard state.begun - state.settled < Self.capacity else { return false }
            state.begun += 1
            return true
        }
    }

    /// Notes that it is known what became of one.
    func settle() {
        let woken = state.withLock { state in
            state.settled += 1
            state.isStalled = false
            let settled = state.settled
            let woken = state.waiters.filter { $0.target <= settled }
            if !woken.isEmpty { state.waiters.removeAll { $0.target <= settled } }
            return woken
        }
        for waiter in woken { waiter.continuation.resume() }
    }

    /// Notes that somebody waited in vain.
    func stall() {
        state.withLock { $0.isStalled = true }
    }

    /// Waits until as many are settled as have begun.
    func catchUp() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.settled == state.begun { return true }
                state.waiters.append((state.begun, continuation))
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
