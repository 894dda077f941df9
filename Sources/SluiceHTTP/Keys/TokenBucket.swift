import EventModel

/// A rate with a burst, which may go into debt.
///
/// What comes later waits until the debt is paid; so over any time, no more is taken than the rate, a full bucket, and the last
/// amount. Time is that of the wall clock: one that is set forward fills the bucket.
struct TokenBucket: Sendable {
    /// How many tokens come in a second.
    private let rate: Double
    /// How many tokens it holds.
    private let capacity: Double
    private var tokens: Double
    private var refilled: Timestamp?

    /// Makes a full bucket.
    init(rate: Int, capacity: Int) {
        self.rate = Double(rate)
        self.capacity = Double(capacity)
        tokens = self.capacity
    }

    /// A bucket with another rate and capacity, and with the tokens of this one as far as they fit.
    func changed(rate: Int, capacity: Int) -> TokenBucket {
        var bucket = TokenBucket(rate: rate, capacity: capacity)
        bucket.tokens = min(tokens, bucket.capacity)
        bucket.refilled = refilled
        return bucket
    }

    /// How long to wait until the bucket holds this number, or is full; `nil` if it does now.
    mutating func wait(for count: Int, now: Timestamp) -> Duration? {
        let elapsed = now.microseconds - (refilled ?? now).microseconds
        // Event loops read the clock one after another; only a clock that was set back goes back by more.
        if elapsed >= 0 || elapsed < -1_000_000 { refilled = now }
        tokens = min(capacity, tokens + Double(max(0, elapsed)) * rate / 1e6)
        let needed = min(Double(count), capacity)
        guard tokens < needed else { return nil }
        return .microseconds(Int64(((needed - tokens) / rate * 1e6).rounded(.up)))
    }

    /// Takes tokens, after `wait` returned `nil`.
    mutating func take(_ count: Int) { tokens -= Double(count) }

    mutating func giveBack(_ count: Int) { tokens = min(capacity, tokens + Double(count)) }
}
