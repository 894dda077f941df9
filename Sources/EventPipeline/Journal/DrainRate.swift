/// The drain rate of the slowest tracker over the last ten seconds.
package struct DrainRate: Sendable {
    private static let window = Duration.seconds(10)

    private var samples: [(at: Duration, sequence: UInt64)] = []

    package init() {}

    /// Records the number of the oldest event that is still needed.
    package mutating func note(_ sequence: UInt64, now: Duration) {
        // Four samples a second are enough.
        if let last = samples.last, now - last.at < .milliseconds(250) { return }
        samples.append((now, sequence))
        samples.removeAll { $0.at < now - Self.window }
    }

    /// How long it takes at this rate until everything before a number is settled; `nil` without progress.
    package func wait(until sequence: UInt64) -> Duration? {
        guard let first = samples.first, let last = samples.last, last.sequence > first.sequence, last.at > first.at
        else { return nil }
        guard sequence > last.sequence else { return .zero }
        let share = Double(sequence - last.sequence) / Double(last.sequence - first.sequence)
        // The limit of a day avoids an overflow.
        return min((last.at - first.at) * min(share, 8_640), .seconds(86_400))
    }
}
