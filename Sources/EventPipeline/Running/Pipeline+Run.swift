import EventJournal
import EventModel
import EventQuarantine
public import EventValidation
public import Logging
import ServiceLifecycle
public import TrackerKit

extension Pipeline {
    /// Makes a pipeline, runs it while `body` uses it, and shuts it down.
    ///
    ///     try await Pipeline.run(catalog: ShopEvents.catalog, trackers: [.console()], journal: "data/journal") { pipeline in
    ///         try await pipeline.track(ShopEvents.ItemPurchased(stockCode: "85123A", quantity: 6), userID: "17850")
    ///     }
    ///
    /// When `body` has returned or thrown, what it tracked is delivered without lingering, for at most
    /// `Configuration.shutdownTimeout`. With a journal, whatever a tracker has not received by then is delivered after the
    /// next start. Cancelling the task cancels `body`, and skips that last delivery.
    ///
    /// If the pipeline ends while `body` still runs, `track` throws that it is closed, and `flush` returns. That happens when the
    /// configuration limits the attempts to start or to deliver, and on a graceful shutdown of the service that calls this. A
    /// program that runs several services makes a `Pipeline` and adds it to its service group instead.
    ///
    /// - Parameters:
    ///   - catalog: The plan, which the build plugin compiles in.
    ///   - trackers: At most 64, whose names are unique, ignoring case.
    ///   - journal: Where events are kept until every tracker has them. Without a journal they are in memory only.
    ///   - quarantine: The folder for events that a tracker refused. Default: `quarantine` in the journal's folder. Without a
    ///     journal and a folder they are counted, logged and dropped.
    ///   - configuration: The limits. Default: `.journaled` with a journal.
    ///   - logger: Where the pipeline's log goes.
    ///   - body: What to do with the pipeline.
    /// - Returns: What `body` returns.
    /// - Throws: What the initialiser and `run` throw. Otherwise what `body` throws: an error of `run` may be the reason for
    ///   an error of `body`.
    public static func run<Value: Sendable>(
        catalog: EventCatalog,
        trackers: [any Tracker],
        journal: JournalDirectory? = nil,
        quarantine: String? = nil,
        configuration: Configuration? = nil,
        logger: Logger = Logger(label: "sluice"),
        _ body: (Pipeline) async throws -> Value
    ) async throws -> Value {
        let pipeline = try Pipeline(
            catalog: catalog,
            trackers: trackers,
            journal: journal,
            quarantine: quarantine,
            configuration: configuration,
            logger: logger
        )
        async let running: Void = pipeline.run()
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(pipeline))
        } catch {
            result = .failure(error)
        }
        pipeline.shutdown()
        try await running
        return try result.get()
    }
}

extension Pipeline {
    /// Starts the trackers and delivers events until the pipeline is shut down, by the service group or by `shutdown`.
    ///
    /// If a tracker cannot start, its worker retries with backoff while the tracker's events wait and everything else runs;
    /// `statistics` has the reason.
    ///
    /// A shutdown stops accepting events, drains the queues for at most `shutdownTimeout`, cancels the remaining deliveries,
    /// stops every tracker, and logs how many events each of them did not receive. If the task is cancelled, the queues are
    /// not drained. `run` does not wait longer than `cancellationGrace` for a tracker that ignores its cancellation, nor for
    /// the journal to close.
    ///
    /// - Throws: `PipelineError` if a tracker did not start within `Configuration.maximumStartAttempts` or did not deliver
    ///   within `maximumDeliveryAttempts` (the other queues are drained first), if the journal's disk does not answer at the
    ///   end (`journal-hangs`, which says what is unknown), and if the pipeline has run before.
    public func run() async throws {
        guard decide({ state, _ in state.run() }) else { throw PipelineError.alreadyRun }
        // Not child tasks: a tracker that ignores its cancellation would keep `run` from returning, and the
        // supervisor's timers must outlive the cancellation of this task. `run` waits for all it can wait for.
        let workers = trackers.trackerIndices.map { queue in
            let worker = TrackerWorker(pipeline: self, queue: queue, tracker: trackers[queue])
            return Task { await worker.run() }
        }
        // Nor is this one, which continues until the last batch is committed.
        let maintaining = journal.map { journal in
            Task { await JournalMaintenance(pipeline: self, journal: journal).run() }
        }
        let expiring = Task { [quarantine] in await quarantine.keepRemovingExpired() }
        defer { expiring.cancel() }
        let supervision = Task { await supervise(workers, maintaining) }
        let leftBehind = await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await supervision.value
            } onGracefulShutdown: {
                self.shutdown()
            }
        } onCancel: {
            decide { state, actions in state.cancel(now: clock.now(), actions: &actions) }
        }
        // A task of its own, because this one may have been cancelled.
        await Task { await drainQuarantine() }.value
        logEnd(leftBehind: leftBehind)
        if let hang = decide({ state, _ in state.hang }), let journal {
            throw PipelineError.journalHangs(hang, journal.store.configuration.durability)
        }
        if let failure = decide({ state, _ in state.failure }) {
            let tracker = trackers[failure.queue].name
            throw failure.isOfStart
                ? PipelineError.notStarted(tracker, failure.error) : .notDelivering(tracker, failure.error)
        }
    }

    /// Stops accepting events, and makes `run` return when the queues are drained or the time is up.
    ///
    /// Returns at once.
    public func shutdown() {
        decide { state, actions in state.shutDown(now: clock.now(), actions: &actions) }
    }

    /// Lets the workers work, cancels them when time is up, and returns those that did not end even then.
    @concurrent
    private func supervise(_ workers: [Task<Void, Never>], _ maintaining: Task<Void, Never>?) async -> QueueSet {
        await withDiscardingTaskGroup { timers in
            if let journal {
                timers.addTask { await JournalMaintenance(pipeline: self, journal: journal).watchDisk() }
            }
            while true {
                switch await nextSupervisorStep() {
                case .setTimer(let time):
                    timers.addTask {
                        guard (try? await self.clock.sleepUntil(time)) != nil else { return }
                        self.decide { state, actions in state.supervisorTimerFired(at: time, actions: &actions) }
                    }
                case .cancel(let queues, let isDeadline):
                    if isDeadline { log.cancelsDeliveries() }
                    for queue in queues { workers[queue].cancel() }
                    wake(queues)
                case .closeJournal:
                    maintaining?.cancel()
                    // Not a child: a disk that never answers would keep `run` from returning.
                    if let journal { Task { await closeJournal(journal) } }
                case .finish(let leftBehind):
                    timers.cancelAll()
                    return leftBehind
                case .wait:
                    break
                }
            }
        }
    }

    private func logEnd(leftBehind: QueueSet) {
        for queue in leftBehind { log.leftBehind(trackers[queue].name) }
        for tracker in statistics.trackers where tracker.pendingEvents > 0 {
            log.undelivered(tracker.pendingEvents, tracker: tracker.name, isJournaled: journal != nil)
        }
    }
}
