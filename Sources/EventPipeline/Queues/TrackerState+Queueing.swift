import EventValidation
import TrackerKit

extension TrackerState {
    /// Puts a slice into the queue, as the queue's policy says.
    ///
    /// With the policy `wait`, its room was reserved before, in `DispatchState`.
    ///
    /// Returns how many events were dropped, and whether to wake the worker: it is not woken for events that change neither the
    /// time nor the size of its next delivery.
    mutating func enqueue(_ slice: EventSlice, now: () -> Duration) -> (dropped: Int, wakesWorker: Bool) {
        statistics.enqueued += slice.count
        if queue.spilledFrom != nil || queue.fullPolicy == .spill && !queue.hasRoom(for: slice) {
            let wasEmpty = queue.isEmpty && queue.spilledFrom == nil
            queue.spill(slice, now: now)
            return (0, wasEmpty)
        }
        var dropped = 0
        if queue.fullPolicy != .wait, !queue.hasRoom(for: slice) {
            let isTaken = queue.fullPolicy == .dropOldest && queue.canMakeRoom(for: slice)
            dropped = isTaken ? queue.dropOldest(toFit: slice) : slice.count
            statistics.dropped += dropped
            guard isTaken else { return (dropped, false) }
        }
        let (wasEmpty, filledDelivery) = (queue.isEmpty, queue.fillsDelivery)
        queue.append(slice, now: now)
        guard case .ready = phase else { return (dropped, false) }
        return (dropped, wasEmpty || !filledDelivery && queue.fillsDelivery)
    }

    /// The tracker's `start` returned.
    ///
    /// After a failure, `start` is called again after a pause, which this returns. If the number of attempts is limited, the tracker
    /// is given up after the last attempt, or at once after an error that is not retryable.
    mutating func startReturned(
        _ error: TrackerError?,
        retry: RetryPolicy,
        maximumAttempts: Int?,
        now: Duration,
        jitter: Double
    ) -> Duration? {
        guard let error else {
            hasStarted = true
            startsForNewPlan = false
            progressed()
            phase = .ready
            return nil
        }
        let pause = pause(before: .start, because: error, retry: retry, now: now, jitter: jitter)
        guard let maximumAttempts, !startsForNewPlan, failures >= maximumAttempts || !error.isRetryable else {
            return pause
        }
        phase = .givenUp
        return nil
    }

    /// A delivery returned.
    ///
    /// The events to retry are delivered again after a pause; the others are settled. With `startsAgain`, the tracker is started
    /// again before that, and its events are read from the journal.
    ///
    /// Returns the pause, or `nil` if all events are settled; only then is capacity released and `settledSequence` advanced.
    mutating func settle(
        _ settlement: Settlement,
        startsAgain: Bool,
        retry: RetryPolicy,
        now: Duration,
        jitter: Double
    ) -> Duration? {
        guard case .delivering(let inFlight) = phase else { return nil }
        statistics.delivered += settlement.delivered
        statistics.alreadyStored += settlement.alreadyStored
        statistics.refused += settlement.refusals.count
        statistics.parked += settlement.parked
        if settlement.delivered + settlement.refusals.count + settlement.parked > 0 { progressed() }
        noteStuck(settlement, now: now)
        if let rest = settlement.retry {
            if startsAgain {
                isResumed = false
                startsForNewPlan = false
                queue.spillAll(rest.count, of: inFlight, from: settledSequence)
            }
            return pause(
                before: startsAgain ? .start : .delivery(Remainder(delivery: rest, inFlight: inFlight)),
                because: settlement.retryReason,
                retry: retry,
                now: now,
                jitter: jitter
            )
        }
        progressed()
        queue.release(events: inFlight.events, bytes: inFlight.bytes)
        settledSequence = max(settledSequence, inFlight.nextSequence)
        phase = .ready
        return nil
    }

    /// The counts of one reading of the journal.
    struct Reading: Sendable, Equatable {
        /// Whether there is something to deliver.
        var delivers: Bool
        /// Events that had not been counted as enqueued: they were in the journal when it was opened.
        let enqueued: Int
        /// Events that no longer follow the plan.
        let refused: Int
        /// Events lost to damage.
        let dropped: Int
        /// Events that a new plan does not send to the tracker.
        let leftOut: Int
    }

