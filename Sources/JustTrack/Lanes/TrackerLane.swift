import EventJournal
import EventPipeline
import EventQuarantine
import EventValidation
import Logging
import Synchronization
import TrackerKit

/// The pipeline of one tracker, with the spool in which its events wait.
///
/// Each tracker has its own pipeline, because trackers are loaded at any time, and a pipeline's trackers are fixed when it is
/// made.
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

    /// Whether the lane accepts events.
    private enum Intake {
        /// No event was tracked yet, and there is no spool.
        ///
        /// Can transition to:
        /// - `open` with the first event.
        /// - `closed` when the tracker is unloaded.
        case unopened
        /// Accepts events.
        ///
        /// Can transition to:
        /// - `closed` when the tracker is unloaded, or its `EventTracking` is deinitialised.
        case open(Pipeline, Spool?, EventValidator)
        /// Accepts no events; delivers the accepted ones. Final.
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

    /// Delivers events after `linger`.
    init(name: String, tracker: any EventTracker, spools: SpoolFolder, linger: Duration, logger: Logger) {
        self.name = name
        self.spools = spools
        self.linger = linger
        self.logger = logger
        self.tracker = LoadedTracker(tracker)
        undelivered = UndeliveredEvents(in: spools, logger: logger)
        catalog = RecordPlan.catalog(tracker: name)
    }

    /// Replaces the tracker by another one of the same name.
    func replaceTracker(with tracker: any EventTracker) {
        self.tracker.replace(with: tracker)
    }

    /// Accepts an event, given as the JSON of its record.
    ///
    /// - Throws: If the event is invalid, or too many submissions are in progress; then it was not accepted.
    func track(_ record: [UInt8]) throws(RecordError) -> CommitReceipt {
        try submit(removesSuperfluous: true) { validator throws(RecordError) in
            try RecordPlan.batch(of: record, validator)
        }
    }

    /// Accepts restored events.
    ///
    /// - Throws: If too many submissions are in progress; then they were not accepted.
    func track(_ batch: EventBatch) throws(RecordError) -> CommitReceipt {
        // Restoring removes spools without losing their events, so excess spools are removed only after it.
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

    /// Delivers lingering events now.
    func endLingering() {
        pipeline?.endLingering()
    }

    /// Waits until every event accepted so far was delivered.
    func flush() async {
        await pipeline?.flush()
    }

    /// Stops accepting events, and delivers the accepted ones.
    ///
    /// Events that are not delivered within 30 seconds stay in the spool. With `discarding` they are removed instead, and so
    /// are the events that the tracker refused.
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

    /// Removes the oldest spools if there are too many.
    func removeSuperfluous() {
        let lost = spools.removeSuperfluous()
        if lost > 0 { logger.error("Events for '\(name)' that were never restored are lost; spools removed: \(lost)") }
    }

    private var pipeline: Pipeline? { intake.withLock { $0.pipeline } }
}

extension TrackerLane {
    private func open() -> Intake {
        let (pipeline, spool) = makePipeline()
        // Not a child: JustTrack's API has no scope in which an app could run a lane, and accepted events are delivered
        // even after its `EventTracking` is deinitialised.
        Task { await run(pipeline, spool) }
        return .open(pipeline, spool, EventValidator(catalog: catalog))
    }

    /// A pipeline with a spool; if the disk is unavailable, one that keeps the latest events in memory.
    private func makePipeline() -> (Pipeline, Spool?) {
        var configuration = Pipeline.Configuration.journaled
        configuration.queue.capacityInEvents = 20_000
        configuration.queue.capacityInBytes = 8 << 20
        configuration.delivery.linger = linger
        // The pace limits what waits for a disk that hangs; it is written when the disk answers.
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
