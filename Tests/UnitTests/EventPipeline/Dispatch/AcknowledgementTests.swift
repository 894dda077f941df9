import EventPipeline
import EventValidation
import SluiceTesting
import TestPromises
import Testing
import TrackerKit

@Suite("Acknowledging what is delivered")
struct AcknowledgementTests {
    private static func configuration(
        _ policy: Pipeline.AcknowledgementPolicy,
        linger: Duration = .zero
    ) -> Pipeline.Configuration {
        var configuration = Pipeline.Configuration.small(linger: linger)
        configuration.acknowledgement = policy
        return configuration
    }

    private static let outage = DeliveryOutcome.retry(
        TrackerError(code: .unavailable, message: "scripted", isRetryable: true)
    )

    @Test(
        "a sender waits until every tracker has settled its batch, without a journal and with one",
        .promise("relay-node-loss"),
        arguments: [false, true]
    )
    func delivered(hasJournal: Bool) throws {
        let harness = DispatchStateHarness(Self.configuration(.delivered), hasJournal: hasJournal)
        harness.start()
        harness.submit(2, "AB", number: 1)
        harness.submit(1, "A", number: 2)
        if hasJournal {
            harness.commitNext()
            harness.commitNext()
        }
        #expect(harness.result(of: 1) == nil)
        let first = try #require(harness.delivery(0))
        harness.settle(0, first)
        #expect(harness.result(of: 1) == nil)
        #expect(harness.result(of: 2) == .success(.delivered))
        let second = try #require(harness.delivery(1))
        harness.settle(1, second)
        #expect(harness.result(of: 1) == .success(.delivered))
    }

    @Test("batches are delivered at once, since their senders wait")
    func noLinger() throws {
        let harness = DispatchStateHarness(Self.configuration(.delivered, linger: .seconds(1)))
        harness.start()
        harness.submit(1, "A", number: 1)
        #expect(harness.delivery(0)?.count == 1)
    }

    @Test(
        "while a tracker does not deliver, batches for it are refused, and those for others are not",
        .promise("relay-outage")
    )
    func refused() throws {
        let harness = DispatchStateHarness(Self.configuration(.delivered), hasJournal: true)
        #expect(harness.submit(1, "A") == .rejected(.unavailable))
        harness.start()
        harness.submit(1, "A", number: 1)
        harness.commitNext()
        harness.settle(0, try #require(harness.delivery(0)), Self.outage)
        // It was accepted before, and stays so.
        #expect(harness.result(of: 1) == nil)
        #expect(harness.submit(1, "A") == .rejected(.unavailable))
        guard case .committing = harness.submit(1, "B") else {
            Issue.record("the other tracker delivers")
            return
        }
        harness.now = .seconds(9)
        harness.settle(0, try #require(harness.delivery(0)))
        #expect(harness.result(of: 1) == .success(.delivered))
        guard case .committing = harness.submit(1, "A") else {
            Issue.record("the tracker delivers again")
            return
        }
    }

    @Test("with the journal as a fallback, senders are told that their batches are stored")
    func stored() throws {
        let harness = DispatchStateHarness(Self.configuration(.deliveredIfAvailable), hasJournal: true)
        harness.submit(1, "A", number: 1)
        harness.commitNext()
        #expect(harness.result(of: 1) == .success(.stored))
        harness.start()
        harness.submit(1, "A", number: 2)
        harness.commitNext()
        #expect(harness.result(of: 2) == nil)
        harness.settle(0, try #require(harness.delivery(0)), Self.outage)
        #expect(harness.result(of: 2) == .success(.stored))
        harness.submit(1, "A", number: 3)
        harness.commitNext()
        #expect(harness.result(of: 3) == .success(.stored))
    }

    @Test(
        "with the journal as a fallback, a sender that stops waiting for the delivery is told that its batch is stored",
        .promise("relay-outage")
    )
    func impatient() throws {
        let harness = DispatchStateHarness(Self.configuration(.deliveredIfAvailable), hasJournal: true)
        harness.start()
        let first = harness.submit(1, "AB", number: 1)
        harness.submit(1, "A", number: 2)
        harness.commitNext()
        harness.commitNext()
        let delivery = try #require(harness.delivery(0))
        #expect(harness.withdraw(first) == .decided)
        #expect(harness.result(of: 1) == .success(.stored))
        // It is delivered all the same, and the senders after it are answered.
        harness.settle(0, delivery)
        #expect(harness.result(of: 2) == .success(.delivered))
        #expect(harness.withdraw(first) == .decided)
    }

    @Test(
        "if the journal loses events of a tracker, senders that wait for it are told that the outcome is unknown",
        .promise("relay-outage")
    )
    func lost() throws {
        let harness = DispatchStateHarness(Self.configuration(.delivered), hasJournal: true)
        harness.start()
        harness.submit(1, "A", number: 1)
        harness.submit(1, "B", number: 2)
        harness.commitNext()
        harness.commitNext()
        harness.act { state, actions in
            state.endDeliveryWaits(lostIn: 0, actions: &actions)
        }
        #expect(harness.result(of: 1) == .failure(.outcomeUnknown))
        #expect(harness.result(of: 2) == nil)
    }

    @Test("a paused tracker counts as one that does not deliver")
    func paused() {
        let harness = DispatchStateHarness(Self.configuration(.delivered), hasJournal: true)
        harness.start()
        harness.act { state, actions in state.setPaused(true, of: 0, actions: &actions) }
        #expect(harness.submit(1, "A") == .rejected(.unavailable))
    }

    @Test("a batch that waits for its delivery cannot be withdrawn, and is answered at the end of the pipeline")
    func withdrawal() {
        let harness = DispatchStateHarness(Self.configuration(.delivered), hasJournal: true)
        harness.start()
        let admission = harness.submit(1, "A", number: 1)
        harness.commitNext()
        #expect(harness.withdraw(admission) == .committing)
        #expect(harness.result(of: 1) == nil)
        harness.act { state, actions in state.cancel(now: .zero, actions: &actions) }
        // The deliveries are cancelled, the workers left behind, and the journal is closed.
        for hour in 1...3 {
            harness.act { state, actions in
                _ = state.nextSupervisorStep(now: .seconds(3600 * hour), actions: &actions)
            }
        }
        #expect(harness.result(of: 1) == .failure(.outcomeUnknown))
    }
}
