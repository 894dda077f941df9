import EventJournal
import EventModel
import EventPipeline
import PipelineTestSupport
import SluiceTesting
import Testing
import TrackerKit

@Suite("The estimate of when a full journal has room", .timeLimit(.minutes(5)))
struct PipelineRetryAfterTests {
    private static let queue = Pipeline.Queue(capacityInEvents: 10, fullPolicy: .spill)
    private static let full = TrackError.notStored(JournalError(.full, "as a test says"))

    /// A tracker that waits with its word about its place until a test lets it, and then with its deliveries.
    private final class WaitingTracker: CheckpointingTracker {
        let name = "alpha"
        let place: UInt64
        let answers = Watched(false)
        let deliveries = Watched(0)
        let delivers = Watched(false)

        init(place: UInt64) {
            self.place = place
        }

        func checkpoint(ofJournal journal: JournalID) async throws(TrackerError) -> UInt64? {
            await answers.wait { $0 }
            return place
        }

        func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
            deliveries.update { $0 += 1 }
            await delivers.wait { $0 }
            return .delivered
        }
    }

    /// Lets a second pass, at whose end is noted how far the trackers are.
    private static func passSecond(_ clock: ManualClock) async {
        await clock.waitForSleeper(for: .seconds(1))
        clock.advance(by: .seconds(1))
        await clock.waitForSleeper(for: .seconds(1))
    }

    private static func submit(_ numbers: Range<Int>, to pipeline: Pipeline) async throws {
        for number in numbers { try await pipeline.submit(PipelineHarness.batch("A", number..<number + 1)) }
    }

    @Test("a tracker that moves its cursor to its checkpoint does not count as fast")
    func resumes() async throws {
        let files = SimulatedFileSystem(seed: 1)
        let dead = ScriptedTracker(name: "alpha", Array(repeating: .fail, count: 10_000))
        try await PipelineHarness([dead], journal: files, queue: Self.queue).runWithTime { pipeline in
            try await Self.submit(0..<50, to: pipeline)
        }
        let tracker = WaitingTracker(place: 2)
        let harness = try PipelineHarness([tracker], journal: files, queue: Self.queue)
        try await harness.run { pipeline, clock in
            await Self.passSecond(clock)
            tracker.answers.update { $0 = true }
            await tracker.deliveries.wait { $0 > 0 }
            await Self.passSecond(clock)
            #expect(pipeline.retryAfter(Self.full) == .seconds(30))
            tracker.delivers.update { $0 = true }
        }
    }

    @Test("nor does one that skips what was dropped")
    func givesUp() async throws {
        let files = SimulatedFileSystem(seed: 2)
        var configuration = JournalConfiguration.small()
        configuration.retentionBytes = 5_000
        configuration.retentionDropsUndelivered = true
        let tracker = ScriptedTracker(name: "alpha", Array(repeating: .stall, count: 100))
        let harness = try PipelineHarness([tracker], journal: files, configuration, queue: Self.queue)
        try await harness.run { pipeline, clock in
            try await Self.submit(0..<100, to: pipeline)
            await Self.passSecond(clock)
            let lost = try #require(pipeline.statistics[tracker: "alpha"]?.dropped)
            #expect(lost > 10)
            // What is in memory is delivered, and then what stands behind the gap is on its way.
            var deliveries = 1
            while tracker.deliveries.last?.contains(where: { $0.low >= lost }) != true {
                tracker.release()
                deliveries += 1
                await tracker.waitForDeliveries(deliveries)
            }
            await Self.passSecond(clock)
            #expect(pipeline.retryAfter(Self.full) == .seconds(30))
            for _ in 0..<100 { tracker.release() }
        }
    }
}
