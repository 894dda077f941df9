import EventPipeline
import EventValidation
import SluiceTesting
import Testing
import TrackerKit

@Suite("The resolution of an outcome")
struct SettlementTests {
    private let delivery: Delivery = {
        let catalog = EventCatalog.scripted(["A": ["alpha"]])
        let first = EventBatch.scripted(catalog: catalog, events: (0..<3).map { ScriptedEvent("A", number: $0) })
        let second = EventBatch.scripted(catalog: catalog, events: (3..<5).map { ScriptedEvent("A", number: $0) })
        return Delivery([EventSlice(first), EventSlice(second)])
    }()
    private let reason = ScriptedTracker.outage

    private func refusals(_ positions: Int...) -> [DeliveryOutcome.Refusal] {
        positions.map { .init(position: $0, reason: "no") }
    }

    @Test("everything delivered")
    func delivered() {
        let settlement = Settlement(of: delivery, outcome: .delivered)
        #expect(settlement.delivered == 5)
        #expect(settlement.retry == nil)
    }

    @Test("everything to be retried")
    func retryAll() {
        let settlement = Settlement(of: delivery, outcome: .retry(reason))
        #expect(settlement.delivered == 0)
        #expect(settlement.retry?.count == 5)
    }

    @Test("a retry without positions applies to everything that is not refused")
    func retryWithoutPositions() {
        let outcome = DeliveryOutcome(refusals: refusals(0, 3), retry: .init(reason: reason))
        let settlement = Settlement(of: delivery, outcome: outcome)
        #expect(settlement.retry?.map(\.number) == [1, 2, 4])
        #expect(settlement.refusals.map(\.position) == [0, 3])
        #expect(settlement.delivered == 0)
    }

    @Test("refusals outside the delivery, or repeated ones, are ignored and counted")
    func wrongRefusals() {
        let settlement = Settlement(of: delivery, outcome: .refused(refusals(-1, 2, 2, 5, Int.max)))
        #expect(settlement.refusals.map(\.position) == [2])
        #expect(settlement.delivered == 4)
        #expect(settlement.invalidPositions == 4)
    }

    @Test("what is known to be stuck, and what was there already, is kept when other events are parked")
    func parking() {
        let stuck = [[0, 1], [4]].map { DeliveryOutcome.Stuck(positions: $0, reason: reason, isWholeName: true) }
        let retry = DeliveryOutcome.Retry(positions: [0, 1, 4], reason: reason, stuck: stuck)
        let outcome = DeliveryOutcome(retry: retry, alreadyStored: 2)
        let settlement = Settlement(of: delivery, outcome: outcome).parking([0, 4], of: delivery)
        #expect(settlement.stuck.map(\.positions) == [[1]])
        #expect(settlement.alreadyStored == 2)
        #expect(settlement.parked == 2)
        #expect(settlement.retryPositions == [1])
    }

    @Test("an event that is both refused and to be retried is refused")
    func refusedAndRetried() {
        let outcome = DeliveryOutcome(refusals: refusals(1), retry: .init(positions: [1, 4, 4], reason: reason))
        let settlement = Settlement(of: delivery, outcome: outcome)
        #expect(settlement.retry?.map(\.number) == [4])
        #expect(settlement.delivered == 3)
        #expect(settlement.invalidPositions == 2)
    }

    @Test("positions to be retried may come in any order")
    func unorderedRetry() {
        let outcome = DeliveryOutcome(retry: .init(positions: [4, 0, 3], reason: reason))
        #expect(Settlement(of: delivery, outcome: outcome).retry?.map(\.number) == [0, 3, 4])
    }

    @Test("if a position to be retried is outside the delivery, everything is retried")
    func wrongRetry() {
        let outcome = DeliveryOutcome(retry: .init(positions: [0, 17], reason: reason))
        let settlement = Settlement(of: delivery, outcome: outcome)
        #expect(settlement.retry?.count == 5)
        #expect(settlement.invalidPositions == 1)
    }

    @Test("an empty retry is not a retry")
    func emptyRetry() {
        let outcome = DeliveryOutcome(retry: .init(positions: [], reason: reason))
        let settlement = Settlement(of: delivery, outcome: outcome)
        #expect(settlement.retry == nil)
        #expect(settlement.delivered == 5)
    }
}

@Suite("Backoff between attempts")
struct RetryPolicyTests {
    @Test("each pause is twice the previous one, up to the maximum", arguments: [0.0, 0.5, 1.0])
    func doubling(jitter: Double) {
        let policy = RetryPolicy()
        let pauses = (1...12).map { policy.pause(afterFailures: $0, jitter: jitter) }
        let full = [100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000, 10000, 10000, 10000]
        #expect(pauses == full.map { Duration.milliseconds($0) / 2 * (1 + jitter) })
    }

    @Test("many failures, and extreme settings, give a pause within the maximum")
    func limits() {
        let policy = RetryPolicy()
        #expect(policy.pause(afterFailures: .max, jitter: 7) == .seconds(10))
        #expect(policy.pause(afterFailures: 0, jitter: -1) == .milliseconds(50))
        #expect(RetryPolicy(initialPause: .zero, maximumPause: .zero).pause(afterFailures: 9, jitter: 1) == .zero)
    }
}
