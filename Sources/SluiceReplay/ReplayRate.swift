/// Limits the number of events per second; a pause in the input does not raise the rate afterwards.
package struct ReplayRate<Timer: Clock<Duration>>: Sendable {
    private let eventsPerSecond: Int
    private let clock: Timer
    /// The time at which the next part may be sent.
    private var nextPart: Timer.Instant

    /// Creates a limit that starts now.
    package init(eventsPerSecond: Int, clock: Timer) {
        self.eventsPerSecond = eventsPerSecond
        self.clock = clock
        nextPart = clock.now
    }

    /// Waits for the time that `count` events take at this rate, or until the task is cancelled.
    package mutating func wait(for count: Int) async {
        nextPart = max(nextPart, clock.now).advanced(by: .seconds(Double(count) / Double(eventsPerSecond)))
        try? await clock.sleep(until: nextPart, tolerance: nil)
    }
}
