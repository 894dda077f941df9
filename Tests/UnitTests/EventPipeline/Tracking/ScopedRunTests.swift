import EventPipeline
import EventValidation
import GoldenShapes
import SluiceTesting
import Testing
import TrackerKit

@Suite("Pipeline.run with a closure", .timeLimit(.minutes(5)))
struct ScopedRunTests {
    private struct Failure: Error {}

    @Test("run delivers what the closure tracked before it returns the closure's value")
    func value() async throws {
        let recorder = RecordingTracker(name: "console")
        let value = try await Pipeline.run(catalog: ShapesEvents.catalog, trackers: [recorder]) { pipeline in
            try await pipeline.track(ShapesEvents.NothingSaid())
            try pipeline.tryTrack(ShapesEvents.NothingSaid())
            return 7
        }
        #expect(value == 7)
        #expect(recorder.events.count == 2)
    }

    @Test("an error of the closure is thrown after the events that it tracked are delivered")
    func failure() async throws {
        let recorder = RecordingTracker(name: "console")
        await #expect(throws: Failure.self) {
            try await Pipeline.run(catalog: ShapesEvents.catalog, trackers: [recorder]) { pipeline in
                try await pipeline.track(ShapesEvents.NothingSaid())
                throw Failure()
            }
        }
        #expect(recorder.events.count == 1)
    }

    @Test("an error of the pipeline is thrown rather than the closure's error that it caused")
    func pipelineFailure() async throws {
        let tracker = ScriptedTracker(name: "console", startErrors: [ScriptedTracker.misconfiguration])
        var configuration = Pipeline.Configuration()
        configuration.maximumStartAttempts = 1
        let error = await #expect(throws: PipelineError.self) {
            try await Pipeline.run(
                catalog: ShapesEvents.catalog,
                trackers: [tracker],
                configuration: configuration
            ) { pipeline in
                while true {
                    try await pipeline.track(ShapesEvents.NothingSaid())
                    await Task.yield()
                }
            }
        }
        #expect(error?.code == .trackerNotStarted)
    }

    @Test("cancelling the task cancels the closure and ends the pipeline")
    func cancellation() async throws {
        let tracker = ScriptedTracker(name: "console", [.stall])
        let task = Task {
            try await Pipeline.run(catalog: ShapesEvents.catalog, trackers: [tracker]) { pipeline in
                try await pipeline.track(ShapesEvents.NothingSaid())
                await pipeline.flush()
                try Task.checkCancellation()
            }
        }
        await tracker.waitForDeliveries(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await tracker.waitForStop()
    }
}
