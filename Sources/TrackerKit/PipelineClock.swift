/// A clock of any kind as the pipeline sees it: durations since the pipeline was made.
package struct PipelineClock: Sendable {
    /// The time since the pipeline was made.
    package let now: @Sendable () -> Duration
    /// Sleeps until a time since the pipeline was made; throws when the task is cancelled.
    package let sleepUntil: @Sendable (Duration) async throws -> Void

    /// Starts counting now.
    package init(_ clock: some Clock<Duration>) {
        let origin = clock.now
        now = { origin.duration(to: clock.now) }
        sleepUntil = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) }
    }
}
