import EventModel
import EventPipeline
import EventValidation
import SluiceTesting
import Synchronization
import TestCases
import Testing
import TrackerKit

/// A pipeline without clock, tasks and threads: everything that can happen to a `DispatchState` happens in an order
/// that a seed decides, and after each happening the promises are looked at.
///
/// Workers are as deaf as real ones: one that waits asks for its next step only after it was woken or its timer fired.
struct DispatchSimulation {
    static let names = ["waits", "waits-too", "newest", "oldest"]
    static let catalog = EventCatalog.scripted([
        "W": ["waits"], "WW": ["waits", "waits-too"], "N": ["newest", "waits-too"], "O": ["oldest"],
        "All": ["waits", "waits-too", "newest", "oldest"], "None": ["nobody"],
    ])
    static let limits: [(capacity: Int, policy: FullPolicy)] = [
        (20, .wait), (12, .wait), (15, .dropNewest), (15, .dropOldest),
    ]

    enum Worker {
        case awake
        case parked
        case delivering(Delivery)
        case ended
    }

    /// What is known of one queue from outside.
    struct Ledger {
        /// The events meant for it, in the order of acknowledgement.
        var meant: [Int] = []
        /// The events of all first tries, in order.
        var tried: [Int] = []
        var settled: Set<Int> = []
        var dropped = 0
        var largestSlice = 0
    }

    final class Outcomes: Sendable {
        let results = Mutex<[Int: [Result<Pipeline.Acknowledgement, TrackError>]]>([:])
        let endedFlushes = Mutex(0)
    }

    var random: SeededGenerator
    var state: DispatchState
    var now: Duration = .zero
    var workers: [Worker] = Array(repeating: .awake, count: 4)
    var timers: [(time: Duration, queue: TrackerIndex)] = []
    var ledgers = Array(repeating: Ledger(), count: 4)
    let router = Router(catalog: Self.catalog, trackerNames: Self.names)
    let outcomes = Outcomes()
    var nextEvent = 0
    /// By submission: its batch, and its ticket where it waited.
    var submissions: [(batch: EventBatch, ticket: UInt64?)] = []
    var acknowledged: [Int] = []
    /// The last submission acknowledged for just these queues.
    var lastAcknowledged: [QueueSet: Int] = [:]
    var flushes = 0
    /// The largest capacity that each queue has had.
    var largestCapacities = Self.limits.map(\.capacity)

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let configuration = Self.configuration(maximumEvents: 7, capacities: Self.limits.map(\.capacity))
        state = DispatchState(trackerNames: Self.names, configuration: configuration)
        _ = state.run()
    }

    static func configuration(maximumEvents: Int, capacities: [Int]) -> Pipeline.Configuration {
        var configuration = Pipeline.Configuration()
        configuration.delivery = .init(maximumEvents: maximumEvents, maximumBytes: 3000, linger: .milliseconds(100))
        configuration.shutdownTimeout = .seconds(5)
        for (queue, name) in names.enumerated() {
            configuration.queueByTracker[name] = .init(
                capacityInEvents: capacities[queue],
                capacityInBytes: 1 << 20,
                fullPolicy: limits[queue].policy
            )
        }
        return configuration
    }

    mutating func act<Decision>(_ body: (inout DispatchState, inout DispatchActions) -> Decision) -> Decision {
        var actions = DispatchActions()
        let decision = body(&state, &actions)
        for queue in actions.wakes where workers[queue].isParked { workers[queue] = .awake }
        for drop in actions.drops { ledgers[drop.queue].dropped += drop.events }
        for (submission, answer) in actions.answered { submission.completion(answer) }
        for flush in actions.flushed { flush() }
        for submission in actions.acknowledged { noteAcknowledged(ticket: submission.number) }
        return decision
    }

    private mutating func noteAcknowledged(ticket: UInt64) {
        guard let number = submissions.firstIndex(where: { $0.ticket == ticket }) else {
            Issue.record("a submission nobody made was acknowledged")
            return
        }
        noteAcknowledged(number)
    }

    mutating func noteAcknowledged(_ number: Int) {
        acknowledged.append(number)
        let batch = router.route(submissions[number].batch)
        if let last = lastAcknowledged.updateValue(number, forKey: batch.queues), last > number {
            Issue.record("submission \(last) passed submission \(number), which wants the same queues")
        }
        for queue in batch.queues {
            guard let slice = batch.slice(of: queue) else { continue }
            ledgers[queue].meant += Delivery([slice]).map(\.number)
            ledgers[queue].largestSlice = max(ledgers[queue].largestSlice, slice.count)
        }
    }
}

extension DispatchSimulation.Worker {
    var isParked: Bool { if case .parked = self { true } else { false } }
    var isEnded: Bool { if case .ended = self { true } else { false } }
    var delivery: Delivery? { if case .delivering(let delivery) = self { delivery } else { nil } }
}
