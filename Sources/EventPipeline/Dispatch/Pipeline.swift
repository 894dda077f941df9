public import EventModel
public import Journal
public import Logging
public import ServiceLifecycle
import Synchronization

/// Why the pipeline did not take a batch.
///
/// Nothing of the batch was taken.
public enum SubmissionError: Error, Sendable, Hashable {
    /// Taken back by `withdraw`, while it waited for room in a full queue.
    case withdrawn
    /// The pipeline is shutting down.
    case closed
    /// The journal did not take it; the error says whether it may later.
    case notStored(JournalError)
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
public final class Pipeline: Service {
    /// Stands for a batch that waits for room.
    public struct Ticket: Sendable, Hashable {
        package let number: UInt64
    }

    /// The events that name a tracker that is not configured, by tracker; worth a warning at start.
    public let unconfiguredTrackers: [(tracker: String, events: [String])]

    let trackers: [any Tracker]
    let catalog: EventCatalog
    let configuration: Configuration
    let log: PipelineLog
    let clock: PipelineClock
    let metrics: PipelineMetrics
    let rejects: Quarantine
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
    }

    /// Makes a queue for each tracker; at most 64 of them, with names that differ in more than case.
    ///
    /// `clock` is what lingering, pauses and deadlines go by. `jitter` gives numbers from 0 up to 1, by which pauses
    /// vary. `now` tells when typed events are tracked.
    public convenience init(
        catalog: EventCatalog,
        trackers: [any Tracker],
        configuration: Configuration = Configuration(),
        quarantine: Quarantine,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock(),
        jitter: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.init(
            catalog: catalog,
            trackers: trackers,
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
        trackers: [any Tracker],
        configuration: Configuration,
        journaling: Journaling?,
        quarantine: Quarantine,
        logger: Logger,
        clock: some Clock<Duration>,
        jitter: @escaping @Sendable () -> Double,
        now: @escaping @Sendable () -> Timestamp
    ) {
        let names = trackers.map(\.name)
        precondition(names.count <= EventCatalog.maximumTrackers, "a pipeline has at most 64 trackers")
        precondition(Set(names.map { $0.lowercased() }).count == names.count, "two trackers have the same name")
        self.catalog = catalog
        self.trackers = trackers
        self.configuration = configuration
        self.journaling = journaling
        self.clock = PipelineClock(clock)
        self.jitter = jitter
        self.now = now
        builders = BuilderPool { EventBatchBuilder(catalog: catalog, now: now) }
        log = PipelineLog(logger: logger)
        metrics = PipelineMetrics(trackerNames: names)
        rejects = quarantine
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
        journaling?.committer.close()
    }

    /// Takes a whole batch or nothing of it.
    ///
    /// `completion` is called exactly once: before this returns, or later, on any thread. There is a ticket where the
    /// batch waits for room, which is when it can be withdrawn.
    /// Success means acknowledged: the batch is in the queue of every tracker its events name, or with a journal in the
    /// journal.
    public func submit(
        _ batch: EventBatch,
        completion: @escaping @Sendable (Result<Void, SubmissionError>) -> Void
    ) -> Ticket? {
        let routed = router.route(batch)
        let admission = decide { state, actions in
            state.submit(routed, completion: completion, now: clock.now, actions: &actions)
        }
        switch admission {
        case .acknowledged:
            metrics.acknowledged(routed)
            completion(.success(()))
            return nil
        case .admitted:
            commit(routed, completion: completion)
            return nil
        case .waits(let number):
            return Ticket(number: number)
        case .closed:
            completion(.failure(.closed))
            return nil
        }
    }

    /// Takes a whole batch at once, or nothing of it; never waits for room or for the journal.
    func offer(_ batch: EventBatch) -> TrackOutcome {
        let routed = router.route(batch)
        let offer = decide { state, actions in state.offer(routed, now: clock.now, actions: &actions) }
        switch offer {
        case .acknowledged:
            metrics.acknowledged(routed)
            return .taken
        case .admitted:
            commit(routed) { _ in }
            return .taken
        case .full: return .full
        case .notStored: return .notStored
        case .closed: return .closed
        }
    }

    /// Stops waiting for room: the completion is called with `withdrawn`, unless it was called before.
    ///
    /// A batch that is on its way to the journal cannot be withdrawn any more.
    public func withdraw(_ ticket: Ticket) {
        decide { state, actions in
            actions = state.withdraw(number: ticket.number, now: clock.now)
        }
    }

    /// Whether every tracker has started and the pipeline is not shutting down.
    public var isReady: Bool {
        decide { state, _ in state.isReady }
    }

    /// What the pipeline has done so far.
    public var statistics: PipelineStatistics {
        decide { state, _ in state.statistics }
    }

    /// Waits until every event taken so far is delivered, refused or dropped; they do not linger.
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

    /// Delivers what was acknowledged so far without lingering; does not wait for it.
    package func endLingering() {
        decide { state, actions in actions.wakes = state.endLingering() }
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
        let decision = shared.withLock { shared in
            let decision = body(&shared.state, &actions)
            for queue in actions.wakes {
                if let parked = shared.parkedWorkers[queue].take() { woken.append(parked) }
            }
            if actions.wakesSupervisor { supervisor = shared.parkedSupervisor.take() }
            return decision
        }
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
        for submission in actions.admitted { commit(submission.batch, completion: submission.completion) }
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
