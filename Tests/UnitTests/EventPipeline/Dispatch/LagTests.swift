import EventJournal
import EventPipeline
import PipelineTestSupport
import SluiceTesting
import Testing
import TrackerKit

@Suite("A tracker's lag", .timeLimit(.minutes(5)))
struct LagTests {
    private let alpha: TrackerIndex = 0

    private func lag(_ harness: DispatchStateHarness) -> (events: Int, time: Duration?) {
        let statistics = harness.state.statistics(now: harness.now).trackers[alpha]
        return (statistics.lagEvents, statistics.lag)
    }

    @Test(
        "is the age of the oldest event that is not settled: queued, being delivered, or waiting for a retry"
    )
    func queued() throws {
        let harness = DispatchStateHarness(.small(capacityInEvents: 100))
        harness.start()
        #expect(lag(harness) == (0, nil))
        harness.now = .seconds(1)
        harness.submit(3, "A")
        harness.now = .seconds(5)
        harness.submit(2, "A")
        #expect(lag(harness) == (5, .seconds(4)))
        let delivery = try #require(harness.delivery(alpha))
        #expect(lag(harness) == (5, .seconds(4)))
        harness.now = .seconds(6)
        harness.submit(1, "A")
        harness.settle(alpha, delivery)
        #expect(lag(harness) == (1, .zero))
    }

    @Test("concerns the events that are left, not those that were delivered before them")
    func advances() throws {
        var configuration = Pipeline.Configuration.small(capacityInEvents: 10_000)
        configuration.delivery.maximumEvents = 500
        let harness = DispatchStateHarness(configuration)
        harness.start()
        for second in 1...4 {
            harness.now = .seconds(second)
            harness.submit(500, "A")
        }
        harness.now = .seconds(10)
        for expected in [9, 8, 7, 6] {
            #expect(lag(harness).time == .seconds(expected))
            let delivery = try #require(harness.delivery(alpha))
            harness.settle(alpha, delivery)
        }
        #expect(lag(harness) == (0, nil))
    }

    @Test("grows while a spilled event waits in the journal")
    func spilled() {
        let harness = DispatchStateHarness(.small(capacityInEvents: 2, fullPolicy: .spill), hasJournal: true)
        harness.now = .seconds(3)
        for _ in 0..<3 {
            harness.submit(2, "A")
            harness.commitNext()
            harness.now += .seconds(1)
        }
        harness.now = .seconds(20)
        #expect(lag(harness) == (6, .seconds(17)))
    }

    @Test("of a tracker that stores its own checkpoint, and has not started, is that of the first event")
    func checkpointing() {
        let harness = DispatchStateHarness(.small(fullPolicy: .spill), hasJournal: true, checkpointing: [0])
        harness.now = .seconds(1)
        harness.submit(2, "A")
        harness.commitNext()
        harness.now = .seconds(4)
        harness.submit(2, "A")
        harness.commitNext()
        #expect(lag(harness) == (4, .seconds(3)))
    }

    @Test("is right after a restart, also before the tracker has started, and counts what an earlier run left")
    func restart() async throws {
        let files = SimulatedFileSystem(seed: 1)
        let queue = Pipeline.Queue(capacityInEvents: 10, fullPolicy: .spill)
        let dead = ScriptedTracker(name: "alpha", Array(repeating: .fail, count: 1000))
        let first = try PipelineHarness([dead], journal: files, queue: queue)
        try await first.runWithTime { pipeline in
            for number in 0..<20 { try await pipeline.submit(PipelineHarness.batch("A", number..<number + 1)) }
        }
        // An hour later, by the wall clock.
        let hour: Int64 = 3_600_000_000
        let second = try PipelineHarness(
            [ScriptedTracker(name: "alpha", startErrors: [ScriptedTracker.outage])],
            journal: files,
            queue: queue,
            openedAt: hour
        )
        try await second.run { pipeline, _ in
            while pipeline.statistics.trackers[0].lag == nil { await Task.yield() }
            let statistics = pipeline.statistics.trackers[0]
            #expect(statistics.lagEvents == 20)
            #expect(statistics.pendingEvents == 0)
            let lag = try #require(statistics.lag)
            #expect(lag > .seconds(3000) && lag <= .seconds(3600))
        }
    }

    @Test("is zero again once the events of an earlier run are delivered")
    func caughtUp() async throws {
        let files = SimulatedFileSystem(seed: 2)
        let queue = Pipeline.Queue(capacityInEvents: 10, fullPolicy: .spill)
        let dead = ScriptedTracker(name: "alpha", Array(repeating: .fail, count: 1000))
        try await PipelineHarness([dead], journal: files, queue: queue).runWithTime { pipeline in
            for number in 0..<20 { try await pipeline.submit(PipelineHarness.batch("A", number..<number + 1)) }
        }
        let tracker = ScriptedTracker(name: "alpha")
        try await PipelineHarness([tracker], journal: files, queue: queue).runWithTime { pipeline in
            await tracker.waitForDelivered(20)
            await pipeline.flush()
            let statistics = pipeline.statistics.trackers[0]
            #expect(statistics.lagEvents == 0)
            #expect(statistics.lag == nil)
        }
    }
}
