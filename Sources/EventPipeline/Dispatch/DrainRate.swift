/// How fast the hindmost tracker gets through the journal, as far as the last ten seconds tell.
package struct DrainRate: Sendable {
    private static let window = Duration.seconds(10)

    private var samples: [(at: Duration, sequence: UInt64)] = []

    package init() {}

    /// Notes which event is the oldest that is still needed.
    package mutating func note(_ sequence: UInt64, now: Duration) {
        // Where it is asked more often than that, the last second says enough.
        if let last = samples.last, now - last.at < .milliseconds(250) { return }
        samples.append((now, sequence))
        samples.removeAll { $0.at < now - Self.window }
    }

    /// How long it takes at this rate until everything before a number is settled; `nil` where nothing moves.
    package func wait(until sequence: UInt64) -> Duration? {
        guard let first = samples.first, let last = samples.last, last.sequence > first.sequence, last.at > first.at
        else { return nil }
        guard sequence > last.sequence else { return .zero }
        let share = Double(sequence - last.sequence) / Double(last.sequence - first.sequence)
        // A day is longer than anybody is told to wait, and far from what a duration holds.
        return min((last.at - first.at) * min(share, 8_640), .seconds(86_400))
    }
}
