public import EventModel
public import Journal
public import Logging

extension Pipeline {
    /// Makes a pipeline whose batches are acknowledged once they are in the journal, as its durability says.
    ///
    /// What a tracker did not get before the last end comes first; a tracker that is new to the journal begins where
    /// `configuration.journalStart` says.
    /// The journal belongs to one pipeline. `now` tells the time by which its segments age, and when typed events
    /// are tracked.
    ///
    /// - Throws: Where the journal's cursors cannot be opened.
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
    ) throws(JournalError) {
        let journaling = try Journaling(
            journal,
            catalog: catalog,
            trackerNames: trackers.map(\.name),
            delivery: configuration.delivery,
            start: configuration.journalStart,
            now: now
        )
        for (tracker, sequence) in journaling.begun {
            logger.info("'\(tracker)' is new to the journal, and begins with event \(sequence).")
        }
        for tracker in journaling.abandoned.trackers {
            logger.warning("The journal keeps events for '\(tracker)', which is not configured, until it is forgotten.")
        }
        let first = journal.position.firstSequence
        for (tracker, cursor) in zip(trackers, journaling.cursors) where cursor < first {
            logger.warning("The journal has nothing before event \(first); '\(tracker.name)' had got up to \(cursor).")
        }
        for finding in journal.recovery.sentences {
            logger.warning("The journal was not as it should be: \(finding)")
        }
        self.init(
            catalog: catalog,
            trackers: trackers,
            configuration: configuration,
            journaling: journaling,
            quarantine: quarantine,
            logger: logger,
            clock: clock,
            jitter: jitter,
            now: now
        )
    }

    /// Hands an admitted batch to the committer.
    func commit(_ batch: RoutedBatch, completion: @escaping @Sendable (Result<Void, SubmissionError>) -> Void) {
        journaling?.beginCommitting(of: self)
        let isHandedOver = journaling?.committer.commit(batch) { result in
            completion(result)
            // Until then somebody waits for what the pipeline does, though nobody else may know it any more.
            withExtendedLifetime(self) {}
        }
        if isHandedOver == true { return }
        decide { state, actions in
            state.notCommitted([batch], because: nil, now: clock.now, actions: &actions)
        }
        completion(.failure(.closed))
    }

    /// Commits until the committer is closed, and tells the queues and the senders.
    ///
    /// It does not keep the pipeline: one that never runs goes with its last user, and closes the committer then.
    func commitsGatheredBatches(by journaling: Journaling) -> Task<Void, Never> {
        let committer = journaling.committer
        let abandoned = journaling.abandoned.sequence
        // Detached, because whoever happens to track first is not the context of what others track.
        return Task.detached { [weak self] in
            await committer.run(
                needed: { [weak self] in
                    self?.decide { state, _ in state.neededSequence(besides: abandoned) } ?? 0
                },
                retired: { [weak self] in self?.retired($0) },
                { [weak self] in self?.commitEnded($0) }
            )
        }
    }

    private func retired(_ outcome: Result<[Segment], JournalError>) {
        log.retired(outcome)
        guard case .success(let segments) = outcome, !segments.isEmpty else { return }
        decide { state, _ in state.hasJournalRoom = true }
    }

    private func commitEnded(_ commit: JournalCommitter.Commit) {
        switch commit.outcome {
        case .success(let first):
            decide { state, actions in
                state.committed(commit.batches, first: first, now: clock.now, actions: &actions)
            }
            for (batch, completion) in zip(commit.batches, commit.completions) {
                metrics.acknowledged(batch)
                completion(.success(()))
            }
        case .failure(let error):
            let events = commit.batches.reduce(0) { $0 + $1.count }
            let unreported = decide { state, actions in
                state.notCommitted(commit.batches, because: error, now: clock.now, actions: &actions)
                return state.refusalNotice.add(events, now: clock.now())
            }
            if let unreported { log.notCommitted(unreported, error) }
            for completion in commit.completions { completion(.failure(.notStored(error))) }
        }
    }

    /// Syncs the journal from time to time where its durability says so, removes what is over, also where no events come,
    /// and tries the journal again while it cannot be written.
    ///
    /// Nobody may send any more to a service that is not ready, so its journal must find out by itself.
    func maintainJournal(_ journaling: Journaling) async {
        var pause = Duration.seconds(1)
        if case .interval(let length) = journaling.journal.configuration.durability {
            pause = max(length, .milliseconds(1))
        }
        var nextRetention = clock.now() + .seconds(1)
        var lastError: JournalError?
        while (try? await clock.sleepUntil(clock.now() + pause)) != nil {
            let (wasWritable, needed) = decide { state, _ in
                let needed = state.neededSequence(besides: journaling.abandoned.sequence)
                // What was given up is needed no more, before its tracker has gone on behind it.
                state.drain.note(max(needed, journaling.journal.position.firstSequence), now: clock.now())
                return (state.isJournalWritable, needed)
            }
            do throws(JournalError) {
                if wasWritable {
                    try await journaling.committer.syncIfTimed()
                    if clock.now() >= nextRetention {
                        nextRetention = clock.now() + .seconds(1)
                        await retireSegments(of: journaling)
                        // There may be, and whoever does not wait finds out only by trying.
                        decide { state, _ in state.hasJournalRoom = true }
                    }
                } else {
                    try await journaling.committer.probe(needed: needed)
                    decide { state, _ in state.isJournalWritable = true }
                }
            } catch {
                // Another reason is news: it may be that something was lost. That there is no room is none.
                if wasWritable || error.code == .unwritable && error != lastError { log.notSynced(error) }
                lastError = error
                decide { state, _ in state.isJournalWritable = false }
            }
        }
    }

    /// Ends the journal in good order: what is settled is noted, and the last segment ended.
    func closeJournal(_ journaling: Journaling) async {
        await journaling.endCommitting(of: self)
        for queue in trackers.indices {
            let settled = decide { state, _ in state.settledSequence(of: queue) }
            await moveCursor(of: queue, to: settled, syncs: true)
        }
    }

    /// Notes how far a tracker has got; where that fails it gets some events again after a restart.
    func moveCursor(of queue: Int, to sequence: UInt64, checkpoint: UInt64? = nil, syncs: Bool = false) async {
        await loggingCursor(of: queue) { backlog throws(JournalError) in
            try await backlog.moveCursor(to: sequence, checkpoint: checkpoint, syncs: syncs)
        }
    }

    /// Does something with a tracker's cursor, and logs where that fails.
    func loggingCursor(
        of queue: Int,
        _ body: (TrackerBacklog) async throws(JournalError) -> Void
    ) async {
        guard let backlog = journaling?.backlogs[queue] else { return }
        do throws(JournalError) {
            try await body(backlog)
        } catch {
            log.cursorNotMoved(trackers[queue].name, error)
        }
    }
}
