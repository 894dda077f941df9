package import Journal

extension DispatchState {
    /// Batches were committed together, in this order, the first event with this number: the queues get them.
    package mutating func committed(
        _ batches: [RoutedBatch],
        first: UInt64,
        now: () -> Duration,
        actions: inout DispatchActions
    ) {
        var next = first
        for batch in batches {
            endAdmission(of: batch)
            let sequences = next..<next + UInt64(batch.count)
            next = sequences.upperBound
            acknowledge(batch, sequences: sequences, now: now, actions: &actions)
        }
        published = next
        isJournalWritable = true
        hasJournalRoom = true
        commitEnded(now: now, actions: &actions)
    }

    /// Batches could not be committed: nothing of them was taken.
    ///
    /// Without an `error` it is the door that was closed.
    package mutating func notCommitted(
        _ batches: [RoutedBatch],
        because error: JournalError?,
        now: () -> Duration,
        actions: inout DispatchActions
    ) {
        isJournalWritable = error?.code != .unwritable
        hasJournalRoom = error?.code != .full
        for batch in batches { endAdmission(of: batch) }
        commitEnded(now: now, actions: &actions)
    }

    private mutating func commitEnded(now: () -> Duration, actions: inout DispatchActions) {
        for queue in trackers.indices { roomCameFree(in: queue, now: now, actions: &actions) }
        // Workers that found their queues empty while the door closed can end now.
        if admitted.isEmpty, phase != .open { actions.wakes = QueueSet(first: trackers.count) }
        beginFlushesAfterCommit(actions: &actions)
    }

    /// A tracker that keeps its own place in the journal has said where it is; nothing was delivered to it so far.
    mutating func resume(_ queue: Int, from sequence: UInt64) {
        trackers[queue].settledSequence = sequence
        trackers[queue].queue.spill(from: sequence)
        // That was a jump, and no speed.
        drain = DrainRate()
    }

    /// Events came out of the journal; returns whether there is something to deliver, and how far the tracker has got.
    mutating func journalRead(
        _ part: TrackerBacklog.Part,
        of queue: Int,
        actions: inout DispatchActions
    ) -> (delivers: Bool, settledSequence: UInt64) {
        let isLast = part.nextSequence >= published ?? 0
        let delivers = trackers[queue].journalRead(part, isLast: isLast)
        if !delivers { endFlushes(settledIn: queue, actions: &actions) }
        return (delivers, settledSequence(of: queue))
    }

    /// The journal could not be read; returns the pause before the next try.
    package mutating func journalNotRead(of queue: Int, now: Duration, jitter: Double) -> Duration {
        trackers[queue].journalNotRead(retry: configuration.retry, now: now, jitter: jitter)
    }

    /// From which number on a tracker reads the journal; `nil` where everything it needs is in memory.
    func spilledSequence(of queue: Int) -> UInt64? { trackers[queue].queue.spilledFrom }

    /// Events that a tracker had not read were removed from the journal.
    mutating func lost(_ events: Int, of queue: Int) {
        trackers[queue].lost(events)
    }

    /// The number of the oldest event that a tracker, or another cursor, still needs.
    func neededSequence(besides other: UInt64) -> UInt64 {
        trackers.indices.reduce(min(other, published ?? 0)) { min($0, settledSequence(of: $1)) }
    }

    /// The number before which the tracker has settled everything: all that is published, where it has nothing to do.
    package func settledSequence(of queue: Int) -> UInt64 {
        let tracker = trackers[queue]
        guard let published, tracker.isIdle else { return tracker.settledSequence }
        return published
    }
}

extension TrackerState {
    /// Whether there is nothing that its tracker has not settled.
    fileprivate var isIdle: Bool {
        settledPosition == queue.tail && queue.spilledFrom == nil
    }
}
