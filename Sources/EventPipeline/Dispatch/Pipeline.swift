public import EventJournal
public import EventModel
import EventQuarantine
import EventValidation
public import Logging
public import ServiceLifecycle
import Synchronization
import TrackerKit

/// Why the pipeline did not take a batch.
///
/// Nothing of the batch was taken, except perhaps with `outcomeUnknown`.
public enum SubmissionError: Error, Sendable, Hashable {
    /// Withdrawn while it waited for room in a full queue, or for its commit to the journal to begin.
    case withdrawn
    /// The pipeline is shutting down.
    case closed
    /// The journal did not take it; the error says whether it may later.
    case notStored(JournalError)
    /// Its commit to the journal was being written when the wait for it ended: it may be delivered, or not.
    ///
    /// Submitting it again is safe only where its events have ids of their own, and only PostgreSQL removes the duplicates.
    case outcomeUnknown
}

/// Everything behind the door: the acknowledgement of checked batches, and a queue and a worker for each tracker.
///
/// Batches are taken from the moment the pipeline exists; trackers are started, and events delivered, while `run` runs.
/// An event goes to those of its trackers that are configured. One that has none is accepted, goes nowhere, and is
/// counted as `unrouted`; `unconfiguredTrackers` says beforehand which events are short of a tracker.
///
/// Where all queues of a batch have policy `wait` and one of them is full, the batch waits, whole, and those that come
/// later and want the same queue wait behind it. Waiting batches are the sender's memory, not the queues': whoever
/// submits bounds them, by waiting for each acknowledgement or by `withdraw`.
///
/// With a journal, a disk that does not answer is noticed: once it takes longer than `commitOverdueAfter` over one thing, the
/// pipeline is not ready, and new batches are turned down at once, until it answers.
public final class Pipeline: Service {
    /// Stands for a batch that waits for room, or for its commit to the journal.
    public struct Ticket: Sendable, Hashable {
        package let number: UInt64
    }

    /// What `withdraw` comes to.
    public enum Withdrawal: Sendable, Hashable {
        /// The batch waited for room, and nothing of it is taken; the completion was called with `withdrawn`.
        case withdrawn
        /// The same for a batch that waited for its commit to the journal to begin.
        case uncommitted
        /// Its commit to the journal is being written, and nobody can say how that ends; the completion is called when it
        /// has ended.
        case committing
        /// It was decided about before; the completion was called, or is being called.
        case decided
    }

    /// The events that name a tracker that is not configured, by tracker; worth a warning at start.
    public let unconfiguredTrackers: [(tracker: String, events: [String])]

    let trackers: [any Tracker]
    let catalog: EventCatalog
    let configuration: Configuration
    let log: PipelineLog
    let clock: PipelineClock
    let metrics: PipelineMetrics
    let quarantine: Quarantine
    let journaling: Journaling?
    let jitter: @Sendable () -> Double
    let now: @Sendable () -> Timestamp
    /// Make batches of events that are tracked one by one.
    let builders: BuilderPool
    private let router: Router
    private let shared: Mutex<Shared>
    private let nextFlush = Atomic<UInt64>(0)

    /// What the lock guards: the state, and who sleeps until it changes.
    private struct Shared: Sendable {
        var state: DispatchState
        var parkedWorkers: [CheckedContinuation<WorkerStep?, Never>?]
        var parkedSupervisor: CheckedContinuation<SupervisorStep?, Never>?
        var parkedCommitter: CheckedContinuation<Void, Never>?
    }

    /// Makes a queue for each tracker; at most 64 of them, with names that differ in more than case.
    ///
    /// `clock` is what lingering, pauses and deadlines go by. `jitter` gives numbers from 0 up to 1, by which pauses
    /// vary. `now` tells when typed events are tracked.
    ///
    /// - Throws: Where there are more trackers, or two of one name, and where a tracker's `checkSettings` does.
    public convenience init(
        catalog: EventCatalog,
        trackers: [any Tracker],
        configuration: Configuration = Configuration(),
        quarantine: Quarantine,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock(),
        jitter: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) throws(PipelineError) {
        try self.init(
            catalog: catalog,
            trackers: CheckedTrackers(trackers, catalog: catalog),
            configuration: configuration,
            journaling: nil,
            quarantine: quarantine,
            logger: logger,
            clock: clock,
            jitter: jitter,
            now: now
        )
    }

