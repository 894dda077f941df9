/// How long before and after its arrival an event may plausibly have happened.
public struct TimeWindow: Sendable, Hashable {
    /// How long before its arrival.
    public var past: Duration
    /// How long after its arrival, because clocks of clients may be ahead.
    public var ahead: Duration

    /// Creates a window.
    public init(past: Duration, ahead: Duration) {
        self.past = past
        self.ahead = ahead
    }

    /// Whether an event that arrived at `arrival` can have happened at a time.
    public func contains(_ time: Timestamp, arrival: Timestamp) -> Bool {
        contains(microseconds: time.microseconds, arrival: arrival)
    }

    /// Whether an event that arrived at `arrival` can have happened then, which need not be a time that a `Timestamp` can have.
    package func contains(microseconds: Int64, arrival: Timestamp) -> Bool {
        let offset = Duration.microseconds(microseconds) - .microseconds(arrival.microseconds)
        return (.zero - past...ahead).contains(offset)
            && Timestamp(microseconds: microseconds).microseconds == microseconds
    }
}
