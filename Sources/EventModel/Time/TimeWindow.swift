/// How long before and after its arrival an event may plausibly have happened.
///
/// A negative limit counts as zero.
public struct TimeWindow: Sendable, Hashable {
    /// How long before its arrival.
    public var past: Duration
    /// How long after its arrival, because clocks of clients may be ahead.
    public var ahead: Duration

    /// From 400 days before to 2 days after the arrival.
    public static let standard = TimeWindow(past: .seconds(400 * 86_400), ahead: .seconds(2 * 86_400))

    /// Creates a window.
    public init(past: Duration, ahead: Duration) {
        self.past = past
        self.ahead = ahead
    }

    /// Whether an event that arrived at `arrival` can have happened at a time.
    public func contains(_ time: Timestamp, arrival: Timestamp) -> Bool {
        microseconds(around: arrival).contains(time.microseconds)
    }

    /// The times that an event can have that arrived at `arrival`, in microseconds since 1970; each is a time that a `Timestamp` can
    /// have.
    package func microseconds(around arrival: Timestamp) -> ClosedRange<Int64> {
        let earliest = arrival.microseconds - Self.microseconds(past)
        let latest = arrival.microseconds + Self.microseconds(ahead)
        return max(earliest, Timestamp.earliestMicroseconds)...min(latest, Timestamp.latestMicroseconds)
    }

    /// The whole microseconds of a limit, bounded so that sums with the time of an arrival cannot overflow.
    private static func microseconds(_ limit: Duration) -> Int64 {
        let bounded = min(max(limit, .zero), .seconds(1_000_000_000_000))
        let (seconds, attoseconds) = bounded.components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
