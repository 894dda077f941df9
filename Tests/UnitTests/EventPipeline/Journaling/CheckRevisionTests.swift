import EventJournal
import EventModel
import EventPipeline
import EventSchema
import EventValidation
import PipelineTestSupport
import SluiceTesting
import TestCases
import Testing

@Suite("Frames with the digest of a plan", .timeLimit(.minutes(5)))
struct CheckRevisionTests {
    /// Events in a frame with any digest.
    private struct Entry: JournalEntry {
        let batch: EventBatch
        let planDigest: PlanDigest?

        var lines: UnsafeRawBufferPointer { batch.lines }
        var count: Int { batch.count }
        var times: ClosedRange<Int64> { batch.times }
    }

    private static let catalog = EventCatalog(
        plan: TrackingPlan(events: [
            EventDefinition(
                key: "A",
                trackers: ["alpha"],
                properties: [PropertyDefinition(name: "n", type: .integer, location: .line(2))],
                location: .line(1)
            )
        ])
    )

    @Test("are not checked again if the plan and the release are the same, and otherwise are")
    func revisions() async throws {
        // Nobody has checked these events, and they do not follow the plan.
        let events = (0..<5).map { ScriptedEvent("A", number: $0, payload: #"{"n":true}"#) }
        let batch = EventBatch.scripted(catalog: Self.catalog, events: events)
        let earlier = Self.catalog.planDigest(ofCheck: EventCatalog.checkRevision - 1)
        let cases: [(PlanDigest?, Int)] = [(Self.catalog.planDigest, 5), (earlier, 0), (nil, 0)]
        for (digest, delivered) in cases {
            let files = SimulatedFileSystem(seed: 1)
            var writer = JournalWriter(try Journal(files, configuration: .small(), now: 0))
            _ = try writer.commit([Entry(batch: batch, planDigest: digest)], now: 0)
            try writer.close(now: 0)
            let alpha = ScriptedTracker(name: "alpha")
            try await withQuarantine { quarantine, lines in
                let harness = try PipelineHarness(
                    [alpha],
                    journal: files,
                    queue: Pipeline.Queue(fullPolicy: .spill),
                    catalog: Self.catalog,
                    start: .beginning,
                    quarantine: quarantine
                )
                try await harness.runWithTime { pipeline in await pipeline.flush() }
                #expect(try lines().count == 5 - delivered)
            }
            #expect(alpha.deliveredNumbers == Array(0..<delivered))
        }
    }
}
