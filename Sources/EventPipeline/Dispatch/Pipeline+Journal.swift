public import EventJournal
public import EventModel
import EventQuarantine
import EventValidation
public import Logging
import TrackerKit

extension Pipeline {
    /// Makes a pipeline whose batches are acknowledged once they are in the journal, as its durability says.
    ///
    /// What a tracker did not get before the last end comes first; a tracker that is new to the journal begins where
    /// `configuration.journalStart` says.
    /// The journal belongs to one pipeline. Its segments age by `clock`, from the time at which it was opened; `now` tells
    /// when typed events are tracked.
    ///
    /// - Throws: `PipelineError` where there are more than 64 trackers, or two of one name, and where a tracker's
    ///   `checkSettings` throws; `JournalError` where the journal's cursors cannot be opened.
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
            catalog: catalog,
            // Before cursors are made for trackers that there cannot be.
            trackers: CheckedTrackers(trackers, catalog: catalog),
            journal: journal,
            configuration: configuration,
            quarantine: quarantine,
            logger: logger,
            clock: clock,
            jitter: jitter,
            now: now
        )
    }

    convenience init(
        catalog: EventCatalog,
        trackers checked: CheckedTrackers,
        journal: Journal,
        configuration: Configuration,
        quarantine: Quarantine,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock(),
        jitter: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) throws(JournalError) {
        let trackers = checked.trackers
        let journaling = try Journaling(
            journal,
            catalog: catalog,
            trackerNames: trackers.map(\.name),
            delivery: configuration.delivery,
            start: configuration.journalStart,
            clock: PipelineClock(clock)
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
            trackers: checked,
            configuration: configuration,
            journaling: journaling,
            quarantine: quarantine,
            logger: logger,
            clock: clock,
            jitter: jitter,
            now: now
        )
    }

    /// Commits until nothing more will come, and tells the queues and the senders.
    ///
    /// It does not keep the pipeline: one that never runs goes with its last user, and what it took is committed then.
    func commitsGatheredBatches(by journaling: Journaling) -> Task<Void, Never> {
        let committer = journaling.committer
        let abandoned = journaling.abandoned.sequence
        let desk = JournalCommitter.Desk(
            take: { [weak self] in
                guard let self else { return nil }
                return decide { state, _ in state.beginCommit(now: clock.now()) }
            },
            wait: { [weak self] in await Self.waitForBatches { self } },
            ended: { [weak self] in self?.commitEnded($0, $1) },
            needed: { [weak self] in
                self?.decide { state, _ in state.neededSequence(besides: abandoned) } ?? 0
            },
            retired: { [weak self] in self?.retired($0) },
            watch: diskWatch
        )
        // Detached, because whoever happens to track first is not the context of what others track.
        return Task.detached { await committer.run(desk) }
    }

    /// Suspends until a pipeline may have something to commit, without keeping it meanwhile.
    private static func waitForBatches(of pipeline: () -> Pipeline?) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            guard let pipeline = pipeline() else { return continuation.resume() }
            pipeline.parkCommitter(continuation)
        }
    }

    /// Notes when the journal's thread waits for the disk.
    var diskWatch: DiskWatch {
        DiskWatch(
            began: { [weak self] in
                guard let self else { return }
                decide { state, _ in state.diskBegan(now: clock.now()) }
            },
            ended: { [weak self] in self?.decide { state, _ in state.diskEnded() } }
        )
    }

    private func retired(_ outcome: Result<[Segment], JournalError>) {
        log.retired(outcome)
        guard case .success(let segments) = outcome, !segments.isEmpty else { return }
        decide { state, _ in state.bytesWithoutRoom = nil }
    }

    private func commitEnded(_ batches: [RoutedBatch], _ outcome: Result<UInt64, JournalError>) {
        // Before the queues have them, so that no tracker settles what was not counted.
        if case .success = outcome { for batch in batches { metrics.acknowledged(batch) } }
        let (ended, unreported) = decide { state, actions in
            let ended = state.endCommit(outcome, now: clock.now, actions: &actions)
            guard case .failure = outcome else { return (ended, Int?.none) }
            let events = ended.reduce(0) { $0 + $1.batch.count }
            return (ended, state.refusalNotice.add(events, now: clock.now()))
        }
        switch outcome {
        case .success:
            for submission in ended { submission.completion(.success(())) }
        case .failure(let error):
            if let unreported { log.notCommitted(unreported, error) }
            for submission in ended { submission.completion(.failure(.notStored(error))) }
        }
    }

    /// Says in the log when the journal's disk does not answer, and when it does again.
    ///
    /// Not a part of what maintains the journal, which waits for the same disk.
    func watchDisk() async {
        let pause = max(configuration.commitOverdueAfter, .seconds(1))
        while (try? await clock.sleepUntil(clock.now() + pause)) != nil {
            switch decide({ state, _ in state.overdueNotice(now: clock.now()) }) {
            case .overdue(let wait, let events): log.diskOverdue(wait, events: events)
            case .over: log.diskAnswers()
            case nil: break
            }
        }
    }

    /// Syncs the journal from time to time where its durability says so, removes what is over, also where no events come,
    /// and tries the journal again while it cannot be written.
    ///
    /// Nobody may send any more to a service that is not ready, so its journal must find out by itself.
    func maintainJournal(_ journaling: Journaling) async {
        var pause = Duration.seconds(1)
        if case .interval(let length) = journaling.journal.configuration.durability.kind {
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
                    try await journaling.committer.syncIfTimed(diskWatch)
                    if clock.now() >= nextRetention {
                        nextRetention = clock.now() + .seconds(1)
                        await retireSegments(of: journaling)
                        await noticeRoom(in: journaling)
                    }
                } else {
                    try await journaling.committer.probe(needed: needed, diskWatch)
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

    /// Checks whether the journal has room again for what did not fit; callers that do not wait learn it only from this.
    private func noticeRoom(in journaling: Journaling) async {
        guard let bytes = decide({ state, _ in state.bytesWithoutRoom }),
            await journaling.committer.hasRoom(forBytes: bytes)
        else { return }
        decide { state, _ in state.bytesWithoutRoom = nil }
    }

    /// Ends the journal in good order: what is settled is noted, and the last segment ended.
    func closeJournal(_ journaling: Journaling) async {
        await journaling.endCommitting(of: self)
        for queue in trackers.indices {
            let settled = decide { state, _ in state.settledSequence(of: queue) }
            await moveCursor(of: queue, to: settled, syncs: true)
        }
        decide { state, actions in state.journalClosed(actions: &actions) }
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