    init(
        catalog: EventCatalog,
        trackers checked: CheckedTrackers,
        configuration: Configuration,
        journaling: Journaling?,
        quarantine: Quarantine,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock(),
        jitter: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        let trackers = checked.trackers
        let names = trackers.map(\.name)
        self.catalog = catalog
        self.trackers = trackers
        var configuration = configuration
        // What a quarantine does not keep could never be brought back.
        if quarantine.isDiscarding { configuration.parkAfter = nil }
        self.configuration = configuration
        self.journaling = journaling
        self.clock = PipelineClock(clock)
        self.jitter = jitter
        self.now = now
        builders = BuilderPool { EventBatchBuilder(catalog: catalog, now: now) }
        log = PipelineLog(logger: logger)
        metrics = PipelineMetrics(trackerNames: names)
        self.quarantine = quarantine
        router = Router(catalog: catalog, trackerNames: names)
        unconfiguredTrackers = catalog.unconfiguredTrackers(configured: names)
        var checkpointing: QueueSet = []
        for (queue, tracker) in trackers.enumerated() where journaling != nil && tracker is any CheckpointingTracker {
            checkpointing.insert(queue)
        }
        shared = Mutex(
            Shared(
                state: DispatchState(
                    trackerNames: names,
                    configuration: configuration,
                    cursors: journaling?.cursors ?? [],
                    published: journaling?.end,
                    checkpointing: checkpointing
                ),
                parkedWorkers: Array(repeating: nil, count: names.count)
            )
        )
    }

    deinit {
        // It finds nobody to commit for.
        shared.withLock { $0.parkedCommitter.take() }?.resume()
    }

    /// Takes a whole batch or nothing of it.
    ///
    /// `completion` is called exactly once: before this returns, or later, on any thread. There is a ticket where the
    /// batch waits for room, or for its commit to the journal; with it the batch can be withdrawn.
    /// Success means acknowledged: the batch is in the queue of every tracker its events name, or with a journal in the
    /// journal.
    public func submit(
        _ batch: EventBatch,
        completion: @escaping @Sendable (Result<Void, SubmissionError>) -> Void
    ) -> Ticket? {
        let routed = router.route(batch)
        let kept = staying(until: completion)
        let admission = decide { state, actions in
            state.submit(routed, completion: kept, now: clock.now, actions: &actions)
        }
        switch admission {
        case .acknowledged:
            metrics.acknowledged(routed)
            completion(.success(()))
        case .notStored(let error): completion(.failure(.notStored(error)))
        case .closed: completion(.failure(.closed))
        case .admitted(let number), .waits(let number): return Ticket(number: number)
        }
        return nil
    }

    /// Takes a whole batch at once, or nothing of it; never waits for room or for the journal.
    func offer(_ batch: EventBatch) -> TrackOutcome {
        let routed = router.route(batch)
        let kept = staying { _ in }
        let offer = decide { state, actions in
            state.offer(routed, completion: kept, now: clock.now, actions: &actions)
        }
        switch offer {
        case .acknowledged:
            metrics.acknowledged(routed)
            return .taken
        case .admitted: return .taken
        case .full: return .full
        case .notStored: return .notStored
        case .closed: return .closed
        }
    }

    /// Makes the pipeline stay until a batch on its way to the journal is decided about, though nobody else may know the
    /// pipeline any more.
    private func staying(
        until completion: @escaping @Sendable (Result<Void, SubmissionError>) -> Void
    ) -> @Sendable (Result<Void, SubmissionError>) -> Void {
        guard journaling != nil else { return completion }
        return { result in
            completion(result)
            withExtendedLifetime(self) {}
        }
    }

    /// Stops waiting for room, or for the commit to the journal to begin.
    ///
    /// Where that comes in time the completion is called with `withdrawn`, before this returns.
    @discardableResult
    public func withdraw(_ ticket: Ticket) -> Withdrawal {
        decide { state, actions in state.withdraw(number: ticket.number, now: clock.now, actions: &actions) }
    }

    /// Whether events are taken and delivered: `unreadyReasons` is empty.
    public var isReady: Bool { unreadyReasons.isEmpty }

    /// Why the pipeline takes no events at this moment, or does not run; empty where it does.
    ///
    /// A tracker is never a reason: while its destination is unavailable, its events wait in the journal. Without a
    /// journal they wait in its queue, and the reason is `queuesFull` once that is full.
    public var unreadyReasons: [UnreadyReason] {
        decide { state, _ in state.unreadyReasons(now: clock.now()) }
    }

    /// What the pipeline has done so far.
    public var statistics: PipelineStatistics {
        decide { state, _ in state.statistics }
    }

