import EventJournal
public import EventModel
public import EventQuarantine
import EventSchema
public import EventValidation
public import Logging
public import ServiceLifecycle
import Synchronization
public import TrackerKit

/// Accepts checked events, and delivers them through a queue and a worker for each tracker.
///
/// A pipeline accepts batches as soon as it exists. Trackers are started and events delivered while `run` runs.
/// An event goes to those of its trackers that are configured. An event without a configured tracker is accepted, not delivered,
/// and is counted as `unrouted`; `unconfiguredTrackers` lists such events beforehand.
///
/// If a queue with the policy `wait` is full, a batch that needs it waits as a whole, and later batches that need the same queue
/// wait behind it. The memory of waiting batches belongs to their senders, and the queues' limits do not bound it: a sender
/// bounds it by waiting for each acknowledgement or by `withdraw`.
///
/// If one operation of the journal's disk takes longer than `commitOverdueAfter`, the pipeline is not ready and rejects new
/// batches at once until the disk answers.
public final class Pipeline: Service {
    let trackers: [any Tracker]
    /// The plan; a lock of its own, because batches are routed before the pipeline's lock is taken.
    let planInUse: Mutex<PlanInUse>
    let configuration: Configuration
    let log: PipelineLog
    let clock: RelativeClock
    let metrics: PipelineMetrics
    /// The tombstones of people whose events no tracker gets; none unless the process sets them.
    package let tombstones = TombstoneRegister()
    let gauges: PipelineGauges
    /// Shows events to those who watch.
    let feed: EventFeed
    let quarantine: Quarantine
    let journal: PipelineJournal?
    let jitter: @Sendable () -> Double
    let now: @Sendable () -> Timestamp
    private let shared: Mutex<Shared>
    private let nextFlush = Atomic<UInt64>(0)

    /// What the lock guards: the state, and the tasks that are suspended until it changes.
    private struct Shared: Sendable {
        var state: DispatchState
        var parkedWorkers: [CheckedContinuation<WorkerStep?, Never>?]
        var parkedSupervisor: CheckedContinuation<SupervisorStep?, Never>?
        var parkedCommitter: CheckedContinuation<Void, Never>?
    }

