package import EventJournal
import EventValidation

/// The next step of the committer.
package enum CommitterStep: Sendable {
    /// Write these batches to the journal as one frame, then report the result.
    case commit([RoutedBatch])
    /// Wait to be woken, and ask again.
    case wait
    /// End: no more batches will come.
    case end
}

extension DispatchState {
    /// Decides the committer's next step; a commit begins with it.
    package mutating func nextCommitterStep(
        maximumBytes: Int = CommitQueue.maximumBytes,
        now: Duration
    ) -> CommitterStep {
        let batches = commits.beginCommit(maximumBytes: maximumBytes)
        if batches.isEmpty { return endsCommitting ? .end : .wait }
        journalHealth.diskBegan(now: now)
        return .commit(batches)
    }

    /// The commit has ended, with the number of its first event or with the reason why nothing of it was written.
    ///
    /// If it succeeded, its batches are published to the queues. Returns the batches of the commit, and those of them whose senders
    /// must be answered now; the others wait until they are delivered. These answers are not among `actions`, because the caller
    /// counts and logs the commit before it answers.
    package mutating func endCommit(
        _ outcome: Result<UInt64, JournalError>,
        now: () -> Duration,
        actions: inout DispatchActions
    ) -> (ended: [WaitingSubmission], answered: [WaitingSubmission]) {
        let ended = commits.endCommit()
        var answered = ended
        for submission in ended { endAdmission(of: submission.batch) }
        switch outcome {
        case .success(let first):
            var next = first
            for submission in ended {
                let sequences = next..<next + UInt64(submission.batch.count)
                next = sequences.upperBound
                acknowledge(submission.batch, sequences: sequences, now: now, actions: &actions)
            }
            if !ended.isEmpty { published = next }
            if configuration.acknowledgement != .stored {
                answered = ended.filter { !awaitsDelivery(of: $0, before: next) }
            }
            journalHealth.commitEnded(nil, bytes: { 0 })
        case .failure(let error):
            journalHealth.commitEnded(error, bytes: { ended.reduce(0) { $0 + $1.batch.batch.byteCount } })
        }
        commitsSettled(now: now, actions: &actions)
        return (ended, answered)
    }

    /// Withdraws a batch from the commit queue, unless its commit is being written.
    mutating func withdrawFromCommits(
        number: UInt64,
        now: () -> Duration,
        actions: inout DispatchActions
    ) -> Pipeline.Withdrawal {
        switch commits.withdraw(number: number) {
        case .withdrawn(let submission):
            endAdmission(of: submission.batch)
            actions.answered.append((submission, .failure(.cancelled)))
            commitsSettled(now: now, actions: &actions)
            return .uncommitted
        case .committing: return .committing
        case .unknown: return withdrawFromDelivery(number: number, actions: &actions)
        }
    }

    /// Ends the committer once the commit queue is empty.
    mutating func endCommitting(actions: inout DispatchActions) {
        endsCommitting = true
        actions.wakesCommitter = true
    }

    /// Whether there is something to commit, or the committer must end.
    var hasCommitterWork: Bool { endsCommitting || !commits.isEmpty }

    /// Gives up the batches in the commit queue, because the journal's disk does not answer.
    mutating func abandonCommits(actions: inout DispatchActions) {
        endsCommitting = true
        let (gathered, writing) = commits.abandon()
        actions.answered += gathered.map { ($0, .failure(.closed)) } + writing.map { ($0, .failure(.outcomeUnknown)) }
    }

    /// What the disk has not finished; `nil` if it is idle.
    func unfinishedCommit(now: Duration) -> JournalHang? {
        hang ?? journalHealth.wait(now: now).map { JournalHang(wait: $0, events: commits.eventsBeingWritten) }
    }

    private mutating func commitsSettled(now: () -> Duration, actions: inout DispatchActions) {
        for queue in trackers.trackerIndices { roomFreed(in: queue, now: now, actions: &actions) }
        // Workers that found their queues empty during the shutdown can end now.
        if commits.isEmpty, !lifecycle.isOpen { actions.wakes = QueueSet(first: trackers.count) }
        beginFlushesAfterCommit(actions: &actions)
    }

    /// A tracker that stores its own checkpoint has reported it; nothing was delivered to it so far.
    mutating func resume(_ queue: TrackerIndex, from sequence: UInt64) {
        trackers[queue].settledSequence = sequence
        trackers[queue].isResumed = true
        trackers[queue].queue.spill(from: sequence)
        // The jump is not progress.
        drain = DrainRate()
    }

    /// The end of the journal for a tracker that reports its checkpoint.
    ///
    /// At the first start this is where the journal ended when it was opened, because no checkpoint can be beyond that.
    func resumptionEnd(of queue: TrackerIndex, opening: UInt64) -> UInt64 {
        trackers[queue].hasStarted ? published ?? opening : opening
    }

    /// Events were read from the journal; returns the counts, and how far the tracker has settled.
    mutating func journalRead(
        _ part: TrackerBacklog.Part,
        of queue: TrackerIndex,
        actions: inout DispatchActions
    ) -> (reading: TrackerState.Reading, settledSequence: UInt64) {
        let isLast = part.nextSequence >= published ?? 0
        let reading = trackers[queue].journalRead(part, isLast: isLast)
        if reading.dropped > 0 { endDeliveryWaits(lostIn: queue, actions: &actions) }
        if !reading.delivers { settled(queue, actions: &actions) }
        return (reading, settledSequence(of: queue))
    }

    /// The journal could not be read; returns the pause before the next try.
    package mutating func journalNotRead(of queue: TrackerIndex, now: Duration, jitter: Double) -> Duration {
        trackers[queue].journalNotRead(retry: configuration.retry, now: now, jitter: jitter)
    }

    /// The number from which a tracker reads the journal; `nil` if everything it needs is in memory.
    func spilledSequence(of queue: TrackerIndex) -> UInt64? { trackers[queue].queue.spilledFrom }

    /// Events that a tracker had not read were removed from the journal; returns how many had not been counted as enqueued.
    mutating func lost(_ events: TrackerBacklog.Count, of queue: TrackerIndex, actions: inout DispatchActions) -> Int {
        endDeliveryWaits(lostIn: queue, actions: &actions)
        return trackers[queue].lost(events)
    }

    /// The number of the oldest event that a tracker, or another cursor, still needs.
    func neededSequence(besides other: UInt64) -> UInt64 {
        trackers.trackerIndices.reduce(min(other, published ?? 0)) { min($0, settledSequence(of: $1)) }
    }

    /// The number before which the tracker has settled everything.
    package func settledSequence(of queue: TrackerIndex) -> UInt64 {
        trackers[queue].settled(published: published).sequence
    }
}