    /// Waits until every event taken so far is delivered, refused, parked or dropped; they do not linger.
    ///
    /// Taken are those that were acknowledged, and those of which `tryTrack` said so.
    ///
    /// Returns early when the pipeline has run, and when the task is cancelled.
    public func flush() async {
        let number = nextFlush.add(1, ordering: .relaxed).newValue
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                decide { state, actions in actions = state.flush(number: number) { continuation.resume() } }
                // A cancellation that came before found no flush to end.
                if Task.isCancelled { abandonFlush(number) }
            }
        } onCancel: {
            abandonFlush(number)
        }
    }

    /// Delivers what was taken so far without lingering, also what is on its way to the journal; does not wait for it.
    package func endLingering() {
        let number = nextFlush.add(1, ordering: .relaxed).newValue
        decide { state, actions in actions = state.flush(number: number) {} }
    }

    private func abandonFlush(_ number: UInt64) {
        decide { state, actions in actions = state.abandonFlush(number: number) }
    }
}

extension Pipeline {
    /// Decides under the lock, and acts on the decision after it.
    func decide<Decision>(_ body: (inout DispatchState, inout DispatchActions) -> Decision) -> Decision {
        var actions = DispatchActions()
        var woken: [CheckedContinuation<WorkerStep?, Never>] = []
        var supervisor: CheckedContinuation<SupervisorStep?, Never>?
        var committer: CheckedContinuation<Void, Never>?
        let decision = shared.withLock { shared in
            let decision = body(&shared.state, &actions)
            for queue in actions.wakes {
                if let parked = shared.parkedWorkers[queue].take() { woken.append(parked) }
            }
            if actions.wakesSupervisor { supervisor = shared.parkedSupervisor.take() }
            if actions.wakesCommitter { committer = shared.parkedCommitter.take() }
            return decision
        }
        committer?.resume()
        for worker in woken { worker.resume(returning: nil) }
        supervisor?.resume(returning: nil)
        carryOut(actions)
        return decision
    }

    private func carryOut(_ actions: DispatchActions) {
        for submission in actions.acknowledged {
            metrics.acknowledged(submission.batch)
            submission.completion(.success(()))
        }
        if actions.wakesCommitter { journaling?.beginCommitting(of: self) }
        for (submission, error) in actions.turnedDown { submission.completion(.failure(error)) }
        for flush in actions.flushed { flush() }
        for drop in actions.drops {
            metrics[drop.queue].dropped(drop.events)
            guard let events = drop.notice else { continue }
            log.dropped(events, tracker: trackers[drop.queue].name, policy: policy(ofQueue: drop.queue))
        }
    }

    private func policy(ofQueue queue: Int) -> FullPolicy {
        configuration.queue(of: trackers[queue].name).fullPolicy
    }

    /// What a worker does next; suspends until there is something.
    func nextStep(ofWorker queue: Int) async -> WorkerStep {
        while true {
            let step = await withCheckedContinuation { (continuation: CheckedContinuation<WorkerStep?, Never>) in
                let step: WorkerStep? = shared.withLock { shared in
                    let step = shared.state.nextStep(of: queue, now: clock.now())
                    guard case .wait = step else { return step }
                    shared.parkedWorkers[queue] = continuation
                    return nil
                }
                if let step { continuation.resume(returning: step) }
            }
            if let step { return step }
        }
    }

    /// Suspends until a batch may be on its way to the journal, or none will be.
    func parkCommitter(_ continuation: CheckedContinuation<Void, Never>) {
        let hasWork = shared.withLock { shared in
            if shared.state.hasCommitterWork { return true }
            shared.parkedCommitter = continuation
            return false
        }
        if hasWork { continuation.resume() }
    }

    /// What the supervisor does next; suspends until there is something.
    func nextSupervisorStep() async -> SupervisorStep {
        while true {
            let step = await withCheckedContinuation { (continuation: CheckedContinuation<SupervisorStep?, Never>) in
                let step: SupervisorStep? = decideSupervisorStep(parking: continuation)
                if let step { continuation.resume(returning: step) }
            }
            if let step { return step }
        }
    }

    private func decideSupervisorStep(
        parking continuation: CheckedContinuation<SupervisorStep?, Never>
    ) -> SupervisorStep? {
        var actions = DispatchActions()
        let step: SupervisorStep? = shared.withLock { shared in
            let step = shared.state.nextSupervisorStep(now: clock.now(), actions: &actions)
            guard step == .wait else { return step }
            shared.parkedSupervisor = continuation
            return nil
        }
        carryOut(actions)
        return step
    }

    /// Wakes workers so that they ask for their next step.
    func wake(_ queues: QueueSet) {
        decide { _, actions in actions.wakes = queues }
    }
}
