import EventPipeline
import EventValidation
import PipelineTestSupport
import SluiceTesting
import Testing
import TrackerKit

@Suite("Admission to the queues")
struct AdmissionTests {
    private let alpha: TrackerIndex = 0
    private let beta: TrackerIndex = 1

    @Test("a batch is acknowledged at once if there is room, and waits if there is none")
    func waitsWhenFull() {
        let harness = DispatchStateHarness(.small())
        #expect(harness.submit(10, "A") == .acknowledged)
        #expect(harness.submit(1, "A", number: 1) == .waiting(number: 1))
        #expect(harness.result(of: 1) == nil)
    }

    @Test("a batch for two queues takes no room in either while one is full")
    func allOrNothing() {
        let harness = DispatchStateHarness(.small())
        harness.submit(10, "A")
        harness.submit(3, "AB", number: 1)
        #expect(harness.state.statistics(now: harness.now).trackers[beta].enqueued == 0)
        #expect(harness.state.statistics(now: harness.now).accepted == 10)
    }

    @Test("room is freed when a delivery is settled, not when it starts")
    func roomComesFreeWhenSettled() throws {
        let harness = DispatchStateHarness(.small())
        harness.start()
        harness.submit(10, "A")
        harness.submit(5, "A", number: 1)
        let delivery = try #require(harness.delivery(alpha))
        #expect(delivery.count == 5)
        #expect(!harness.isAcknowledged(1))
        harness.settle(alpha, delivery)
        #expect(harness.isAcknowledged(1))
    }

