/// Decides what is sent next, and what becomes of it.
package struct SendState: Sendable {
    /// What to do next.
    package enum Step: Sendable, Hashable {
        /// Send these events of the oldest batch.
        case send(Range<Int>)
        /// Wait until this time, or for a change; `nil` only for a change.
        case wait(until: Duration?)
    }

    /// The pause after the first failure; it doubles with each further one.
    package static let shortestPause = Duration.seconds(1)
    /// The longest pause, unless the server asks for a longer one.
    package static let longestPause = Duration.seconds(300)

    private let linger: Duration
    private var isSending = false
    /// When the last batch was begun; `nil` if this process has begun none.
    private var openedAt: Duration?
    private var pausedUntil: Duration?
    private var failures = 0
    /// How many events of the oldest batch are settled.
    private var settled = 0
    /// The maximum number of events of a request; smaller after the server found one too large.
    private var maximumEvents = Int.max

    package init(linger: Duration) {
        self.linger = linger
    }

    /// Notes that a batch was begun.
    package mutating func began(now: Duration) {
        openedAt = now
    }

    /// What to do next.
    ///
    /// `events` is the number of events of the oldest batch, or `nil` if there is none; with `mayGrow`, more may be appended to it.
    package mutating func next(events: Int?, mayGrow: Bool, now: Duration) -> Step {
        guard let events, !isSending else { return .wait(until: nil) }
        if let pausedUntil, now < pausedUntil { return .wait(until: pausedUntil) }
        if mayGrow, let openedAt, now < openedAt + linger { return .wait(until: openedAt + linger) }
        isSending = true
        return .send(settled..<(maximumEvents < events - settled ? settled + maximumEvents : events))
    }

    /// Notes the outcome of events that were sent, and returns whether the whole batch is settled and has to be removed.
    ///
    /// `events` is the number of events of the batch; `jitter`, at least 0 and less than 1, varies the pause after a failure.
    package mutating func returned(
        _ outcome: BatchOutcome,
        of range: Range<Int>,
        events: Int,
        now: Duration,
        jitter: Double
    ) -> Bool {
        isSending = false
        switch outcome {
        case .tooLarge where range.count > 1:
            maximumEvents = (range.count + 1) / 2
            return false
        case .settled, .tooLarge:
            failures = 0
            pausedUntil = nil
            settled = range.upperBound
            guard settled == events else { return false }
            (settled, maximumEvents) = (0, .max)
            return true
        case .later(let stated, _):
            pause(atLeast: stated ?? .zero, now: now, jitter: jitter)
            return false
        case .refused:
            failures = max(failures, 8)
            pause(atLeast: .zero, now: now, jitter: jitter)
            return false
        }
    }

    /// Notes that the oldest batch was not sent because it is not what it was; it is sent from its start.
    package mutating func restart() {
        (isSending, settled, maximumEvents) = (false, 0, .max)
    }

    private mutating func pause(atLeast stated: Duration, now: Duration, jitter: Double) {
        let backoff = min(Self.longestPause, Self.shortestPause * Double(1 << min(failures, 10)))
        failures += 1
        // Between the half and the whole, so that many clients do not come back together.
        let pause = backoff * (0.5 + jitter / 2)
        pausedUntil = now + max(stated * (1 + jitter / 10), pause)
    }
}
