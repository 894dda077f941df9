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
    /// A failure that may pass is tried again after a pause.
    ///
    /// Returns the pause, where there is one.
    mutating func startReturned(_ error: TrackerError?, retry: RetryPolicy, now: Duration, jitter: Double) -> Duration?
    {
        guard let error else {
            failures = 0
            phase = .ready
            return nil
        }
        guard error.isRetryable else {
            phase = .unusable
            return nil
        }
        return pause(before: .start, retry: retry, now: now, jitter: jitter)
    }

    /// A delivery came back.
    ///
    /// What is to be tried again is, after a pause; the rest is settled.
    ///
    /// Returns the pause, where there is one; capacity comes free only where there is none. Otherwise `settledSequence`
    /// says how far the tracker has got in the journal.
    mutating func settle(_ settlement: Settlement, retry: RetryPolicy, now: Duration, jitter: Double) -> Duration? {
        guard case .delivering(let inFlight) = phase else { return nil }
        statistics.delivered += settlement.delivered
        statistics.refused += settlement.refusals.count
        if settlement.delivered + settlement.refusals.count > 0 { failures = 0 }
        if let rest = settlement.retry {
            return pause(before: .delivery(rest, inFlight), retry: retry, now: now, jitter: jitter)
        }
        queue.release(events: inFlight.events, bytes: inFlight.bytes)
        settledSequence = max(settledSequence, inFlight.nextSequence)
        phase = .ready
        return nil
    }

    /// Events came out of the journal, those that no longer follow the plan aside; `isLast` where it has no more.
    ///
    /// Returns whether there is something to deliver.
    mutating func journalRead(_ part: TrackerBacklog.Part, isLast: Bool) -> Bool {
        let position = queue.head
        let (unforeseen, missing) = queue.unspill(
            events: part.count + part.rejections.count,
            to: part.nextSequence,
            isLast: isLast
        )
        statistics.enqueued += unforeseen
        statistics.refused += part.rejections.count
        statistics.dropped += missing
        failures = 0
        guard part.count > 0 else {
            settledSequence = max(settledSequence, part.nextSequence)
            phase = .ready
            return false
        }
        // What was read is not the queue's memory: it comes and goes with the delivery.
        phase = .delivering(InFlight(position: position, events: 0, bytes: 0, nextSequence: part.nextSequence))
        return true
    }

    /// Events that were left to the journal were removed from it.
    mutating func lost(_ events: Int) {
        statistics.enqueued += queue.lose(events)
        statistics.dropped += events
    }

    /// The journal could not be read, and is tried again after a pause, which is returned.
    mutating func journalNotRead(retry: RetryPolicy, now: Duration, jitter: Double) -> Duration {
        pause(before: .reading, retry: retry, now: now, jitter: jitter)
    }

    private mutating func pause(before attempt: Attempt, retry: RetryPolicy, now: Duration, jitter: Double) -> Duration
    {
        failures += 1
        let pause = retry.pause(afterFailures: failures, jitter: jitter)
        phase = .pausing(until: now + pause, before: attempt)
        return pause
    }
}
