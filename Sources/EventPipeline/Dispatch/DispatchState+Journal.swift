package import EventJournal

extension DispatchState {
    /// Takes the batches of the next commit, on which the disk works from now on; none where nothing has gathered, and `nil`
    /// where nothing more will.
    package mutating func beginCommit(
        maximumBytes: Int = CommitQueue.maximumBytes,
        now: Duration
    ) -> [RoutedBatch]? {
        let batches = commits.beginCommit(maximumBytes: maximumBytes)
        if batches.isEmpty { return endsCommitting ? nil : [] }
        diskBusySince = now
        return batches
    }

    /// The commit under way has ended, with the number of its first event, or with the reason why nothing of it was taken.
    ///
    /// Where it was taken, the queues get its batches. Returns those whose senders are to be told.
    package mutating func endCommit(
        _ outcome: Result<UInt64, JournalError>,
        now: () -> Duration,
        actions: inout DispatchActions
    ) -> [WaitingSubmission] {
        diskBusySince = nil
        let ended = commits.endCommit()
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
            isJournalWritable = true
            bytesWithoutRoom = nil
        case .failure(let error):
            isJournalWritable = error.code != .unwritable
            bytesWithoutRoom = error.code == .full ? ended.reduce(0) { $0 + $1.batch.batch.byteCount } : nil
        }
        commitsSettled(now: now, actions: &actions)
        return ended
    }

    /// Turns down a batch that is on its way to the journal, unless its commit is being written.
    mutating func withdrawFromCommits(
        number: UInt64,
        now: () -> Duration,
        actions: inout DispatchActions
    ) -> Pipeline.Withdrawal {
        switch commits.withdraw(number: number) {
        case .withdrawn(let submission):
            endAdmission(of: submission.batch)
            actions.turnedDown.append((submission, .withdrawn))
            commitsSettled(now: now, actions: &actions)
            return .uncommitted
        case .committing: return .committing
        case .unknown: return .decided
        }
    }

    /// Ends the committer once everything on its way is committed.
    mutating func endCommitting(actions: inout DispatchActions) {
        endsCommitting = true
        actions.wakesCommitter = true
    }

    /// Whether there is something to commit, or the committer is to end.
    var hasCommitterWork: Bool { endsCommitting || !commits.isEmpty }

    /// Gives up the batches on their way to the journal, because its disk does not answer.
    mutating func abandonCommits(actions: inout DispatchActions) {
        endsCommitting = true
        let (gathered, writing) = commits.abandon()
        actions.turnedDown += gathered.map { ($0, .closed) } + writing.map { ($0, .outcomeUnknown) }
    }

    /// The journal's thread begins to wait for the disk.
    package mutating func diskBegan(now: Duration) {
        diskBusySince = now
    }

    /// The disk has answered.
    package mutating func diskEnded() {
        diskBusySince = nil
    }

    /// How long the disk has not answered, where that is longer than a commit may take.
    func overdueWait(now: () -> Duration) -> Duration? {
        guard let diskBusySince else { return nil }
        let wait = now() - diskBusySince
        return wait >= configuration.commitOverdueAfter ? wait : nil
    }

    /// What the disk works on; `nil` where it works on nothing.
    func unfinishedCommit(now: Duration) -> JournalHang? {
        hang ?? diskBusySince.map { JournalHang(wait: now - $0, events: commits.eventsBeingWritten) }
    }

    /// What the log has to say about a disk that does not answer.
    enum OverdueNotice: Sendable, Equatable {
        case overdue(for: Duration, events: Int)
        case over
    }

    /// What is to be said now, once for each time that the disk does not answer.
    mutating func overdueNotice(now: Duration) -> OverdueNotice? {
        let wait = overdueWait(now: { now })
        guard (wait != nil) != hasToldOverdue else { return nil }
        hasToldOverdue = wait != nil
        return wait.map { .overdue(for: $0, events: commits.eventsBeingWritten) } ?? .over
    }

    private mutating func commitsSettled(now: () -> Duration, actions: inout DispatchActions) {
        for queue in trackers.indices { roomCameFree(in: queue, now: now, actions: &actions) }
        // Workers that found their queues empty while the door closed can end now.
        if commits.isEmpty, phase != .open { actions.wakes = QueueSet(first: trackers.count) }
        beginFlushesAfterCommit(actions: &actions)
    }

    /// A tracker that keeps its own place in the journal has said where it is; nothing was delivered to it so far.
    mutating func resume(_ queue: Int, from sequence: UInt64) {
        trackers[queue].settledSequence = sequence
        trackers[queue].queue.spill(from: sequence)
        // That was a jump, and no speed.
        drain = DrainRate()
    }

    /// Where the journal ends for a tracker that says where it is: at the first start where it ended when it was opened,
    /// because nobody can have got further than that.
    func resumptionEnd(of queue: Int, opening: UInt64) -> UInt64 {
        trackers[queue].hasStarted ? published ?? opening : opening
    }

    /// Events came out of the journal; returns what came of it, and how far the tracker has got.
    mutating func journalRead(
        _ part: TrackerBacklog.Part,
        of queue: Int,
        actions: inout DispatchActions
    ) -> (reading: TrackerState.Reading, settledSequence: UInt64) {
        let isLast = part.nextSequence >= published ?? 0
        let reading = trackers[queue].journalRead(part, isLast: isLast)
        if !reading.delivers { endFlushes(settledIn: queue, actions: &actions) }
        return (reading, settledSequence(of: queue))
    }

    /// The journal could not be read; returns the pause before the next try.
    package mutating func journalNotRead(of queue: Int, now: Duration, jitter: Double) -> Duration {
        trackers[queue].journalNotRead(retry: configuration.retry, now: now, jitter: jitter)
    }

    /// From which number on a tracker reads the journal; `nil` where everything it needs is in memory.
    func spilledSequence(of queue: Int) -> UInt64? { trackers[queue].queue.spilledFrom }

    /// Events that a tracker had not read were removed from the journal; returns how many nobody had counted as enqueued.
    mutating func lost(_ events: TrackerBacklog.Count, of queue: Int) -> Int {
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
