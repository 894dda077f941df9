import EventModel
import EventPipeline
import Logging
import PipelineTestSupport
import SluiceTesting
import TestPromises
import Testing

@Suite("A pipeline with a journal and a quarantine that is full", .timeLimit(.minutes(5)))
struct PipelineQuarantineTests {
    private static let queue = Pipeline.Queue(capacityInEvents: 10, fullPolicy: .spill)

    @Test(
        "a refused event is not settled before it is stored: after a crash it is delivered again",
        .promise("full-quarantine")
    )
    func refusal() async throws {
        let files = SimulatedFileSystem(seed: 1)
        var crashed = files
        try await withQuarantine(capacityInBytes: 1) { full, _ in
            let tracker = ScriptedTracker(name: "alpha", [.refuse([1])])
            let harness = try PipelineHarness([tracker], journal: files, queue: Self.queue, quarantine: full)
            try await harness.run { pipeline, clock in
                try await pipeline.submit(PipelineHarness.batch("A", 0..<3))
                await clock.waitForSleeper(for: .milliseconds(100))
                #expect(pipeline.statistics[tracker: "alpha"]?.refused == 0)
                #expect(pipeline.statistics[tracker: "alpha"]?.delivered == 2)
                crashed = files.crashedCopy()
                // Somebody has changed the destination: it takes what it refused before.
                clock.advance(by: .milliseconds(100))
                await tracker.waitForDelivered(3)
            }
            #expect(tracker.deliveredNumbers == [0, 2, 1])
        }
        try await withQuarantine { quarantine, lines in
            let tracker = ScriptedTracker(name: "alpha", [.refuse([1])])
            let harness = try PipelineHarness([tracker], journal: crashed, queue: Self.queue, quarantine: quarantine)
            try await harness.run { pipeline, _ in
                try await pipeline.submit(PipelineHarness.batch("A", 3..<4))
                await tracker.waitForDelivered(3)
            }
            #expect(try lines().count == 1)
        }
        let again = ScriptedTracker(name: "alpha")
        try await PipelineHarness([again], journal: crashed.crashedCopy(), queue: Self.queue).run { pipeline, _ in
            try await pipeline.submit(PipelineHarness.batch("A", 4..<5))
            await again.waitForDelivered(1)
        }
        #expect(again.deliveredNumbers == [4])
    }
}