    /// Makes a queue for each tracker; at most 64 of them, whose names are unique, ignoring case.
    ///
    /// `clock` measures lingering, pauses and deadlines. `jitter` returns numbers from 0 up to 1, by which pauses
    /// vary. `now` returns the time of typed events.
    ///
    /// - Throws: `PipelineError` if there are more than 64 trackers or two with the same name, or if a tracker's `checkSettings`
    ///   throws.
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
            Parts(
                trackers: CheckedTrackers(trackers, catalog: catalog),
                configuration: configuration,
                quarantine: quarantine,
                logger: logger,
                clock: RelativeClock(clock),
                jitter: jitter,
                now: now
            ),
            journal: nil
        )
    }

    /// What a pipeline is made of, besides its journal.
    struct Parts {
        let trackers: CheckedTrackers
        let configuration: Configuration
        let quarantine: Quarantine
        let logger: Logger
        let clock: RelativeClock
        let jitter: @Sendable () -> Double
        let now: @Sendable () -> Timestamp
        let metrics: PipelineMetrics

        init(
            trackers: CheckedTrackers,
            configuration: Configuration,
            quarantine: Quarantine,
            logger: Logger,
            clock: RelativeClock = RelativeClock(ContinuousClock()),
            jitter: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
            now: @escaping @Sendable () -> Timestamp = Timestamp.now
        ) {
            self.trackers = trackers
            self.configuration = configuration
            self.quarantine = quarantine
            self.logger = logger
            self.clock = clock
            self.jitter = jitter
            self.now = now
            metrics = PipelineMetrics(trackerNames: trackers.names)
        }
    }

    init(_ parts: Parts, journal: PipelineJournal?) {
        let names = parts.trackers.names
        trackers = parts.trackers.trackers
        var configuration = parts.configuration.addingLimits(of: trackers)
        // Parked events could not be recovered from a quarantine that discards them.
        if parts.quarantine.isDiscarding { configuration.parkAfter = nil }
        self.configuration = configuration
        self.journal = journal
        clock = parts.clock
        jitter = parts.jitter
        now = parts.now
        log = PipelineLog(logger: parts.logger, clock: parts.clock)
        metrics = parts.metrics
        gauges = metrics.gauges(trackerNames: names, hasJournal: journal != nil)
        planInUse = Mutex(
            PlanInUse(
                isFirst: true,
                trackers: parts.trackers,
                counters: metrics.counters(for: parts.trackers.catalog),
                eventTimes: configuration.eventTimes,
                now: parts.now
            )
        )
        feed = EventFeed(clock: parts.clock)
        quarantine = parts.quarantine
        var checkpointing: QueueSet = []
        for queue in trackers.trackerIndices where journal != nil && trackers[queue] is any CheckpointingTracker {
            checkpointing.insert(queue)
        }
        shared = Mutex(
            Shared(
                state: DispatchState(
                    trackerNames: names,
                    configuration: configuration,
                    cursors: journal?.cursors ?? [],
                    published: journal?.end,
                    checkpointing: checkpointing
                ),
                parkedWorkers: Array(repeating: nil, count: names.count)
            )
        )
    }

    deinit {
        // The committer finds that the pipeline is gone, and ends.
        shared.withLock { $0.parkedCommitter.take() }?.resume()
    }

    /// The names of the trackers, in the order in which they were given to the pipeline.
    package var trackerNames: [String] { trackers.map(\.name) }

    /// The times that new events may have, relative to their arrival.
    package var eventTimes: TimeWindow { configuration.eventTimes }

    /// When a batch is acknowledged.
    package var acknowledgementPolicy: AcknowledgementPolicy { configuration.acknowledgement }

    /// The plan in use at this time.
    var plan: PlanInUse { planInUse.withLock { $0 } }

    /// Whether the pipeline accepts and delivers events: `unreadyReasons` is empty.
    public var isReady: Bool { unreadyReasons.isEmpty }

    /// Why the pipeline does not accept events now, or does not run; empty if it is ready.
    ///
    /// A tracker is never a reason: while its destination is unavailable, its events wait in the journal. Without a
    /// journal they wait in its queue, and the reason is `queuesFull` once the queue is full.
    public var unreadyReasons: [UnreadyReason] {
        decide { state, _ in state.unreadyReasons(now: clock.now()) }
    }

    /// What the pipeline has done so far.
    public var statistics: PipelineStatistics {
        var (statistics, unread) = decide { state, _ in (state.statistics(now: clock.now()), state.unreadPlaces) }
        guard let journal else { return statistics }
        statistics.journal = journal.statistics
        for (index, place) in unread.enumerated() {
            guard let from = place.from else { continue }
            let unread = max(0, journal.earlierEvents(from: from) - place.counted)
            statistics.trackers[index].lagEvents += unread
            statistics.trackers[index].lagIsUpperBound = unread > 0
        }
        return statistics
    }

    /// Waits until every event accepted so far is delivered, refused, parked or dropped; these events do not linger.
    ///
    /// This includes events that `tryTrack` accepted and that are not committed yet. `flush` returns early if the pipeline ends or
    /// the task is cancelled. Before the pipeline runs, nothing is delivered, so `flush` waits until it runs.
    public func flush() async {
        let number = nextFlush.add(1, ordering: .relaxed).newValue
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                decide { state, actions in
                    state.flush(number: number, completion: { continuation.resume() }, actions: &actions)
                }
                // An earlier cancellation found no flush to end.
                if Task.isCancelled { abandonFlush(number) }
            }
        } onCancel: {
            abandonFlush(number)
        }
    }

    /// Lets the events accepted so far, including those not committed yet, be delivered without lingering; does not wait.
    package func endLingering() {
        let number = nextFlush.add(1, ordering: .relaxed).newValue
        decide { state, actions in state.flush(number: number, completion: {}, actions: &actions) }
    }

    private func abandonFlush(_ number: UInt64) {
        decide { state, actions in state.abandonFlush(number: number, actions: &actions) }
    }
}

extension Pipeline {
    /// Makes a decision under the lock, and carries it out after the lock is released.
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
        for submission in actions.acknowledged { observe(acknowledged: submission.batch) }
        if actions.wakesCommitter { journal?.beginCommitting(of: self) }
        for (submission, answer) in actions.answered { submission.completion(answer) }
        for flush in actions.flushed { flush() }
        for drop in actions.drops {
            metrics[drop.queue].dropped(drop.events)
            log.dropped(drop.events, tracker: trackers[drop.queue].name, policy: policy(ofQueue: drop.queue))
        }
    }

    private func policy(ofQueue queue: TrackerIndex) -> FullPolicy {
        configuration.queue(of: trackers[queue].name).fullPolicy
    }

    /// A worker's next step; suspends until there is one.
    func nextStep(ofWorker queue: TrackerIndex) async -> WorkerStep {
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

    /// Resumes the continuation when a batch may be waiting for its commit, or when no more will come.
    func parkCommitter(_ continuation: CheckedContinuation<Void, Never>) {
        let hasWork = shared.withLock { shared in
            if shared.state.hasCommitterWork { return true }
            shared.parkedCommitter = continuation
            return false
        }
        if hasWork { continuation.resume() }
    }

    /// The supervisor's next step; suspends until there is one.
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
