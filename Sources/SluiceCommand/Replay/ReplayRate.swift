/// Spreads what is replayed over time: so many events a second, and no more after a pause in the input.
package struct ReplayRate<Timer: Clock<Duration>> {
    private let eventsPerSecond: Int
    private let clock: Timer
    /// When the next part may be sent.
    private var nextPart: Timer.Instant

    /// Begins now.
    package init(eventsPerSecond: Int, clock: Timer) {
        self.eventsPerSecond = eventsPerSecond
        self.clock = clock
        nextPart = clock.now
    }

    /// Waits as long as a part of so many events takes at this rate, or until the task is cancelled.
    package mutating func wait(for count: Int) async {
        nextPart = max(nextPart, clock.now).advanced(by: .seconds(Double(count) / Double(eventsPerSecond)))
        try? await clock.sleep(until: nextPart, tolerance: nil)
    }
}
