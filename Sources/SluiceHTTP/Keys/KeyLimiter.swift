package import EventModel
import Synchronization

/// How many events a key may still send, by its rate and by its daily volume.
///
/// The rate is a token bucket that may go into debt: a batch larger than the bucket is accepted when the bucket is full, and later
/// batches wait until the debt is paid. Time is that of the wall clock, because a day is one of UTC; a clock that is set back
/// pauses the bucket, and one that is set forward fills it.
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

    private struct State {
        var limits: WriteKey.Limits
        var tokens: Double
        var refilled: Timestamp?
        var usage = Usage()

        var burst: Double { Double(limits.burst ?? (limits.eventsPerSecond ?? 0) * 10) }
    }

    private static let microsecondsPerDay: Int64 = 86_400_000_000

    private let state: Mutex<State>

    package init(_ limits: WriteKey.Limits) {
        var state = State(limits: limits, tokens: 0)
        state.tokens = state.burst
        self.state = Mutex(state)
    }

    /// The events of the last day with events.
    package var usage: Usage {
        get { state.withLock { $0.usage } }
        set { state.withLock { $0.usage = newValue } }
    }

    /// Whether the number of events a day is limited.
    var hasDailyVolume: Bool { state.withLock { $0.limits.eventsPerDay != nil } }

    /// Changes the limits, and keeps what was counted.
    package func change(to limits: WriteKey.Limits) {
        state.withLock { state in
            guard state.limits != limits else { return }
            let wasUnlimited = state.limits.eventsPerSecond == nil
            state.limits = limits
            state.tokens = wasUnlimited ? state.burst : min(state.tokens, state.burst)
        }
    }

    /// Why this number of events would be refused now; `nil` if they would be accepted.
    package func refusal(of events: Int, now: Timestamp) -> Refusal? {
        state.withLock { Self.refusal(of: events, &$0, now: now) }
    }

    /// Counts events, unless they are refused.
    package func take(_ events: Int, now: Timestamp) -> Refusal? {
        state.withLock { state in
            if let refusal = Self.refusal(of: events, &state, now: now) { return refusal }
            state.tokens -= Double(events)
            state.usage.events += events
            return nil
        }
    }

    /// Takes back events that were counted, because the pipeline did not accept them.
    package func giveBack(_ events: Int) {
        state.withLock { state in
            state.tokens = min(state.burst, state.tokens + Double(events))
            state.usage.events = max(0, state.usage.events - events)
        }
    }

    private static func refusal(of events: Int, _ state: inout State, now: Timestamp) -> Refusal? {
        let day = now.microseconds / microsecondsPerDay
        if day > state.usage.day { state.usage = Usage(day: day) }
        if let limit = state.limits.eventsPerDay, state.usage.events >= limit {
            let end = (state.usage.day + 1) * microsecondsPerDay
            return .volume(retryAfter: .microseconds(end - now.microseconds))
        }
        guard let rate = state.limits.eventsPerSecond else { return nil }
        let elapsed = max(0, now.microseconds - (state.refilled ?? now).microseconds)
        state.refilled = now
        state.tokens = min(state.burst, state.tokens + Double(elapsed) * Double(rate) / 1e6)
        let needed = min(Double(events), state.burst)
        guard state.tokens < needed else { return nil }
        return .rate(retryAfter: .microseconds(Int64(((needed - state.tokens) / Double(rate) * 1e6).rounded(.up))))
    }
}
