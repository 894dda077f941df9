import EventModel
import EventPipeline
import EventSchema
import EventValidation
import PipelineTestSupport
import SluiceTesting
import TestCases
import TestPromises
import Testing

@Suite("Events of erased people in a pipeline", .timeLimit(.minutes(5)))
struct ForgottenEventsTests {
    private static let catalog = EventCatalog(
        plan: TrackingPlan(events: [EventDefinition(key: "Seen", trackers: ["alpha", "beta"], location: .line(1))])
    )

    private let tombstones: Tombstones

    init() throws {
        let key = try #require(HashKey(Array("0123456789abcdef".utf8)))
        let request = try #require(Timestamp("2026-11-05T12:00:00Z"))
        tombstones = Tombstones([Tombstone(of: "ada", .user, requestedAt: request, key: key)], key: key)
    }

    /// Events of some users, received at a time.
    private func batch(_ users: [String], receivedAt: String) throws -> EventBatch {
        let events = users.map {
            #"{"name":"Seen","time":"2026-11-01T00:00:00Z","receivedAt":"\#(receivedAt)","userId":"\#($0)","payload":{}}"#
        }
        let validator = EventValidator(catalog: Self.catalog, acceptsReceivedAt: true)
        let checked = try validator.check(events.joined(separator: "\n"), as: .lines)
        #expect(checked.rejections.map(\.violations) == [])
        return try #require(checked.batch)
    }

    @Test(
        "from the queue and from the journal, no tracker gets what was received before the request, and it is counted",
        .promise("erased-person"),
        arguments: [1, 100]
    )
    func dropping(capacity: Int) async throws {
        let (alpha, beta) = (RecordingTracker(name: "alpha"), RecordingTracker(name: "beta"))
        let harness = try PipelineHarness(
            [alpha, beta],
            journal: SimulatedFileSystem(seed: 1),
            // A queue of one event spills the others to the journal.
            queue: Pipeline.Queue(capacityInEvents: capacity, fullPolicy: .spill),
            catalog: Self.catalog
        )
        harness.pipeline.tombstones.replace(with: tombstones)
        try await harness.runWithTime { pipeline in
            try await pipeline.submit(batch(["bob", "ada", "ada", "eve"], receivedAt: "2026-11-05T11:00:00Z"))
            try await pipeline.submit(batch(["ada"], receivedAt: "2026-11-05T11:00:01Z"))
            try await pipeline.submit(batch(["ada", "bob"], receivedAt: "2026-11-05T13:00:00Z"))
            try await pipeline.submit(batch(["ada"], receivedAt: "2026-11-05T11:59:59Z"))
            await pipeline.flush()
        }
        for tracker in [alpha, beta] {
            #expect(tracker.events.map(\.userID) == ["bob", "eve", "ada", "bob"])
        }
        for statistics in harness.pipeline.statistics.trackers {
            #expect(statistics.forgotten == 4)
            #expect(statistics.delivered == 4)
            #expect(statistics.pendingEvents == 0 && statistics.dropped == 0)
            #expect(statistics.cursor == 8)
        }
    }
}
