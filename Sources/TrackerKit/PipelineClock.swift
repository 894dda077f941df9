/// A clock of any type, reduced to the duration since its creation; tests pass one that they advance by hand.
package struct PipelineClock: Sendable {
    /// The time since this value was made.
    package let now: @Sendable () -> Duration
    /// Sleeps until the given time since this value was made; throws if the task is cancelled.
    package let sleepUntil: @Sendable (Duration) async throws -> Void

    /// Starts at zero, now.
    package init(_ clock: some Clock<Duration>) {
        let origin = clock.now
        now = { origin.duration(to: clock.now) }
        sleepUntil = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) }
    }
}

/// Limits the rate of a log message: the first event is logged at once, further ones at most every ten seconds, in sum.
package struct SparseNotice: Sendable {
    private static let interval: Duration = .seconds(10)

    private var silentUntil: Duration?
    private var unreported = 0

    package init() {}

    /// Counts events; if a message is due, returns the number of events that it should report.
    package mutating func add(_ events: Int, now: Duration) -> Int? {
        unreported += events
        if let silentUntil, now < silentUntil { return nil }
        silentUntil = now + Self.interval
        defer { unreported = 0 }
        return unreported
    }
}
