import EventModel
import EventPipeline
import EventQuarantine
import EventSchema
import EventValidation
import Logging
import PipelineTestSupport
import SluiceTesting
import Synchronization
import TestCases
import TestPromises
import Testing
import TrackerKit

@Suite("Trackers see only what the plan lets them see", .timeLimit(.minutes(5)))
struct PipelinePrivacyTests {
    private static let catalog = EventCatalog(
        plan: TrackingPlan(events: [
            EventDefinition(
                key: "Paid",
                trackers: ["alpha", "beta"],
                properties: [
                    PropertyDefinition(
                        name: "iban",
                        type: .string,
                        sensitivity: .trackers(["alpha"]),
                        location: .line(1)
                    ),
                    PropertyDefinition(name: "amount", type: .integer, location: .line(2)),
                ],
                location: .line(1)
            ),
            EventDefinition(key: "Only Beta", trackers: ["beta"], location: .line(3)),
        ])
    )

    private static func batch(_ numbers: Range<Int>) throws -> EventBatch {
        let events = numbers.map { #"{"name":"Paid","payload":{"iban":"DE\#($0)","amount":\#($0)}}"# }
        let body = events.joined(separator: "\n") + "\n{\"name\":\"Only Beta\"}\n"
        return try #require(try EventValidator(catalog: catalog).check(body, as: .lines).batch)
    }

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test(
        "from the queue and from the journal, a hidden value reaches only the tracker that may see it",
        .promise("protected-values"),
        arguments: [1, 100]
    )
    func hiding(capacity: Int) async throws {
        let (alpha, beta) = (RecordingTracker(name: "Alpha"), RecordingTracker(name: "beta"))
        let harness = try PipelineHarness(
            [alpha, beta],
            journal: SimulatedFileSystem(seed: 1),
            // A queue of one event spills the others to the journal.
            queue: Pipeline.Queue(capacityInEvents: capacity, fullPolicy: .spill),
            catalog: Self.catalog
        )
        try await harness.runWithTime { pipeline in
            try await pipeline.submit(Self.batch(0..<3))
            try await pipeline.submit(Self.batch(3..<6))
            await pipeline.flush()
        }
        #expect(alpha.events.map(\.payload["iban"]) == (0..<6).map { .string("DE\($0)") })
        #expect(beta.events.filter { $0.name == "Paid" }.map(\.payload) == (0..<6).map { ["amount": .integer($0)] })
        #expect(beta.events.count == 8)
        #expect(Set(beta.events.map(\.id)).isSuperset(of: alpha.events.map(\.id)))
        #expect(!beta.events.contains { $0.json.contains("DE") })
    }

    @Test("who watches sees nothing that only some trackers may see, of accepted and of rejected events")
    func watching() async throws {
        let harness = try PipelineHarness(
            [],
            journal: SimulatedFileSystem(seed: 1),
            queue: Pipeline.Queue(capacityInEvents: 100, fullPolicy: .spill),
            catalog: Self.catalog
        )
        let watch = try #require(harness.pipeline.watch())
        let wrong = #"{"name":"Paid","payload":{"iban":"DE1","amount":"x"}}"#
        let checked = try EventValidator(catalog: Self.catalog).check(wrong, as: .lines)
        harness.pipeline.quarantine(checked.rejections, source: "a file")
        try await harness.runWithTime { pipeline in try await pipeline.submit(Self.batch(1..<2)) }
        var texts: [String] = []
        while case .event(let line) = await watch.next() {
            texts.append(String(decoding: line, as: UTF8.self))
            if texts.count == 3 { break }
        }
        #expect(texts[0].contains("wrong-type") && texts[1].contains(#""amount":1"#))
        #expect(!texts.contains { $0.contains("DE1") }, "\(texts)")
    }

    @Test(
        "refused events are quarantined in full, and hidden values stay hidden in retries",
        .promise("protected-values")
    )
    func outcomes() async throws {
        try await withQuarantine { quarantine, lines in
            let beta = ScriptedTracker(name: "beta", [.fail, .refuse([1])])
            let harness = try PipelineHarness(
                [beta],
                journal: SimulatedFileSystem(seed: 1),
                queue: Pipeline.Queue(capacityInEvents: 100, fullPolicy: .spill),
                catalog: Self.catalog,
                quarantine: quarantine
            )
            try await harness.runWithTime { pipeline in
                try await pipeline.submit(Self.batch(0..<2))
                await pipeline.flush()
            }
            #expect(try lines().map { $0.contains(#""iban":"DE1""#) } == [true])
        }
    }

    @Test(
        "what a new plan hides is hidden at once, also in the sends of a diagnosis that has begun",
        .promise("protected-values"),
        arguments: [Sensitivity.drop, .hash, .trackers(["beta"])]
    )
    func hidingDuringDiagnosis(sensitivity: Sensitivity) async throws {
        let key = HashKey(Array(repeating: 7, count: 32))
        func catalog(_ sensitivity: Sensitivity?) -> EventCatalog {
            let iban = PropertyDefinition(name: "iban", type: .string, sensitivity: sensitivity, location: .line(1))
            let events = ["Paid", "Refunded"].map { name in
                EventDefinition(key: name, trackers: ["alpha"], properties: [iban], location: .line(1))
            }
            return EventCatalog(plan: TrackingPlan(events: events), hashKey: key)
        }
        let tracker = ReplacingTracker()
        try await withQuarantine { quarantine, lines in
            let harness = try PipelineHarness([tracker], catalog: catalog(nil), quarantine: quarantine)
            tracker.replacePlan.withLock { [pipeline = harness.pipeline, catalog = catalog(sensitivity)] in
                $0 = { try pipeline.replacePlan(with: catalog) }
            }
            // Both are in the first delivery.
            let events = ["Paid", "Refunded"].map { #"{"name":"\#($0)","payload":{"iban":"DE1"}}"# }
            let checked = try EventValidator(catalog: catalog(nil)).check(events.joined(separator: "\n"), as: .lines)
            try await harness.pipeline.submit(try #require(checked.batch))
            try await harness.runWithTime { pipeline in await pipeline.flush() }
            #expect(try lines().isEmpty)
        }
        #expect(tracker.delivered.value.count == 2)
        #expect(!tracker.delivered.value.contains { $0.contains("DE1") }, "\(tracker.delivered.value)")
        #expect(tracker.delivered.value.allSatisfy { $0.contains("hmac-sha256:") == (sensitivity == .hash) })
    }

    @Test("a pipeline whose plan hashes values needs a key")
    func missingKey() throws {
        var plan = Self.catalog.plan
        plan.events[0].properties[0].sensitivity = .hash
        let catalog = EventCatalog(plan: plan)
        func pipeline(_ catalog: EventCatalog) throws -> Pipeline {
            try Pipeline(
                catalog: catalog,
                trackers: [],
                quarantine: .discarding(logger: Self.logger),
                logger: Self.logger
            )
        }
        let error = #expect(throws: PipelineError.self) { try pipeline(catalog) }
        #expect(error?.code == .missingHashKey)
        let key = try #require(HashKey(Array(repeating: 7, count: 32)))
        _ = try pipeline(catalog.hashing(with: key))
    }
}

/// A tracker that delivers nothing until it gets events of one name alone, and replaces the plan at that moment.
private final class ReplacingTracker: Tracker {
    let name = "alpha"
    let replacePlan = Mutex<(@Sendable () throws -> Void)?>(nil)
    /// The lines that it has delivered.
    let delivered = Watched<[String]>([])

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let lines = delivery.map(\.json)
        let isReplaced = replacePlan.withLock { $0 == nil }
        guard isReplaced else {
            if Set(delivery.map(\.name)).count == 1 {
                let replace = replacePlan.withLock { $0.take() }
                do { try replace?() } catch { Issue.record(error) }
            }
            return .retry(ScriptedTracker.outage)
        }
        delivered.update { $0 += lines }
        return .delivered
    }
}
