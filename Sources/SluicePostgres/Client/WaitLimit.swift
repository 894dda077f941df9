import TrackerKit

/// How long a call may wait for the server, and who may end the wait before.
struct WaitLimit {
    let interrupt: Interrupt
    let deadline: ContinuousClock.Instant

    init(interrupt: Interrupt, timeout: Duration) {
        self.interrupt = interrupt
        deadline = .now + timeout
    }

    /// Fails once the wait is over.
    func check() throws(PostgresFailure) {
        if interrupt.isRaised { throw .interrupted }
        if ContinuousClock.now >= deadline { throw .timedOut }
    }
}
