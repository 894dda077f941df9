package import EventModel
import EventPipeline
import Synchronization

/// How many events a key may still send, by its rate and by its daily volume, how many rejected ones are kept, and how many
/// connections and streams count for the key.
package final class KeyLimiter: Sendable {
    /// Why events are refused.
    package enum Refusal: Sendable, Equatable {
        /// The rate is exceeded.
        case rate(retryAfter: Duration)
        /// The daily volume is used up.
        case volume(retryAfter: Duration)
    }

    /// The events of one day.
    package struct Usage: Sendable, Equatable {
        /// The number of the day since 1970-01-01, in UTC.
        package var day: Int64 = 0
        package var events = 0
    }

    /// The key's name.
    let name: String

    private struct State {
        var limits: WriteKey.Limits
        var rate: SharedRate?
        var usage = Usage()
        var connections = 0
        /// The bytes of rejected events that the quarantine keeps, so that one key displaces the events of the others only slowly:
        /// their part of the quarantine is a ring buffer of 256 MiB by default.
        var rejected = TokenBucket(rate: KeyLimiter.rejectedBytesPerSecond, capacity: KeyLimiter.rejectedBytesAtOnce)
    }

    /// How many bytes of rejected events the quarantine keeps for a key, on average.
    static let rejectedBytesPerSecond = 64 << 10
    /// How many bytes of rejected events the quarantine keeps for a key after a pause.
    static let rejectedBytesAtOnce = 16 << 20
    private static let microsecondsPerDay: Int64 = 86_400_000_000

    private let state: Mutex<State>

    package init(name: String, _ limits: WriteKey.Limits) {
        self.name = name
        let rate = limits.eventsPerSecond.map { SharedRate(rate: $0, burst: limits.burst ?? $0 * 10) }
        state = Mutex(State(limits: limits, rate: rate))
    }

    /// The events of the last day with events.
    package var usage: Usage {
        get { state.withLock { $0.usage } }
        set { state.withLock { $0.usage = newValue } }
    }

    /// Whether the number of events a day is limited.
    var hasDailyVolume: Bool { state.withLock { $0.limits.eventsPerDay != nil } }

    /// Counts one more connection or stream, unless that exceeds the limit.
    func addConnection(within limit: Int) -> Bool {
        state.withLock { state in
            guard state.connections < limit else { return false }
            state.connections += 1
            return true
        }
    }

    /// Counts a connection or stream no longer.
    func removeConnection() {
        state.withLock { $0.connections -= 1 }
    }

    /// Changes the limits, and keeps what was counted.
    package func change(to limits: WriteKey.Limits) {
        state.withLock { state in
            guard state.limits != limits else { return }
            state.limits = limits
            guard let rate = limits.eventsPerSecond else { return state.rate = nil }
            let burst = limits.burst ?? rate * 10
            if state.rate == nil {
                state.rate = SharedRate(rate: rate, burst: burst)
            } else {
                state.rate?.change(rate: rate, burst: burst)
            }
        }
    }

    /// Why a sender's request would be refused now, however few its events are; `nil` if it may be accepted.
    ///
    /// `sender` is the sender's address, if it is known; several senders may have the same key.
    package func refusal(of sender: NetworkRange.Address? = nil, now: Timestamp) -> Refusal? {
        state.withLock { Self.refusal(of: 1, from: sender, &$0, now: now) }
    }

    /// Counts a sender's events, unless they are refused.
    package func take(_ events: Int, of sender: NetworkRange.Address? = nil, now: Timestamp) -> Refusal? {
        state.withLock { state in
            if let refusal = Self.refusal(of: events, from: sender, &state, now: now) { return refusal }
            state.rate?.take(events, of: sender)
            state.usage.events += events
            return nil
        }
    }

    /// Counts events in any case: the sender cannot take back that they were checked.
    func charge(_ events: Int) {
        state.withLock { state in
            state.rate?.charge(events)
            state.usage.events += events
        }
    }

    /// Takes back a batch that was counted, if the pipeline has certainly not accepted it.
    func giveBack(_ events: Int, _ bytes: Int, in server: IngestContext, after error: TrackError) {
        guard error.code != .outcomeUnknown else { return }
        giveBack(events)
        server.journalShares.giveBack(bytes, of: self)
    }

    package func giveBack(_ events: Int) {
        state.withLock { state in
            state.rate?.giveBack(events)
            state.usage.events = max(0, state.usage.events - events)
        }
    }

    /// Whether the quarantine keeps rejected events of this size, which are counted then.
    package func keepsRejected(bytes: Int, now: Timestamp) -> Bool {
        state.withLock { state in
            guard state.rejected.wait(for: bytes, now: now) == nil else { return false }
            state.rejected.take(bytes)
            return true
        }
    }

    private static func refusal(
        of events: Int,
        from sender: NetworkRange.Address?,
        _ state: inout State,
        now: Timestamp
    ) -> Refusal? {
        let day = now.microseconds / microsecondsPerDay
        // A day beyond tomorrow comes from a clock that was wrong.
        if day > state.usage.day || day + 1 < state.usage.day { state.usage = Usage(day: day) }
        if let limit = state.limits.eventsPerDay, state.usage.events >= limit {
            let end = (state.usage.day + 1) * microsecondsPerDay
            return .volume(retryAfter: .microseconds(end - now.microseconds))
        }
        return state.rate?.wait(for: events, of: sender, now: now).map { .rate(retryAfter: $0) }
    }
}
