import EventPipeline
import PipelineTestSupport
import SluiceTesting
import Synchronization
import Testing
import TrackerKit

@Suite("Submitting to the pipeline", .timeLimit(.minutes(5)))
struct PipelineSubmissionTests {
    private let small = Pipeline.Configuration(queue: .init(capacityInEvents: 3), delivery: .init(linger: .zero))

    @Test("an async submission suspends while there is no room")
    func suspends() async throws {
        let tracker = ScriptedTracker(name: "alpha", [.stall])
        try await PipelineHarness([tracker], configuration: small).run { pipeline, _ in
            try await pipeline.submit(PipelineHarness.batch("A", 0..<3))
            let second = Task { try await pipeline.submit(PipelineHarness.batch("A", 3..<5)) }
            while pipeline.statistics.waitingBatches == 0 { await Task.yield() }
            tracker.release()
            _ = try await second.value
            #expect(pipeline.statistics.accepted == 5)
        }
        #expect(tracker.deliveredNumbers == [0, 1, 2, 3, 4])
    }

    @Test("a cancelled async submission is withdrawn, and none of it is accepted")
    func cancelled() async throws {
        let tracker = ScriptedTracker(name: "alpha", [.stall])
        try await PipelineHarness([tracker], configuration: small).run { pipeline, _ in
            pipeline.accept("A", 0..<3)
            let waiting = Task { try await pipeline.submit(PipelineHarness.batch("A", 3..<5)) }
            while pipeline.statistics.waitingBatches == 0 { await Task.yield() }
            waiting.cancel()
            await #expect(throws: TrackError.cancelled) { try await waiting.value }
            let early = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await pipeline.submit(PipelineHarness.batch("A", 5..<7))
            }
            await #expect(throws: TrackError.cancelled) { try await early.value }
            tracker.release()
        }
        #expect(tracker.deliveredNumbers == [0, 1, 2])
    }

    @Test("after shutdown, new and waiting submissions throw the error closed")
    func closed() async throws {
        let tracker = ScriptedTracker(name: "alpha", [.stall])
        let harness = try PipelineHarness([tracker], configuration: small)
        let results = Mutex<[Result<Pipeline.Acknowledgement, TrackError>]>([])
        try await harness.run { pipeline, _ in
            pipeline.accept("A", 0..<3)
            await tracker.waitForDeliveries(1)
            let ticket = pipeline.submit(PipelineHarness.batch("A", 3..<4)) { result in
                results.withLock { $0.append(result) }
            }
            #expect(ticket != nil)
            pipeline.shutdown()
            #expect(results.withLock { $0.count } == 1)
            if let ticket { pipeline.withdraw(ticket) }
            await #expect(throws: TrackError.closed) {
                try await pipeline.submit(PipelineHarness.batch("A", 4..<5))
            }
            tracker.release()
        }
        #expect(results.withLock { $0.count } == 1)
        #expect(throws: TrackError.closed) { try results.withLock { $0 }.first?.get() }
        #expect(tracker.deliveredNumbers == [0, 1, 2])
    }

    @Test("a completion may submit again")
    func reentrance() async throws {
        let tracker = ScriptedTracker(name: "alpha", [.stall])
        try await PipelineHarness([tracker], configuration: small).run { pipeline, _ in
            pipeline.accept("A", 0..<3)
            _ = pipeline.submit(PipelineHarness.batch("A", 3..<4)) { _ in
                _ = pipeline.submit(PipelineHarness.batch("A", 4..<5)) { _ in }
            }
            await tracker.waitForDeliveries(1)
            tracker.release()
            await tracker.waitForDelivered(5)
        }
        #expect(tracker.deliveredNumbers == [0, 1, 2, 3, 4])
    }
}
