import EventValidation
import TrackerKit

extension TrackerState {
    /// Puts a slice into the queue as its policy says.
    ///
    /// Returns how many events were dropped, and whether the worker is to be woken: it sleeps through events that
    /// change neither when it delivers nor how much.
    mutating func enqueue(_ slice: EventSlice, now: () -> Duration) -> (dropped: Int, wakesWorker: Bool) {
        statistics.enqueued += slice.count
        if queue.spilledFrom != nil || queue.fullPolicy == .spill && !queue.hasRoom(for: slice) {
            let wasEmpty = queue.isEmpty && queue.spilledFrom == nil
            queue.spill(slice)
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

    /// The tracker's `start` came back.
    ///
    /// After a failure it is called again after a pause, which is returned. Where the number of attempts is limited, it is
    /// given up after the last, and at once where waiting would not help.
    mutating func startReturned(
        _ error: TrackerError?,
        retry: RetryPolicy,
        maximumAttempts: Int?,
        now: Duration,
        jitter: Double
    ) -> Duration? {
        guard let error else {
            hasStarted = true
            progressed()
            phase = .ready
            return nil
        }
        let pause = pause(before: .start, because: error, retry: retry, now: now, jitter: jitter)
        guard let maximumAttempts, failures >= maximumAttempts || !error.isRetryable else { return pause }
        phase = .givenUp
        return nil
    }

    /// A delivery came back.
    ///
    /// What is to be tried again is, after a pause; the rest is settled. With `startsAgain` the tracker is started before
    /// that, and its events are read from the journal.
    ///
    /// Returns the pause, where there is one; capacity comes free only where there is none. Otherwise `settledSequence`
    /// says how far the tracker has got in the journal.
    mutating func settle(
        _ settlement: Settlement,
        startsAgain: Bool,
        retry: RetryPolicy,
        now: Duration,
        jitter: Double
    ) -> Duration? {
        guard case .delivering(let inFlight) = phase else { return nil }
        statistics.delivered += settlement.delivered
        statistics.refused += settlement.refusals.count
        statistics.parked += settlement.parked
        if settlement.delivered + settlement.refusals.count + settlement.parked > 0 { progressed() }
        if let rest = settlement.retry {
            if startsAgain { queue.spillAll(rest.count, of: inFlight, from: settledSequence) }
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

    /// What came of a reading of the journal, as it is counted.
    struct Reading: Sendable, Equatable {
        /// Whether there is something to deliver.
        let delivers: Bool
        /// Events that nobody had counted as enqueued: they were in the journal when it was opened.
        let enqueued: Int
        /// Events that no longer follow the plan.
        let refused: Int
        /// Events that damage took.
        let dropped: Int
    }

    /// Events came out of the journal, those that no longer follow the plan aside; `isLast` where it has no more.
    mutating func journalRead(_ part: TrackerBacklog.Part, isLast: Bool) -> Reading {
        let position = queue.head
        let (unforeseen, missing) = queue.unspill(
            events: part.count + part.rejections.count - part.earlierEvents,
            unforeseen: part.earlierEvents,
            to: part.nextSequence,
            isLast: isLast
        )
        let reading = Reading(
            delivers: part.count > 0,
            enqueued: unforeseen + part.lostEarlierEvents,
            refused: part.rejections.count,
            dropped: missing + part.lostEarlierEvents
        )
        statistics.enqueued += reading.enqueued
        statistics.refused += reading.refused
        statistics.dropped += reading.dropped
        if case .reading(var remainder?) = phase {
            remainder.append(part.slices, events: 0, bytes: 0, nextSequence: part.nextSequence)
            phase = .pausing(until: .zero, before: .delivery(remainder))
            // They are delivered with what is left of the last delivery.
            return Reading(
                delivers: false,
                enqueued: reading.enqueued,
                refused: reading.refused,
                dropped: reading.dropped
            )
        }
        progressed()
        guard reading.delivers else {
            settledSequence = max(settledSequence, part.nextSequence)
            phase = .ready
            return reading
        }
        // What was read is not the queue's memory: it comes and goes with the delivery.
        phase = .delivering(InFlight(position: position, events: 0, bytes: 0, nextSequence: part.nextSequence))
        return reading
    }

    /// Events that were left to the journal were removed from it; returns how many nobody had counted as enqueued.
    mutating func lost(_ events: TrackerBacklog.Count) -> Int {
        let unforeseen = events.earlier + queue.markLost(events.later)
        statistics.enqueued += unforeseen
        statistics.dropped += events.total
        return unforeseen
    }

    /// The journal could not be read, and is tried again after a pause, which is returned.
    mutating func journalNotRead(retry: RetryPolicy, now: Duration, jitter: Double) -> Duration {
        if case .reading(let remainder?) = phase {
            return pause(before: .delivery(remainder), because: failure, retry: retry, now: now, jitter: jitter)
        }
        return pause(before: .reading, because: nil, retry: retry, now: now, jitter: jitter)
    }

    /// The destination took something, or the tracker has nothing to complain about.
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
        let pause = retry.pause(afterFailures: failures, jitter: jitter)
        phase = .pausing(until: now + pause, before: attempt)
        return pause
    }
}
