import EventPipeline
import PipelineTestSupport
import SluiceTesting
import TestPromises
import Testing
import TrackerKit

@Suite("While a pipeline runs, an operator", .timeLimit(.minutes(5)))
struct ControlTests {
    @Test("pauses a tracker, whose events wait while others get theirs, and resumes it")
    func pause() async throws {
        let (alpha, beta) = (ScriptedTracker(name: "alpha"), ScriptedTracker(name: "beta"))
        let harness = try PipelineHarness([alpha, beta], configuration: .init(delivery: .init(linger: .zero)))
        try await harness.run { pipeline, _ in
            #expect(pipeline.pause(tracker: "Alpha"))
            #expect(!pipeline.pause(tracker: "gamma"))
            pipeline.accept("AB", 0..<3)
            await beta.waitForDelivered(3)
            let statistics = try #require(pipeline.statistics[tracker: "alpha"])
            #expect(statistics.status == .paused)
            #expect(statistics.pendingEvents == 3)
            #expect(alpha.deliveredNumbers == [])
            #expect(pipeline.resume(tracker: "alpha"))
            await alpha.waitForDelivered(3)
            await pipeline.flush()
            #expect(pipeline.statistics[tracker: "alpha"]?.status == .delivering)
        }
        #expect(alpha.deliveredNumbers == [0, 1, 2])
    }

    @Test("pauses a tracker that waits for its next attempt, which follows only after it is resumed")
    func pauseWhileRetrying() async throws {
        let alpha = ScriptedTracker(name: "alpha", [.fail])
        let harness = try PipelineHarness([alpha], configuration: .init(delivery: .init(linger: .zero)))
        try await harness.run { pipeline, clock in
            pipeline.accept("A", 0..<1)
            await clock.waitForSleeper(for: .milliseconds(100))
            pipeline.pause(tracker: "alpha")
            clock.advance(by: .seconds(100))
            #expect(pipeline.statistics[tracker: "alpha"]?.status == .paused)
            pipeline.resume(tracker: "alpha")
            await alpha.waitForDelivered(1)
        }
    }

    @Test(
        "ends a pipeline whose tracker is paused; with a journal, its events are delivered after the next start",
        .promise("operator-changes")
    )
    func shutdown() async throws {
        let files = SimulatedFileSystem(seed: 1)
        let queue = Pipeline.Queue(capacityInEvents: 10, fullPolicy: .spill)
        let paused = ScriptedTracker(name: "alpha")
        try await PipelineHarness([paused], journal: files, queue: queue).runWithTime { pipeline in
            pipeline.pause(tracker: "alpha")
            for number in 0..<20 { try await pipeline.submit(PipelineHarness.batch("A", number..<number + 1)) }
        }
        #expect(paused.deliveredNumbers == [])
        let resumed = ScriptedTracker(name: "alpha")
        try await PipelineHarness([resumed], journal: files, queue: queue).runWithTime { pipeline in
            await resumed.waitForDelivered(20)
        }
        #expect(resumed.deliveredNumbers == Array(0..<20))
    }

    @Test("stops the intake: new batches are rejected, accepted ones are delivered, and the pipeline is not ready")
    func intake() async throws {
        let alpha = ScriptedTracker(name: "alpha")
        let harness = try PipelineHarness([alpha], configuration: .init(delivery: .init(linger: .zero)))
        try await harness.run { pipeline, _ in
            pipeline.accept("A", 0..<2)
            pipeline.acceptsEvents = false
            let error = await #expect(throws: TrackError.self) {
                try await pipeline.submit(PipelineHarness.batch("A", 2..<3))
            }
            #expect(error?.code == .closed)
            await pipeline.flush()
            #expect(pipeline.statistics[tracker: "alpha"]?.delivered == 2)
            #expect(pipeline.unreadyReasons == [.intakeClosed])
            pipeline.acceptsEvents = true
            #expect(pipeline.isReady)
            try await pipeline.submit(PipelineHarness.batch("A", 3..<4))
        }
        #expect(alpha.deliveredNumbers == [0, 1, 3])
    }
}
