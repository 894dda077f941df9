import EventPipeline
import EventQuarantine
import Logging
import PipelineTestSupport
import SluiceTesting
import Testing
import TrackerKit

@Suite("The pipeline under load from many tasks", .timeLimit(.minutes(5)))
struct PipelineStressTests {
    @Test("every tracker gets each of its events once, in each sender's order, although deliveries fail")
    func exactlyOnce() async throws {
        let trackers = ["alpha", "beta"].map { name in
            ScriptedTracker(
                name: name,
                (0..<40).map { $0 % 3 == 0 ? .fail : $0 % 3 == 1 ? .failPartly([0]) : .succeed }
            )
        }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let pipeline = try Pipeline(
            catalog: PipelineHarness.catalog,
            trackers: trackers,
            configuration: .init(
                queue: .init(capacityInEvents: 200),
                delivery: .init(maximumEvents: 50, linger: .milliseconds(1)),
                retry: .init(initialPause: .milliseconds(1), maximumPause: .milliseconds(4))
            ),
            quarantine: .discarding(logger: logger),
            logger: logger
        )
        let senders = 8
        let batches = 200
        try await withThrowingTaskGroup { group in
            group.addTask { try await pipeline.run() }
            try await withThrowingTaskGroup { sending in
                for sender in 0..<senders {
                    sending.addTask {
                        for batch in 0..<batches {
                            let first = sender * 1_000_000 + batch * 3
                            try await pipeline.submit(PipelineHarness.batch("AB", first..<first + 3))
                        }
                    }
                }
                try await sending.waitForAll()
            }
            await pipeline.flush()
            pipeline.shutdown()
            try await group.waitForAll()
        }
        for tracker in trackers {
            let numbers = tracker.deliveredNumbers
            #expect(numbers.count == senders * batches * 3)
            #expect(Set(numbers).count == numbers.count)
        }
        #expect(pipeline.statistics.trackers.allSatisfy { $0.pendingEvents == 0 && $0.delivered == 4800 })
    }

    @Test("submissions made and withdrawn from many threads are each answered once")
    func withdrawals() async throws {
        let tracker = ScriptedTracker(name: "alpha")
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let pipeline = try Pipeline(
            catalog: PipelineHarness.catalog,
            trackers: [tracker],
            configuration: .init(
                queue: .init(capacityInEvents: 5),
                delivery: .init(maximumEvents: 5, linger: .zero)
            ),
            quarantine: .discarding(logger: logger),
            logger: logger
        )
        let taken = Watched(0)
        try await withThrowingTaskGroup { group in
            group.addTask { try await pipeline.run() }
            await withTaskGroup { sending in
                for number in 0..<500 {
                    sending.addTask {
                        let submission = Task {
                            try await pipeline.submit(PipelineHarness.batch("A", number..<number + 1))
                        }
                        if number % 2 == 0 { submission.cancel() }
                        if (try? await submission.value) != nil { taken.update { $0 += 1 } }
                    }
                }
            }
            pipeline.shutdown()
            try await group.waitForAll()
        }
        #expect(tracker.delivered.count == taken.value)
        #expect(taken.value >= 250)
        #expect(Set(tracker.delivered).count == taken.value)
    }
}
