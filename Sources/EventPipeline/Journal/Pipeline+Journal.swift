public import EventJournal
public import EventModel
public import EventQuarantine
public import EventValidation
public import Logging
public import TrackerKit

extension Pipeline {
    /// Makes a pipeline that acknowledges batches once they are in the journal, as the journal's durability says.
    ///
    /// A tracker continues at its cursor; a tracker that is new to the journal begins at `configuration.journalStart`.
    /// A journal belongs to one pipeline. The age of its segments is measured by `clock`, from the time at which the journal was
    /// opened; `now` returns the time of typed events.
    ///
    /// - Throws: `PipelineError` if there are more than 64 trackers or two with the same name, or if a tracker's
    ///   `checkSettings` throws; `JournalError` if the journal's cursors cannot be opened.
    public convenience init(
        catalog: EventCatalog,
        trackers: [any Tracker],
        journal: Journal,
        configuration: Configuration = .journaled,
        quarantine: Quarantine,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock(),
        jitter: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) throws {
        try self.init(
            Parts(
                // Checked before cursors are created.
                trackers: CheckedTrackers(trackers, catalog: catalog),
                configuration: configuration,
                quarantine: quarantine,
                logger: logger,
                clock: RelativeClock(clock),
                jitter: jitter,
                now: now
            ),
            journal: journal
        )
    }

    convenience init(_ parts: Parts, journal: Journal) throws(JournalError) {
        let logger = parts.logger
        let pipelineJournal = try PipelineJournal(
            journal,
            catalog: parts.trackers.catalog,
            trackerNames: parts.trackers.names,
            configuration: parts.configuration,
            clock: parts.clock,
            metrics: parts.metrics.journal
        )
        for (tracker, sequence) in pipelineJournal.begun {
            logger.info(
                "The tracker is new to the journal.",
                metadata: ["tracker": "\(tracker)", "sequence": "\(sequence)"]
            )
        }
        for tracker in pipelineJournal.abandoned.trackers {
            logger.warning(
                "The journal keeps events for a tracker that is not configured; 'sluice journal forget' removes its cursor.",
                metadata: ["tracker": "\(tracker)"]
            )
        }
        let first = journal.position.firstSequence
        for (tracker, cursor) in zip(parts.trackers.names, pipelineJournal.cursors) where cursor < first {
            logger.warning(
                "The journal begins after the tracker's cursor; the tracker does not get the events between.",
                metadata: ["tracker": "\(tracker)", "from": "\(cursor)", "to": "\(first)"]
            )
        }
        for finding in journal.recovery.sentences {
            logger.warning("The journal needed recovery.", metadata: ["finding": "\(finding)"])
        }
        self.init(parts, journal: pipelineJournal)
    }

    /// Starts the task that commits batches until no more will come, and that publishes them and answers their senders.
    ///
    /// The task does not keep the pipeline alive: a pipeline that never runs is released by its last user, after its accepted
    /// batches are committed.
    func startCommitting(by journal: PipelineJournal) -> Task<Void, Never> {
        let committer = journal.committer
        let pipeline = CommittingPipeline(
            self,
            abandonedSequence: journal.abandoned.sequence,
            log: log,
            diskWatch: diskWatch
        )
        // Detached, so that the task-local context of the first sender does not apply to the others.
        return Task.detached { await committer.run(for: pipeline) }
    }

    /// Records when the journal's thread waits for the disk.
    var diskWatch: DiskWatch {
        DiskWatch(
            began: { [weak self] in
                guard let self else { return }
                decide { state, _ in state.journalHealth.diskBegan(now: clock.now()) }
            },
            ended: { [weak self] in self?.decide { state, _ in state.journalHealth.diskEnded() } }
        )
    }

    func segmentsRemoved(_ outcome: Result<[Segment], JournalError>) {
        logRetired(outcome)
        guard case .success(let segments) = outcome, !segments.isEmpty else { return }
        decide { state, _ in state.journalHealth.bytesWithoutRoom = nil }
    }

    /// Logs which segments were removed, or that they could not be.
    func logRetired(_ outcome: Result<[Segment], JournalError>) {
        switch outcome {
        case .success(let segments): log.retired(segments)
        case .failure(let error): log.notRetired(error)
        }
    }

    func commitEnded(_ batches: [RoutedBatch], _ outcome: Result<UInt64, JournalError>) {
        // Counted before the queues have them, so that no tracker settles an event that was not counted.
        if case .success = outcome { for batch in batches { observe(acknowledged: batch) } }
        let (duration, ended, answered) = decide { state, actions in
            let duration = state.journalHealth.wait(now: clock.now())
            let (ended, answered) = state.endCommit(outcome, now: clock.now, actions: &actions)
            return (duration, ended, answered)
        }
        if let duration { metrics.journal.committed(after: duration) }
        switch outcome {
        case .success:
            log.committed()
            for submission in answered { submission.completion(.success(.stored)) }
        case .failure(let error):
            log.notCommitted(ended.reduce(0) { $0 + $1.batch.count }, error)
            for submission in answered { submission.completion(.failure(.notStored(error))) }
        }
    }

    /// Closes the journal: ends its last segment and moves the cursors.
    func closeJournal(_ journal: PipelineJournal) async {
        await journal.endCommitting(of: self)
        for queue in trackers.trackerIndices {
            let settled = decide { state, _ in state.settledSequence(of: queue) }
            await moveCursor(of: queue, to: settled, syncs: true)
        }
        decide { state, actions in state.journalClosed(actions: &actions) }
    }

    /// Moves a tracker's cursor; if that fails, the tracker gets some events again after a restart.
    func moveCursor(of queue: TrackerIndex, to sequence: UInt64, checkpoint: UInt64? = nil, syncs: Bool = false) async {
        await loggingCursor(of: queue) { backlog throws(JournalError) in
            try await backlog.moveCursor(to: sequence, checkpoint: checkpoint, syncs: syncs)
        }
    }

    /// Runs `body` with a tracker's backlog, and logs the error if it throws.
    func loggingCursor(
        of queue: TrackerIndex,
        _ body: (TrackerBacklog) async throws(JournalError) -> Void
    ) async {
        guard let backlog = journal?.backlogs[queue] else { return }
        let name = trackers[queue].name
        do throws(JournalError) {
            try await body(backlog)
            log.cursorMoved(name)
        } catch {
            log.cursorNotMoved(name, error)
        }
    }
}
