import EventJournal
import EventPipeline
import EventQuarantine
import EventValidation
import Logging
import Synchronization

/// One tracker's way: a pipeline of its own, with the spool in which its events wait.
///
/// A lane each, and not one pipeline for all, because trackers may be loaded at any time, and a pipeline knows its own
/// from the beginning.
final class TrackerLane: Sendable {
    let name: String
    let spools: SpoolFolder
    let catalog: EventCatalog
    let undelivered: UndeliveredEvents
    let logger: Logger
    private let tracker: LoadedTracker
    private let linger: Duration
    private let intake = Mutex(Intake.unopened)
    private let pace = CommitPace()
    private let discards = Atomic<Bool>(false)

    /// Whether events are taken.
    private enum Intake {
        /// Nothing was tracked so far, and the disk not touched.
        ///
        /// Can transition to:
        /// - `open` with the first event.
        /// - `closed` when the tracker is unloaded.
        case unopened
        /// Events are taken.
        ///
        /// Can transition to:
        /// - `closed` when the tracker is unloaded, or its `EventTracking` is let go.
        case open(Pipeline, Spool?, EventValidator)
        /// No events are taken; those that were are passed on. Final.
        case closed

        var pipeline: Pipeline? {
            guard case .open(let pipeline, _, _) = self else { return nil }
            return pipeline
        }

        var spool: Spool? {
            guard case .open(_, let spool, _) = self else { return nil }
            return spool
        }
    }

    /// Passes events on after `linger`.
    init(name: String, tracker: any EventTracker, spools: SpoolFolder, linger: Duration, logger: Logger) {
        self.name = name
        self.spools = spools
        self.linger = linger
        self.logger = logger
        self.tracker = LoadedTracker(tracker)
        undelivered = UndeliveredEvents(in: spools, logger: logger)
        catalog = RecordPlan.catalog(tracker: name)
    }

    /// Puts another tracker of the same name in the place of the one at hand.
    func replaceTracker(with tracker: any EventTracker) {
        self.tracker.replace(with: tracker)
    }

    /// Takes an event, given as the JSON of its record.
    ///
    /// - Throws: Where the event breaks a rule of the engine's, or where too many are on their way; then it was not taken.
    func track(_ record: [UInt8]) throws(RecordError) -> CommitReceipt {
        try submit(removesSuperfluous: true) { validator throws(RecordError) in
            try RecordPlan.batch(of: record, validator)
        }
    }

    /// Takes events that were taken before.
    ///
    /// - Throws: Where too many are on their way; then they were not taken.
    func track(_ batch: EventBatch) throws(RecordError) -> CommitReceipt {
        // Superfluous is what cannot be restored, and that is known when all is.
        try submit(removesSuperfluous: false) { _ in batch }
    }

    private func submit(
        removesSuperfluous: Bool,
        _ batch: (EventValidator) throws(RecordError) -> EventBatch
    ) throws(RecordError) -> CommitReceipt {
        try intake.withLock { intake throws(RecordError) in
            if case .unopened = intake {
                if removesSuperfluous { removeSuperfluous() }
                intake = open()
            }
            guard case .open(let pipeline, _, let validator) = intake else { throw .trackerUnloaded }
            return try CommitReceipt(of: try batch(validator), in: pipeline, pace: pace)
        }
    }

    /// Passes on what waits for company.
    func endLingering() {
        pipeline?.endLingering()
    }

    /// Waits until every event taken so far was passed on.
    func flush() async {
        await pipeline?.flush()
    }

    /// Takes no more events; those that were taken are passed on.
    ///
    /// What is not passed on within half a minute stays in the spool. With `discarding` that is removed instead, and so is
    /// what the tracker did not take.
    func close(discarding: Bool = false) {
        let (pipeline, spool) = intake.withLock { intake in
            defer { intake = .closed }
            return (intake.pipeline, intake.spool)
        }
        if discarding {
            discards.store(true, ordering: .relaxed)
            spool?.discard()
        }
        undelivered.release(discarding: discarding)
        pipeline?.shutdown()
    }

    /// Makes room where too many spools were left behind.
    func removeSuperfluous() {
        let lost = spools.removeSuperfluous()
        if lost > 0 { logger.error("Events for '\(name)' that were never restored are lost; spools removed: \(lost)") }
    }

    private var pipeline: Pipeline? { intake.withLock { $0.pipeline } }
}

extension TrackerLane {
    private func open() -> Intake {
        let (pipeline, spool) = makePipeline()
        // Not a child: JustTrack's API has no place from which an app could run a lane, and what was taken is passed on
        // even when its `EventTracking` is gone.
        Task { await run(pipeline, spool) }
        return .open(pipeline, spool, EventValidator(catalog: catalog))
    }

    /// A pipeline with a spool, or where there is no disk to be had, one that keeps the last events in memory.
    private func makePipeline() -> (Pipeline, Spool?) {
        var configuration = Pipeline.Configuration.journaled
        configuration.queue.capacityInEvents = 20_000
        configuration.queue.capacityInBytes = 8 << 20
        configuration.delivery.linger = linger
        // What waits for a disk that stands still is bounded by the pace, and taken when the disk goes on.
        configuration.commitOverdueAfter = .seconds(365 * 86_400)
        let quarantine = Quarantine.discarding(logger: logger)
        do {
            let spool = try spools.begin()
            let pipeline = try Pipeline(
                catalog: catalog,
                trackers: [appTracker(answers: spool.answers)],
                journal: spool.journal,
                configuration: configuration,
                quarantine: quarantine,
                logger: logger
            )
            return (pipeline, spool)
        } catch {
            logger.error("Events for '\(name)' are kept in memory only: \(error)")
            configuration.queue.fullPolicy = .dropOldest
            return (makePipelineInMemory(configuration, quarantine), nil)
        }
    }

    private func makePipelineInMemory(
        _ configuration: Pipeline.Configuration,
        _ quarantine: Quarantine
    ) -> Pipeline {
        do throws(PipelineError) {
            return try Pipeline(
                catalog: catalog,
                trackers: [appTracker(answers: nil)],
                configuration: configuration,
                quarantine: quarantine,
                logger: logger
            )
        } catch {
            preconditionFailure("a pipeline of one tracker without settings is valid: \(error)")
        }
    }

    private func appTracker(answers: AnswerNote?) -> AppTracker {
        AppTracker(name: name, tracker: tracker, undelivered: undelivered, answers: answers, logger: logger)
    }

    private func run(_ pipeline: Pipeline, _ spool: Spool?) async {
        do {
            try await pipeline.run()
        } catch {
            logger.error("Events for '\(name)' are not passed on: \(error)")
        }
        let discards = discards.load(ordering: .relaxed)
        undelivered.release(discarding: discards)
        if discards || pipeline.statistics.trackers.allSatisfy({ $0.pendingEvents == 0 }) { spool?.remove() }
    }
}
