import EventModel
import EventPipeline
import EventSchema
import EventValidation
import Logging
import PipelineTestSupport
import SluiceTesting
import TestCases
import TestPromises
import Testing
import TrackerKit

@Suite("The plan is replaced while the pipeline runs", .timeLimit(.minutes(5)))
struct PlanReplacementTests {
    private static let spilling = Pipeline.Queue(capacityInEvents: 10, fullPolicy: .spill)

    /// A plan in which the event `A` goes to these trackers and has one property of a type.
    private static func catalog(_ type: PropertyType, trackers: [String] = ["alpha"]) -> EventCatalog {
        let number = PropertyDefinition(name: "n", type: type, location: .line(2))
        return EventCatalog(
            plan: TrackingPlan(events: [
                EventDefinition(key: "A", trackers: trackers, properties: [number], location: .line(1))
            ])
        )
    }

    private static let numbers = catalog(.integer)
    private static let texts = catalog(.string)
    private static let elsewhere = catalog(.integer, trackers: ["beta"])

    private static func batch(_ numbers: Range<Int>, of catalog: EventCatalog = numbers) -> EventBatch {
        let isText = catalog === texts
        let events = numbers.map { ScriptedEvent("A", number: $0, payload: isText ? #"{"n":"x"}"# : #"{"n":1}"#) }
        return .scripted(catalog: catalog, events: events)
    }

    /// Runs a pipeline with the plan `numbers`, and returns what the quarantine holds afterwards.
    private func quarantined(
        _ trackers: [any Tracker],
        journal files: SimulatedFileSystem = SimulatedFileSystem(seed: 1),
        catalog: EventCatalog = numbers,
        flushes: Bool = true,
        log: RecordingLog = RecordingLog(),
        _ body: (Pipeline) async throws -> Void
    ) async throws -> [String] {
        try await withQuarantine { quarantine, lines in
            let harness = try PipelineHarness(
                trackers,
                journal: files,
                queue: Self.spilling,
                catalog: catalog,
                quarantine: quarantine,
                log: log
            )
            try await harness.runWithTime { pipeline in
                try await body(pipeline)
                guard flushes else { return }
                await pipeline.flush()
                #expect(pipeline.statistics.trackers.allSatisfy { $0.pendingEvents == 0 && $0.enqueued >= 0 })
            }
            return try lines()
        }
    }

    @Test(
        "a tracker is started again for the new plan, and gets the events of both plans in order",
        .promise("plan-replacement")
    )
    func restart() async throws {
        let alpha = ScriptedTracker(name: "alpha")
        let lines = try await quarantined([alpha]) { pipeline in
            try await pipeline.submit(Self.batch(0..<3))
            await alpha.waitForDelivered(3)
            try pipeline.replacePlan(with: Self.catalog(.number))
            await alpha.waitForStarts(2)
            try await pipeline.submit(Self.batch(3..<6))
            try await pipeline.submit(Self.batch(6..<9, of: pipeline.catalog))
            await alpha.waitForDelivered(9)
        }
        #expect(alpha.deliveredNumbers == Array(0..<9))
        #expect(alpha.calls.count { $0 == .start } == 2)
        #expect(lines.isEmpty)
    }

    @Test(
        "events of the earlier plan that do not follow the new one go to the quarantine",
        .promise("plan-replacement"),
        arguments: [3, 40]
    )
    func rejected(count: Int) async throws {
        let alpha = ScriptedTracker(name: "alpha", [.stall])
        let lines = try await quarantined([alpha]) { pipeline in
            try await pipeline.submit(Self.batch(0..<1))
            await alpha.waitForDeliveries(1)
            // In the queue and, beyond its capacity, in the journal.
            for number in 1..<count { try await pipeline.submit(Self.batch(number..<number + 1)) }
            try pipeline.replacePlan(with: Self.texts)
            try await pipeline.submit(Self.batch(100..<102, of: Self.texts))
            alpha.release()
        }
        #expect(alpha.deliveredNumbers == [0, 100, 101])
        #expect(lines.count == count - 1)
        #expect(lines.allSatisfy { $0.contains("wrong-type") })
    }

    @Test(
        "an event that no longer follows the plan is quarantined for the trackers that had not delivered it, with their names, as after a restart",
        .promise("plan-replacement"),
        arguments: [3, 40],
        [false, true]
    )
    func rejectedForOne(count: Int, isRestarted: Bool) async throws {
        let files = SimulatedFileSystem(seed: 5)
        let numbers = Self.catalog(.integer, trackers: ["alpha", "beta"])
        let texts = Self.catalog(.string, trackers: ["alpha", "beta"])
        let alpha = ScriptedTracker(name: "alpha")
        let beta = ScriptedTracker(name: "beta", isRestarted ? Array(repeating: .fail, count: 10_000) : [.stall])
        var lines = try await quarantined([alpha, beta], journal: files, catalog: numbers, flushes: !isRestarted) {
            try await $0.submit(Self.batch(0..<1, of: numbers))
            await beta.waitForDeliveries(1)
            for number in 1..<count { try await $0.submit(Self.batch(number..<number + 1, of: numbers)) }
            await alpha.waitForDelivered(count)
            guard !isRestarted else { return }
            try $0.replacePlan(with: texts)
            beta.release()
        }
        if isRestarted {
            #expect(lines.isEmpty)
            let trackers = [alpha, ScriptedTracker(name: "beta")]
            lines = try await quarantined(trackers, journal: files, catalog: texts) { await $0.flush() }
        }
        #expect(alpha.deliveredNumbers == Array(0..<count))
        #expect(lines.count == (isRestarted ? count : count - 1))
        #expect(lines.allSatisfy { $0.contains(#""source":"tracker:beta","stage":"delivery""#) })
        #expect(lines.allSatisfy { $0.contains(#""code":"wrong-type""#) })
    }

    @Test(
        "events that the new plan sends elsewhere are left out, from the queue and the journal, and count as nothing else",
        .promise("plan-replacement"),
        arguments: [4, 40]
    )
    func leftOut(count: Int) async throws {
        let (alpha, beta) = (ScriptedTracker(name: "alpha", [.stall]), ScriptedTracker(name: "beta"))
        let log = RecordingLog()
        let lines = try await quarantined([alpha, beta], log: log) { pipeline in
            try await pipeline.submit(Self.batch(0..<1))
            await alpha.waitForDeliveries(1)
            for number in 1..<count { try await pipeline.submit(Self.batch(number..<number + 1)) }
            try pipeline.replacePlan(with: Self.elsewhere)
            try await pipeline.submit(Self.batch(100..<102, of: Self.elsewhere))
            alpha.release()
            await beta.waitForDelivered(2)
            await pipeline.flush()
            let statistics = try #require(pipeline.statistics[tracker: "alpha"])
            #expect((statistics.enqueued, statistics.dropped, statistics.refused) == (1, 0, 0))
        }
        #expect(alpha.deliveredNumbers == [0])
        #expect(beta.deliveredNumbers == [100, 101])
        #expect(lines.isEmpty)
        let warnings = log.all.filter { $0.hasPrefix("The new plan no longer sends these events to the tracker") }
        #expect(warnings.first?.contains(" tracker=alpha") == true)
        if count == 4 { #expect(warnings.count == 1 && warnings[0].contains(" events=3 ")) }
    }

    @Test(
        "a delivery that is being retried is checked, too, by a tracker that was started for the new plan",
        .promise("plan-replacement")
    )
    func retried() async throws {
        let alpha = ScriptedTracker(name: "alpha", Array(repeating: .fail, count: 3))
        let lines = try await quarantined([alpha]) { pipeline in
            try await pipeline.submit(Self.batch(0..<2))
            await alpha.waitForDeliveries(1)
            try pipeline.replacePlan(with: Self.texts)
            try await pipeline.submit(Self.batch(2..<3, of: Self.texts))
        }
        #expect(alpha.deliveredNumbers == [2])
        #expect(lines.count == 2)
    }

    @Test(
        "if the plan is replaced during the first start of a tracker, it is started again before its first delivery",
        .promise("plan-replacement")
    )
    func duringFirstStart() async throws {
        let alpha = SlowTracker()
        let lines = try await quarantined([alpha]) { pipeline in
            await alpha.calls.wait { !$0.isEmpty }
            try pipeline.replacePlan(with: Self.texts)
            try await pipeline.submit(Self.batch(0..<2, of: Self.texts))
            alpha.mayStart.update { $0 = true }
        }
        let (numbers, texts) = (Self.numbers.planDigest, Self.texts.planDigest)
        #expect(alpha.calls.value == [.start(numbers), .start(texts), .deliver(texts)])
        #expect(lines.isEmpty)
    }

    @Test(
        "a tracker that cannot be started for the new plan keeps its events, and delivers them once it can",
        .promise("plan-replacement")
    )
    func failedRestart() async throws {
        let alpha = RestartingTracker(failing: 1..<4)
        let lines = try await quarantined([alpha]) { pipeline in
            try await pipeline.submit(Self.batch(0..<1))
            await alpha.inner.waitForDelivered(1)
            try pipeline.replacePlan(with: Self.catalog(.number))
            try await pipeline.submit(Self.batch(1..<40))
        }
        #expect(alpha.inner.deliveredNumbers == Array(0..<40))
        #expect(lines.isEmpty)
    }

    @Test(
        "a tracker with a checkpoint is not asked for it again, and delivers nothing twice",
        .promise("plan-replacement"),
        arguments: 1...20
    )
    func checkpoint(seed: UInt64) async throws {
        let ledger = Ledger()
        let tracker = LedgerTracker(ledger, [.succeed, .fail, .refuse([0]), .succeed])
        let lines = try await quarantined([tracker], journal: SimulatedFileSystem(seed: seed)) { pipeline in
            for number in 0..<60 {
                try await pipeline.submit(Self.batch(number..<number + 1))
                if number % 7 == 3 {
                    try pipeline.replacePlan(with: Self.catalog(number % 2 == 0 ? .number : .integer))
                }
            }
        }
        #expect(ledger.numbers.count + lines.count == 60)
        #expect(ledger.numbers == ledger.numbers.sorted() && Set(ledger.numbers).count == ledger.numbers.count)
    }

    @Test(
        "under load, with trackers that fail, no event is lost, repeated or delivered under a plan that rejects it",
        .promise("plan-replacement")
    )
    func load() async throws {
        let files = SimulatedFileSystem(seed: 4)
        let acts: [ScriptedTracker.Act] = (0..<40).flatMap { $0 % 3 == 0 ? [.fail, .failPartly([0])] : [.succeed] }
        let alpha = ScriptedTracker(name: "alpha", acts)
        let plans = [Self.numbers, Self.catalog(.number), Self.catalog(.any)]
        let lines = try await quarantined([alpha], journal: files) { pipeline in
            try await withThrowingTaskGroup { group in
                for sender in 0..<4 {
                    group.addTask {
                        for number in 0..<100 {
                            let first = sender * 1000 + number
                            try await pipeline.submit(Self.batch(first..<first + 1, of: pipeline.catalog))
                        }
                    }
                }
                for turn in 0..<30 {
                    try pipeline.replacePlan(with: plans[turn % 3])
                    await Task.yield()
                }
                try await group.waitForAll()
            }
        }
        let sent = (0..<4).flatMap { sender in (0..<100).map { sender * 1000 + $0 } }
        #expect(lines.isEmpty)
        #expect(alpha.deliveredNumbers.sorted() == sent)
    }

    @Test("a backlog of the same plan is not checked again after a restart, and one of another plan is")
    func backlog() async throws {
        // Nobody has checked these events, and they follow no plan.
        let unchecked = EventBatch.scripted(
            catalog: Self.numbers,
            events: (0..<5).map { ScriptedEvent("A", number: $0, payload: #"{"n":true}"#) }
        )
        for (catalog, delivered) in [(Self.catalog(.integer), 5), (Self.texts, 0)] {
            let files = SimulatedFileSystem(seed: 2)
            let dead = ScriptedTracker(name: "alpha", Array(repeating: .fail, count: 10_000))
            let harness = try PipelineHarness([dead], journal: files, queue: Self.spilling, catalog: Self.numbers)
            try await harness.runWithTime { pipeline in try await pipeline.submit(unchecked) }
            let alive = ScriptedTracker(name: "alpha")
            let lines = try await quarantined([alive], journal: files, catalog: catalog) { _ in }
            #expect(alive.deliveredNumbers == Array(0..<delivered))
            #expect(lines.count == 5 - delivered)
        }
    }

    @Test("a plan that cannot work is refused, and changes nothing", .promise("invalid-plan"))
    func refused() async throws {
        let alpha = ScriptedTracker(name: "alpha")
        _ = try await quarantined([alpha]) { pipeline in
            var plan = Self.numbers.plan
            plan.events[0].properties = [
                PropertyDefinition(name: "n", type: .string, sensitivity: .hash, location: .line(2))
            ]
            let error = #expect(throws: PipelineError.self) {
                try pipeline.replacePlan(with: EventCatalog(plan: plan))
            }
            #expect(error?.code == .missingHashKey)
            try await pipeline.submit(Self.batch(0..<3))
        }
        #expect(alpha.deliveredNumbers == [0, 1, 2])
        #expect(alpha.calls.count { $0 == .start } == 1)
    }

    @Test("an event keeps its counts, and a new one begins at zero")
    func counts() async throws {
        let alpha = ScriptedTracker(name: "alpha")
        _ = try await quarantined([alpha]) { pipeline in
            try await pipeline.submit(Self.batch(0..<3))
            var plan = Self.numbers.plan
            plan.events.insert(EventDefinition(key: "New", trackers: ["alpha"], location: .line(9)), at: 0)
            let catalog = EventCatalog(plan: plan)
            try pipeline.replacePlan(with: catalog)
            try await pipeline.submit(Self.batch(3..<5))
            try await pipeline.submit(.scripted(catalog: catalog, events: [ScriptedEvent("New", number: 9)]))
            #expect(pipeline.eventStatistics.map(\.name) == ["New", "A"])
            #expect(pipeline.eventStatistics.map(\.accepted) == [1, 5])
        }
    }
}

/// A tracker some of whose starts fail, counted from 0.
private final class RestartingTracker: Tracker {
    let inner = ScriptedTracker(name: "alpha")
    private let failing: Range<Int>

    init(failing: Range<Int>) {
        self.failing = failing
    }

    var name: String { inner.name }

    func start(for catalog: EventCatalog) async throws(TrackerError) {
        let number = inner.calls.count { $0 == .start }
        try await inner.start(for: catalog)
        if failing.contains(number) { throw ScriptedTracker.misconfiguration }
    }

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome { await inner.deliver(delivery) }
}

/// A tracker whose starts take as long as a test wants.
private final class SlowTracker: Tracker {
    /// A call, with the plan that it is about.
    enum Call: Equatable {
        case start(PlanDigest)
        case deliver(PlanDigest)
    }

    let name = "alpha"
    let calls = Watched<[Call]>([])
    let mayStart = Watched(false)

    func start(for catalog: EventCatalog) async throws(TrackerError) {
        calls.update { $0.append(.start(catalog.planDigest)) }
        await mayStart.wait { $0 }
    }

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let digests = Set(delivery.slices.map(\.batch.catalog.planDigest))
        calls.update { $0 += digests.map { Call.deliver($0) } }
        return .delivered
    }
}