    @Test("a batch that would fit does not overtake one that waits for the same queue")
    func noBarging() throws {
        let harness = DispatchStateHarness(.small())
        harness.start()
        harness.submit(8, "A")
        harness.submit(5, "A", number: 1)
        #expect(harness.submit(1, "A", number: 2) == .waiting(number: 2))
        harness.settle(alpha, try #require(harness.delivery(alpha)))
        #expect(harness.isAcknowledged(1))
        #expect(harness.isAcknowledged(2))
    }

    @Test("a batch that waits for a full queue does not delay batches for other queues")
    func deadQueueHoldsUpNobody() {
        let harness = DispatchStateHarness(.small())
        harness.submit(10, "A")
        harness.submit(2, "AB", number: 1)
        #expect(harness.submit(10, "B") == .acknowledged)
        #expect(harness.submit(1, "None") == .acknowledged)
    }

    @Test("when the first queue has room, a batch goes on waiting for the second")
    func waitsForBoth() throws {
        let harness = DispatchStateHarness(.small())
        harness.start()
        harness.submit(10, "A")
        harness.submit(10, "B")
        harness.submit(1, "AB", number: 1)
        harness.settle(alpha, try #require(harness.delivery(alpha)))
        #expect(!harness.isAcknowledged(1))
        #expect(harness.submit(1, "A") == .acknowledged)
        harness.settle(beta, try #require(harness.delivery(beta)))
        #expect(harness.isAcknowledged(1))
    }

    @Test("a batch larger than the queue is accepted when the queue is empty")
    func oversizedBatch() throws {
        let harness = DispatchStateHarness(.small(maximumEvents: 100))
        harness.start()
        harness.submit(1, "A")
        harness.submit(50, "A", number: 1)
        harness.submit(1, "A", number: 2)
        #expect(!harness.isAcknowledged(1))
        harness.settle(alpha, try #require(harness.delivery(alpha)))
        #expect(harness.isAcknowledged(1))
        #expect(!harness.isAcknowledged(2))
        #expect(harness.delivery(alpha)?.count == 50)
    }

    @Test("a queue can be full by bytes as well as by events")
    func bytesFillTheQueue() {
        let harness = DispatchStateHarness(.small(capacityInEvents: 1000, capacityInBytes: 1000))
        let large = ScriptedEvent("A", number: 1, payload: "\"" + String(repeating: "x", count: 800) + "\"")
        #expect(harness.submit([large]) == .acknowledged)
        #expect(harness.submit([large], number: 1) == .waiting(number: 1))
        #expect(harness.state.statistics(now: harness.now).trackers[alpha].pendingBytes > 800)
    }

    @Test("withdrawing a batch rejects it, and admits those that waited behind it")
    func withdrawal() {
        let harness = DispatchStateHarness(.small())
        harness.submit(8, "A")
        let large = harness.submit(5, "A", number: 1)
        harness.submit(2, "A", number: 2)
        harness.withdraw(large)
        #expect(throws: TrackError.cancelled) { try harness.result(of: 1)?.get() }
        #expect(harness.isAcknowledged(2))
    }

    @Test("withdrawing an acknowledged or withdrawn batch has no effect")
    func lateWithdrawal() throws {
        let harness = DispatchStateHarness(.small())
        harness.start()
        harness.submit(10, "A")
        let waits = harness.submit(1, "A", number: 1)
        harness.settle(alpha, try #require(harness.delivery(alpha)))
        harness.withdraw(waits)
        #expect(harness.isAcknowledged(1))
        harness.withdraw(.waiting(number: 99))
        #expect(harness.actions.answered.isEmpty)
    }

    @Test("an event without any configured tracker is accepted and counted as unrouted")
    func unrouted() {
        let harness = DispatchStateHarness(.small())
        let events = [ScriptedEvent("None", number: 1), ScriptedEvent("A", number: 2)]
        #expect(harness.submit(events) == .acknowledged)
        #expect(harness.state.statistics(now: harness.now).accepted == 2)
        #expect(harness.state.statistics(now: harness.now).unrouted == 1)
        #expect(harness.state.statistics(now: harness.now).trackers[alpha].enqueued == 1)
    }

    @Test("each queue gets exactly its own events of a mixed batch")
    func mixedBatch() throws {
        let harness = DispatchStateHarness(.small())
        harness.start()
        harness.submit(["A", "B", "AB", "None", "A"].enumerated().map { ScriptedEvent($1, number: $0) })
        #expect(try #require(harness.delivery(alpha)).map(\.number) == [0, 2, 4])
        #expect(try #require(harness.delivery(beta)).map(\.number) == [1, 2])
    }

    @Test("a few events of a large batch do not keep the whole batch in memory")
    func compaction() throws {
        let harness = DispatchStateHarness(.small(capacityInEvents: 1000, maximumEvents: 1000))
        harness.start()
        harness.submit((0..<100).map { ScriptedEvent($0 == 50 ? "A" : "B", number: $0) })
        let delivery = try #require(harness.delivery(alpha))
        let event = try #require(delivery.first { _ in true })
        #expect(event.number == 50)
        #expect(event.batch.count == 1)
        #expect(event.json == ScriptedEvent("A", number: 50).canonicalJSON)
        #expect(event.name == "A")
    }
}

@Suite("Queues that drop")
struct DropPolicyTests {
    private let alpha: TrackerIndex = 0

    @Test("dropNewest drops the new events, acknowledges them and counts them")
    func dropNewest() throws {
        let harness = DispatchStateHarness(.small(fullPolicy: .dropNewest))
        harness.start()
        harness.submit(8, "A")
        #expect(harness.submit(3, "A") == .acknowledged)
        #expect(harness.actions.drops.map(\.events) == [3])
        let statistics = harness.state.statistics(now: harness.now).trackers[alpha]
        #expect(statistics.enqueued == 11)
        #expect(statistics.dropped == 3)
        #expect(statistics.pendingEvents == 8)
        #expect(try #require(harness.delivery(alpha)).map(\.number) == [0, 1, 2, 3, 4])
    }

    @Test("dropOldest drops the oldest events, but none of a delivery in progress")
    func dropOldest() throws {
        let harness = DispatchStateHarness(.small(fullPolicy: .dropOldest, maximumEvents: 4))
        harness.start()
        for _ in 0..<5 { harness.submit(2, "A") }
        let inFlight = try #require(harness.delivery(alpha))
        #expect(inFlight.map(\.number) == [0, 1, 2, 3])
        #expect(harness.submit(3, "A") == .acknowledged)
        #expect(harness.actions.drops.map(\.events) == [4])
        harness.settle(alpha, inFlight)
        #expect(try #require(harness.delivery(alpha)).map(\.number) == [8, 9])
        #expect(harness.state.statistics(now: harness.now).trackers[alpha].dropped == 4)
    }

    @Test("dropOldest drops the new events if dropping the old ones would not make room")
    func dropOldestInVain() throws {
        let harness = DispatchStateHarness(.small(fullPolicy: .dropOldest, maximumEvents: 4))
        harness.start()
        harness.submit(4, "A")
        _ = try #require(harness.delivery(alpha))
        harness.submit(2, "A")
        harness.submit(7, "A")
        #expect(harness.state.statistics(now: harness.now).trackers[alpha].dropped == 7)
        #expect(harness.state.statistics(now: harness.now).trackers[alpha].pendingEvents == 6)
    }

    @Test("a full queue that drops events does not delay a batch that is also for another queue")
    func otherQueueTakes() {
        var configuration = Pipeline.Configuration.small()
        configuration.queueByTracker = ["alpha": .init(capacityInEvents: 1, fullPolicy: .dropNewest)]
        let harness = DispatchStateHarness(configuration)
        harness.submit(1, "A")
        #expect(harness.submit(2, "AB") == .acknowledged)
        #expect(harness.state.statistics(now: harness.now).trackers[1].pendingEvents == 2)
        #expect(harness.state.statistics(now: harness.now).trackers[0].dropped == 2)
    }
}
