/// A clock of any type, reduced to the duration since its creation; tests pass one that they advance by hand.
package struct RelativeClock: Sendable {
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
