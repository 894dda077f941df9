/// The backoff after failed starts and deliveries: a pause that doubles each time, with jitter.
///
/// Half of each pause is random, so that many nodes do not return to a destination at the same moment.
public struct RetryPolicy: Sendable, Hashable {
    /// The longest the first pause can be.
    ///
    /// Default: 100 ms.
    public var initialPause: Duration
    /// The longest any pause can be.
    ///
    /// Default: 10 s. Events that arrive while a part of a delivery is retried wait for at most this time.
    public var maximumPause: Duration

    /// Uses the defaults for all arguments that are not passed.
    public init(initialPause: Duration = .milliseconds(100), maximumPause: Duration = .seconds(10)) {
        self.initialPause = initialPause
        self.maximumPause = maximumPause
    }

    /// The pause after so many failures in a row, from 1; `jitter` is a number from 0 up to 1.
    package func pause(afterFailures failures: Int, jitter: Double) -> Duration {
        var pause = min(initialPause, maximumPause)
        // 64 doublings reach any sensible maximum, and cannot overflow a duration.
        for _ in 1..<max(1, min(failures, 64)) {
            pause = min(pause * 2, maximumPause)
        }
        return pause / 2 + pause / 2 * min(max(jitter, 0), 1)
    }
}
