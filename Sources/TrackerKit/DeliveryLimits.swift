/// How many events are handed to a tracker at a time.
public struct DeliveryLimits: Sendable, Hashable {
    /// The maximum number of events.
    ///
    /// Default: 10,000. The minimum is 1.
    public var maximumEvents: Int {
        didSet { maximumEvents = max(1, maximumEvents) }
    }
    /// The maximum number of bytes of canonical JSON.
    ///
    /// Default: 8 MiB.
    ///
    /// A larger event is delivered alone.
    public var maximumBytes: Int
    /// How long events wait for more events to be delivered with, from the arrival of the first.
    ///
    /// Default: 100 ms.
    public var linger: Duration

    /// Uses the defaults for all arguments that are not passed.
    public init(maximumEvents: Int = 10_000, maximumBytes: Int = 8 << 20, linger: Duration = .milliseconds(100)) {
        self.maximumEvents = max(1, maximumEvents)
        self.maximumBytes = maximumBytes
        self.linger = linger
    }
}
