import EventJournal
import EventModel
import EventValidation
import SluiceTesting
import Synchronization
import Testing
import TrackerKit

@Suite("The tracker contract", .timeLimit(.minutes(5)))
struct TrackerContractTests {
    @Test("a tracker that keeps all promises passes")
    func passes() async throws {
        try await contract { MemoryTracker($0) }.verify()
    }

    private static let flaws: [(MemoryTracker.Flaw, String)] = [
        (.losesTheLast, "one event is delivered once; instead: 1 of 1 events are not there"),
        (.doubles, "many events are delivered once each; instead: 1000 events are there 2000 times"),
        (
            .reverses,
            "consecutive deliveries arrive in that order; instead: the events arrived in another"
        ),
        (.ignoresSlices, "a delivery of many slices is delivered completely, and nothing else is"),
        (
            .refuses,
            "one event is delivered once; instead: 1 of 1 good events were refused, the first because: mood"
        ),
        (.namesWrongPositions, "an empty delivery is delivered; instead: 1 positions are outside the delivery"),
        (
            .ignoresCancellation,
            "a delivery cancelled during an outage returns in time, with a retry and without refusals; "
                + "instead: it had not"
        ),
        (
            .losesOnCancellation,
            "a delivery cancelled during an outage returns in time, with a retry and without refusals; instead: the outcome"
        ),
        (.cannotStart, "a tracker that has started can stop without a delivery; instead: it threw Scripted wrong"),
        (
            .cannotStartAgain,
            "a tracker that is started again, for a new plan, delivers the events of this plan; instead: it threw Scripted"
        ),
        (
            .keepsFirstPlan,
            "a tracker that is started again, for a new plan, delivers the events of this plan; "
                + "instead: 20 of 40 events are not there"
        ),
    ]

    @Test("a tracker that breaks a promise fails, and the error names the promise", arguments: flaws)
    func fails(flaw: MemoryTracker.Flaw, text: String) async throws {
        let error = await #expect(throws: TrackerContract.BrokenPromises.self) {
            try await contract(cancellationLimit: .milliseconds(300)) { MemoryTracker($0, flaw) }.verify()
        }
        #expect(error?.description.contains(text) == true, "\(error?.description ?? "")")
    }

    @Test("if the contract requires deduplication, only a tracker whose destination ignores duplicates passes")
    func deduplication() async throws {
        try await contract(deduplicates: true) { MemoryTracker($0, .deduplicates) }.verify()
        let error = await #expect(throws: TrackerContract.BrokenPromises.self) {
            try await contract(deduplicates: true) { MemoryTracker($0) }.verify()
        }
        #expect(error?.promises.map(\.promise) == ["a repeated delivery is delivered again, with the same ids"])
    }

    private static let checkpointFlaws: [(CheckpointingMemoryTracker.Flaw, String?)] = [
        (.none, nil),
        (
            .forgets,
            "a checkpoint is stored with the delivered events, and a new tracker can read it; "
                + "instead: the stored checkpoint is none"
        ),
        (
            .keepsTheGreatest,
            "a delivery replaces the checkpoint, and a delivery without one leaves it unchanged; instead"
        ),
        (.clears, "a delivery without one leaves it unchanged; instead: the stored checkpoint is none, not 6"),
        (
            .mixesJournals,
            "the checkpoints of two journals are kept apart; instead: the stored checkpoint is 22, not 11"
        ),
        (
            .overwrites,
            "a tracker replaces only the checkpoint that it read or stored last; "
                + "instead: a tracker that has not read it answers delivered"
        ),
        (
            .deliversUnstored,
            "a tracker replaces only the checkpoint that it read or stored last; "
                + "instead: 5 events of a tracker that has not"
        ),
        (
            .deliversParts,
            "a tracker replaces only the checkpoint that it read or stored last; "
                + "instead: a tracker that has not read it answers delivered"
        ),
        (
            .forgetsAtStart,
            "a tracker that is started again, for a new plan, still knows the stored checkpoint; "
                + "instead: 5 of 5 events are to be tried again"
        ),
        (.storesFirst, "after an outage a checkpoint is stored only if all its events are; instead: 100 of 100"),
    ]

    @Test(
        "a CheckpointingTracker is held to the promises about checkpoints, and the error names a broken one",
        arguments: checkpointFlaws
    )
    func checkpoints(flaw: CheckpointingMemoryTracker.Flaw, text: String?) async throws {
        let contract = contract { CheckpointingMemoryTracker($0, flaw) }
        guard let text else { return try await contract.verify() }
        let error = await #expect(throws: TrackerContract.BrokenPromises.self) { try await contract.verify() }
        #expect(error?.description.contains(text) == true, "\(error?.description ?? "")")
    }

    private func contract(
        deduplicates: Bool = false,
        cancellationLimit: Duration = .seconds(10),
        _ makeTracker: @escaping @Sendable (MemoryDestination) -> any Tracker
    ) -> TrackerContract {
        let destination = MemoryDestination()
        return TrackerContract(
            traits: .init(
                deduplicates: deduplicates,
                largestDeliveryInEvents: 2000,
                largestEventInBytes: 4096,
                cancellationLimit: cancellationLimit
            ),
            outage: .init(
                begin: { destination.isUp.update { $0 = false } },
                end: { destination.isUp.update { $0 = true } }
            ),
            makeTracker: { makeTracker(destination) },
            delivered: { destination.ids.withLock { $0 } }
        )
    }
}

/// The destination of the trackers in these tests.
final class MemoryDestination: Sendable {
    let ids = Mutex<[EventID]>([])
    let checkpoints = Mutex<[JournalID: UInt64]>([:])
    let isUp = Watched(true)
}