    /// Events were read from the journal; `isLast` says that it has no more.
    mutating func journalRead(_ part: TrackerBacklog.Part, isLast: Bool) -> Reading {
        let position = queue.head
        let (unforeseen, missing) = queue.unspill(
            events: part.count + part.rejections.count - part.earlierEvents,
            unforeseen: part.earlierEvents,
            to: part.nextSequence,
            since: part.latestCommit,
            isLast: isLast
        )
        // What the plan sent to the tracker when it was accepted, and no longer does, is missing, too.
        let leftOut = spilledUnderEarlierPlan ? missing : 0
        if isLast { spilledUnderEarlierPlan = false }
        var reading = Reading(
            delivers: part.count > 0,
            enqueued: unforeseen + part.lostEarlierEvents,
            refused: part.rejections.count,
            dropped: missing - leftOut + part.lostEarlierEvents,
            leftOut: leftOut
        )
        statistics.enqueued += reading.enqueued - leftOut
        statistics.refused += reading.refused
        statistics.dropped += reading.dropped
        if case .reading(var remainder?) = phase {
            remainder.append(part.slices, events: 0, bytes: 0, nextSequence: part.nextSequence)
            phase = .pausing(until: .zero, before: .delivery(remainder))
            // They are delivered together with the remainder of the last delivery.
            reading.delivers = false
            return reading
        }
        progressed()
        guard reading.delivers else {
            settledSequence = max(settledSequence, part.nextSequence)
            phase = .ready
            return reading
        }
        // Events read from the journal do not occupy the queue's capacity: their memory ends with the delivery.
        phase = .delivering(
            InFlight(
                position: position,
                events: 0,
                bytes: 0,
                nextSequence: part.nextSequence,
                arrival: part.earliestCommit
            )
        )
        return reading
    }

    /// Events of a delivery do not follow the plan that has replaced theirs, or it does not send them to the tracker.
    mutating func planExcluded(refused: Int, leftOut: Int) {
        statistics.refused += refused
        // They no longer count as enqueued, because the new plan does not send them to this tracker.
        statistics.enqueued -= leftOut
    }

    /// Events of a delivery are dropped because a tombstone covers them; like those that a plan leaves out, they do not count as
    /// enqueued.
    mutating func forgotten(_ count: Int) {
        statistics.enqueued -= count
        statistics.forgotten += count
    }

    /// Spilled events were removed from the journal; returns how many of them had not been counted as enqueued.
    mutating func lost(_ events: TrackerBacklog.Count) -> Int {
        let unforeseen = events.earlier + queue.markLost(events.later)
        statistics.enqueued += unforeseen
        statistics.dropped += events.total
        return unforeseen
    }

    /// The journal could not be read; returns the pause before the next attempt.
    mutating func journalNotRead(retry: RetryPolicy, now: Duration, jitter: Double) -> Duration {
        if case .reading(let remainder?) = phase {
            return pause(before: .delivery(remainder), because: failure, retry: retry, now: now, jitter: jitter)
        }
        return pause(before: .reading, because: nil, retry: retry, now: now, jitter: jitter)
    }

    /// Notes which of the events to retry are stuck.
    private mutating func noteStuck(_ settlement: Settlement, now: Duration) {
        if settlement.delivered > 0 || !settlement.stuck.isEmpty {
            stuck.replace(with: settlement.stuck, now: now)
        } else if let rest = settlement.retry, let reason = settlement.retryReason {
            stuck.keep(Set(rest.map(\.name)), failing: reason)
        } else {
            stuck = StuckEvents()
        }
    }

    /// The tracker made progress: ends the series of failures.
    private mutating func progressed() {
        failures = 0
        failure = nil
        failingSince = nil
    }

    private mutating func pause(
        before attempt: Attempt,
        because error: TrackerError?,
        retry: RetryPolicy,
        now: Duration,
        jitter: Double
    ) -> Duration {
        failures += 1
        failure = error
        if failingSince == nil { failingSince = now }
        var pause = retry.pause(afterFailures: failures, jitter: jitter)
        // The events behind those that fail wait no longer than until these can be parked.
        if case .delivery = attempt, let parkingTime, now < parkingTime { pause = min(pause, parkingTime - now) }
        phase = .pausing(until: now + pause, before: attempt)
        return pause
    }
}
