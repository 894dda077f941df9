import EventPipeline
import PipelineTestSupport
import SluiceTesting
import TestPromises
import Testing
import TrackerKit

@Suite("When limits change while a pipeline runs,", .timeLimit(.minutes(5)))
struct LimitChangeTests {
    private let alpha: TrackerIndex = 0
    private let beta: TrackerIndex = 1

    private func change(_ harness: DispatchStateHarness, to limits: Pipeline.Configuration) {
        let now = harness.now
        harness.act { state, actions in state.changeLimits(to: limits, now: { now }, actions: &actions) }
    }

    @Test("a queue that grows admits the batches that wait, in their order, as far as they fit")
    func grow() {
        let harness = DispatchStateHarness(.small())
        harness.start()
        harness.submit(10, "A")
        harness.submit(8, "A", number: 1)
        harness.submit(8, "AB", number: 2)
        change(harness, to: .small(capacityInEvents: 20))
        #expect(harness.isAcknowledged(1))
        #expect(harness.result(of: 2) == nil)
        #expect(harness.submit(1, "A", number: 3) == .waiting(number: 3))
        change(harness, to: .small(capacityInEvents: 30))
        #expect(harness.isAcknowledged(2))
        #expect(harness.isAcknowledged(3))
        #expect(harness.state.statistics(now: harness.now).trackers.map(\.enqueued) == [27, 8])
    }

    @Test(
        "a queue that shrinks below what it holds keeps it, and admits nothing until it has drained",
        .promise("operator-changes")
    )
    func shrink() throws {
        let harness = DispatchStateHarness(.small())
        harness.start()
        harness.submit(10, "A")
        change(harness, to: .small(capacityInEvents: 4))
        #expect(harness.submit(1, "A", number: 1) == .waiting(number: 1))
        #expect(harness.submit(1, "B") == .acknowledged)
        for left in [5, 0] {
            #expect(!harness.isAcknowledged(1))
            harness.settle(alpha, try #require(harness.delivery(alpha)))
            #expect(harness.state.trackers[alpha].queue.occupiedEvents == left + (left == 0 ? 1 : 0))
        }
        #expect(harness.isAcknowledged(1))
        let statistics = harness.state.statistics(now: harness.now).trackers[alpha]
        #expect(statistics.delivered == 10)
        #expect(statistics.dropped == 0)
    }

    @Test("a journal's queue that grows lets the committer have the batches that wait")
    func growWithJournal() {
        let harness = DispatchStateHarness(.small(), hasJournal: true)
        harness.start()
        harness.submit(10, "A")
        harness.commitNext()
        harness.submit(5, "A", number: 1)
        change(harness, to: .small(capacityInEvents: 20))
        #expect(harness.actions.wakesCommitter)
        harness.commitNext()
        #expect(harness.isAcknowledged(1))
    }

    @Test("the policy of a queue and the limits of other trackers stay")
    func singleTracker() {
        let harness = DispatchStateHarness(.small(fullPolicy: .dropNewest))
        var limits = Pipeline.Configuration.small()
        limits.queueByTracker["alpha"] = .init(capacityInEvents: 3)
        change(harness, to: limits)
        for _ in 0..<4 {
            harness.submit(1, "A")
            harness.submit(1, "B")
        }
        #expect(harness.state.statistics(now: harness.now).trackers.map(\.dropped) == [1, 0])
    }

    @Test("the next delivery and its lingering follow, and a worker that waits is woken")
    func deliveries() {
        let harness = DispatchStateHarness(.small(linger: .seconds(10)))
        harness.start()
        harness.submit(3, "A")
        #expect(harness.delivery(alpha) == nil)
        change(harness, to: .small(maximumEvents: 2, linger: .seconds(10)))
        #expect(harness.actions.wakes.contains(alpha))
        #expect(harness.delivery(alpha)?.count == 2)
        harness.submit(1, "B")
        #expect(harness.delivery(beta) == nil)
        change(harness, to: .small())
        #expect(harness.delivery(beta)?.count == 1)
    }

    @Test("a capacity may be as large as a number can be")
    func largest() {
        let harness = DispatchStateHarness(.small())
        harness.start()
        change(harness, to: .small(capacityInEvents: .max, capacityInBytes: .max, maximumEvents: .max))
        harness.submit(20, "A")
        #expect(harness.delivery(alpha)?.count == 20)
    }

    @Test("events that are stuck are looked for after the new time")
    func parkAfter() throws {
        let harness = DispatchStateHarness(.small())
        harness.start()
        harness.submit(2, "A")
        harness.settle(alpha, try #require(harness.delivery(alpha)), .retry(ScriptedTracker.outage))
        harness.now = .seconds(40)
        var limits = Pipeline.Configuration.small()
        limits.parkAfter = .seconds(30)
        change(harness, to: limits)
        guard case .diagnose = harness.step(alpha) else {
            Issue.record("no diagnosis")
            return
        }
    }

    @Test("deliveries from the journal follow")
    func backlog() async throws {
        let files = SimulatedFileSystem(seed: 1)
        let tracker = ScriptedTracker(name: "alpha")
        let harness = try PipelineHarness(
            [tracker],
            journal: files,
            queue: .init(capacityInEvents: 1, fullPolicy: .spill)
        )
        try await harness.runWithTime { pipeline in
            pipeline.pause(tracker: "alpha")
            for number in 0..<20 { try await pipeline.submit(PipelineHarness.batch("A", number..<number + 1)) }
            pipeline.changeLimits(
                to: .init(
                    queue: .init(capacityInEvents: 1),
                    delivery: .init(maximumEvents: 3, linger: .zero)
                )
            )
            pipeline.resume(tracker: "alpha")
            await tracker.waitForDelivered(20)
        }
        #expect(tracker.deliveredNumbers == Array(0..<20))
        #expect(tracker.deliveries.allSatisfy { $0.count <= 3 })
        #expect(tracker.deliveries.contains { $0.count == 3 })
    }
}