/// A tracker that keeps all promises except one.
final class MemoryTracker: Tracker {
    enum Flaw: Sendable {
        case none, losesTheLast, doubles, reverses, ignoresSlices, refuses, namesWrongPositions
        case ignoresCancellation, losesOnCancellation, cannotStart, cannotStartAgain, keepsFirstPlan, deduplicates
    }

    let name = "memory"
    private let destination: MemoryDestination
    private let flaw: Flaw
    /// The catalog that it was first started for.
    private let firstCatalog = Mutex<EventCatalog?>(nil)

    init(_ destination: MemoryDestination, _ flaw: Flaw = .none) {
        self.destination = destination
        self.flaw = flaw
    }

    func start(for catalog: EventCatalog) async throws(TrackerError) {
        let isFirst = firstCatalog.withLock { first in
            defer { first = first ?? catalog }
            return first == nil
        }
        if flaw == .cannotStart || flaw == .cannotStartAgain && !isFirst { throw ScriptedTracker.misconfiguration }
    }

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let isUp = destination.isUp
        if flaw == .ignoresCancellation {
            await Task { await isUp.wait { $0 } }.value
        } else {
            await isUp.wait { $0 }
        }
        if Task.isCancelled, !isUp.value {
            return flaw == .losesOnCancellation ? .delivered : .retry(ScriptedTracker.outage)
        }
        let ids = kept(of: delivery)
        destination.ids.withLock { known in
            let old = flaw == .deduplicates ? Set(known) : []
            known += ids.filter { !old.contains($0) }
        }
        switch flaw {
        case .refuses where delivery.count > 0: return .refused([.init(position: 0, reason: "mood")])
        case .namesWrongPositions: return .refused([.init(position: delivery.count, reason: "off by one")])
        default: return .delivered
        }
    }

    private func kept(of delivery: Delivery) -> [EventID] {
        let ids = delivery.map(\.id)
        switch flaw {
        case .losesTheLast: return ids.dropLast()
        case .doubles: return ids + ids
        case .reverses: return ids.reversed()
        case .ignoresSlices: return delivery.slices.flatMap { $0.batch.entries.map(\.id) }
        case .refuses: return Array(ids.dropFirst())
        case .keepsFirstPlan:
            let first = firstCatalog.withLock { $0 }
            return delivery.filter { $0.batch.catalog === first }.map(\.id)
        default: return ids
        }
    }
}

/// A tracker that stores checkpoints with its events, and keeps all promises except one.
final class CheckpointingMemoryTracker: CheckpointingTracker {
    enum Flaw: Sendable {
        case none, forgets, forgetsAtStart, keepsTheGreatest, clears, mixesJournals, storesFirst, overwrites,
            deliversUnstored, deliversParts
    }

    private static let superseded = TrackerError(
        code: .superseded,
        message: "Somebody else has stored a checkpoint.",
        isRetryable: false
    )

    let name = "memory"
    private let destination: MemoryDestination
    private let events: MemoryTracker
    private let flaw: Flaw
    /// The checkpoints that it knows to be stored, for the journals that it was asked about.
    private let known = Mutex<[JournalID: UInt64?]>([:])

    init(_ destination: MemoryDestination, _ flaw: Flaw) {
        self.destination = destination
        self.flaw = flaw
        events = MemoryTracker(destination)
    }

    func start(for catalog: EventCatalog) async throws(TrackerError) {
        if flaw == .forgetsAtStart { known.withLock { $0 = [:] } }
    }

    func checkpoint(ofJournal journal: JournalID) async throws(TrackerError) -> UInt64? {
        let stored = destination.checkpoints.withLock { $0[journal] }
        known.withLock { $0[journal] = .some(stored) }
        return stored
    }

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let isOurs = isOurs(delivery)
        if !isOurs, flaw != .deliversUnstored { return .retry(Self.superseded) }
        if flaw == .storesFirst { store(delivery.checkpoint) }
        let outcome = await events.deliver(delivery)
        if !isOurs { return .retry(Self.superseded) }
        if outcome.retry == nil, outcome.refusals.isEmpty { store(delivery.checkpoint) }
        return outcome
    }

    /// Whether the stored checkpoint is the one that it knows.
    private func isOurs(_ delivery: Delivery) -> Bool {
        let comparing: [Flaw] = [.none, .forgetsAtStart, .deliversUnstored, .deliversParts]
        guard let journal = delivery.journal, comparing.contains(flaw) else { return true }
        if flaw == .deliversParts, delivery.checkpoint == nil { return true }
        let stored = destination.checkpoints.withLock { $0[journal] }
        return known.withLock { known in
            guard let expected = known[journal], expected == stored else {
                known[journal] = nil
                return false
            }
            return true
        }
    }

    private func store(_ checkpoint: Checkpoint?) {
        if let checkpoint { known.withLock { $0[checkpoint.journal] = .some(checkpoint.nextSequence) } }
        let journals = known.withLock { Array($0.keys) }
        destination.checkpoints.withLock { stored in
            guard let checkpoint else {
                if flaw == .clears { stored = [:] }
                return
            }
            switch flaw {
            case .forgets: break
            case .keepsTheGreatest:
                stored[checkpoint.journal] = max(stored[checkpoint.journal] ?? 0, checkpoint.nextSequence)
            case .mixesJournals: for journal in journals { stored[journal] = checkpoint.nextSequence }
            default: stored[checkpoint.journal] = checkpoint.nextSequence
            }
        }
    }
}
