import EventJournal
import EventPipeline
import EventValidation
import SluiceTesting
import Synchronization
import TrackerKit

/// Drives a `DispatchState` by hand, with time as a number, and collects the results of the submissions.
final class DispatchStateHarness {
    static let catalog = EventCatalog.scripted([
        "A": ["alpha"], "B": ["beta"], "AB": ["alpha", "beta"], "None": ["nobody"],
    ])

    private final class Results: Sendable {
        let byNumber = Mutex<[Int: Result<Pipeline.Acknowledgement, TrackError>]>([:])
    }

    var state: DispatchState
    var now: Duration = .zero
    private let router = Router(catalog: catalog, trackerNames: ["alpha", "beta"])
    private let results = Results()
    private var nextEvent = 0
    private var nextSequence: UInt64 = 0
    /// The actions of the last decision.
    private(set) var actions = DispatchActions()

    init(_ configuration: Pipeline.Configuration, hasJournal: Bool = false, checkpointing: QueueSet = []) {
        state = DispatchState(
            trackerNames: ["alpha", "beta"],
            configuration: configuration,
            cursors: hasJournal ? [0, 0] : [],
            published: hasJournal ? 0 : nil,
            checkpointing: checkpointing
        )
    }

    /// Submits a number of events with one name; returns the decision.
    @discardableResult
    func submit(_ count: Int, _ name: String, number: Int = -1) -> DispatchState.Admission {
        let events = (0..<count).map { ScriptedEvent(name, number: nextEvent + $0) }
        return submit(events, number: number)
    }

    @discardableResult
    func submit(_ events: [ScriptedEvent], number: Int = -1) -> DispatchState.Admission {
        nextEvent += events.count
        let batch = router.route(.scripted(catalog: Self.catalog, events: events))
        let results = results
        return act { state, actions in
            let now = now
            return state.submit(
                batch,
                mayWait: true,
                completion: { result in results.byNumber.withLock { $0[number] = result } },
                now: { now },
                actions: &actions
            )
        }
    }

    /// Submits a number of events with one name, which may not wait.
    func offer(_ count: Int, _ name: String) -> DispatchState.Admission {
        let events = (0..<count).map { ScriptedEvent(name, number: nextEvent + $0) }
        nextEvent += count
        let batch = router.route(.scripted(catalog: Self.catalog, events: events))
        let now = now
        return act { state, actions in
            state.submit(batch, mayWait: false, completion: { _ in }, now: { now }, actions: &actions)
        }
    }

    /// Begins the commit of the oldest batch in the commit queue, and of no other.
    func beginCommit() {
        let now = now
        _ = act { state, _ in state.nextCommitterStep(maximumBytes: 0, now: now) }
    }

    /// Ends the commit that is being written.
    func endCommit(_ error: JournalError? = nil) {
        let now = now
        let outcome = error.map { Result<UInt64, JournalError>.failure($0) } ?? .success(nextSequence)
        let (ended, answered) = act { state, actions in state.endCommit(outcome, now: { now }, actions: &actions) }
        for submission in answered {
            submission.completion(error.map { .failure(.notStored($0)) } ?? .success(.stored))
        }
        if error == nil { nextSequence += ended.reduce(0) { $0 + UInt64($1.batch.count) } }
    }

    /// Commits the oldest batch in the commit queue.
    func commitNext() {
        beginCommit()
        endCommit()
    }

    /// Fails the commit of the oldest batch in the commit queue.
    func failNext(_ code: JournalError.Code = .tooLarge) {
        beginCommit()
        endCommit(JournalError(code, "scripted"))
    }

    /// Begins a flush; the result says whether it is over.
    func flush(number: UInt64) -> () -> Bool {
        let flag = Flag()
        act { state, actions in
            state.flush(
                number: number,
                completion: { flag.isRaised.store(true, ordering: .relaxed) },
                actions: &actions
            )
        }
        return { flag.isRaised.load(ordering: .relaxed) }
    }

    private final class Flag: Sendable {
        let isRaised = Atomic(false)
    }

    @discardableResult
    func withdraw(_ admission: DispatchState.Admission) -> Pipeline.Withdrawal? {
        let number: UInt64
        switch admission {
        case .waiting(let waiting): number = waiting
        case .committing(let committing): number = committing
        case .delivering(let delivering): number = delivering
        case .acknowledged, .rejected, .overdue: return nil
        }
        let now = now
        return act { state, actions in state.withdraw(number: number, now: { now }, actions: &actions) }
    }

    /// The result of a submission that waited; `nil` while it waits.
    func result(of number: Int) -> Result<Pipeline.Acknowledgement, TrackError>? {
        results.byNumber.withLock { $0[number] }
    }

    func isAcknowledged(_ number: Int) -> Bool {
        if case .success = result(of: number) { true } else { false }
    }

    /// Starts both trackers, so that they can take deliveries.
    func start() {
        _ = state.run()
        for queue in state.trackers.trackerIndices {
            _ = step(queue)
            _ = act { state, actions in
                state.startReturned(of: queue, error: nil, now: now, jitter: 0, actions: &actions)
            }
        }
    }

    func step(_ queue: TrackerIndex) -> WorkerStep { state.nextStep(of: queue, now: now) }

    /// Takes the next delivery of a worker, which must have one.
    func delivery(_ queue: TrackerIndex) -> Delivery? {
        switch step(queue) {
        case .deliver(let slices): Delivery(slices)
        case .deliverAgain(let delivery): delivery
        default: nil
        }
    }

    /// Settles a delivery; by default, all of it is delivered.
    @discardableResult
    func settle(
        _ queue: TrackerIndex,
        _ delivery: Delivery,
        _ outcome: DeliveryOutcome = .delivered,
        jitter: Double = 0
    ) -> DispatchState.Report {
        let settlement = Settlement(of: delivery, outcome: outcome)
        return act { state, actions in
            state.settle(settlement, of: queue, now: now, jitter: jitter, actions: &actions)
        }
    }

    @discardableResult
    func act<Decision>(_ body: (inout DispatchState, inout DispatchActions) -> Decision) -> Decision {
        actions = DispatchActions()
        let decision = body(&state, &actions)
        for (submission, answer) in actions.answered { submission.completion(answer) }
        for flush in actions.flushed { flush() }
        return decision
    }
}

extension Pipeline.Configuration {
    /// Small queues and no lingering, so that a step is a delivery.
    static func small(
        capacityInEvents: Int = 10,
        capacityInBytes: Int = 1 << 20,
        fullPolicy: FullPolicy = .wait,
        maximumEvents: Int = 5,
        maximumBytes: Int = 1 << 20,
        linger: Duration = .zero
    ) -> Self {
        Pipeline.Configuration(
            queue: .init(
                capacityInEvents: capacityInEvents,
                capacityInBytes: capacityInBytes,
                fullPolicy: fullPolicy
            ),
            delivery: .init(maximumEvents: maximumEvents, maximumBytes: maximumBytes, linger: linger)
        )
    }
}

/// So that tests can name the first tracker 0.
extension TrackerIndex: ExpressibleByIntegerLiteral {
    package init(integerLiteral position: Int) {
        self.init(position)
    }
}
