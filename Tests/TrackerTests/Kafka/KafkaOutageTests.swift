import CLibRDKafka
import EventValidation
import SluiceKafka
import SluiceTesting
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite(.timeLimit(.minutes(5))) struct KafkaOutageTests {
    @Test("no event is lost if the brokers go down while requests are in flight and come back up", .promise("outage"))
    func downAndUp() async throws {
        let cluster = try MockKafkaCluster()
        let log = ClientLog()
        try await cluster.withConnectedTracker(log) { tracker in
            for round in 0..<3 {
                // No response arrives before the brokers go down.
                try cluster.setDelay(milliseconds: 600_000)
                let sent = log.sentProduceRequests
                async let outcome = tracker.deliver(KafkaEvents.delivery(200, from: round * 200))
                await log.waitForProduceRequests(sent + 1)
                try cluster.goDown()
                try cluster.setDelay(milliseconds: 0)
                try cluster.comeUp()
                #expect(await outcome.isDelivered)
                // The requests were sent again.
                #expect(log.sentProduceRequests > sent + 1)
            }
        }
        #expect(Set(try await cluster.numbers()) == Set(0..<600))
    }

    @Test(
        "librdkafka retries a transient error",
        arguments: [
            RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
            RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR__TRANSPORT,
        ]
    )
    func passingError(error: rd_kafka_resp_err_t) async throws {
        let cluster = try MockKafkaCluster()
        // Unlike Kafka's brokers, the mock does not check sequence numbers: it accepts a second request after it has
        // rejected the first, and librdkafka then concludes that it has accepted the first, too. So only one request may be
        // in flight.
        try await cluster.withTracker(["retry.backoff.ms": "20", "max.in.flight": "1"]) { tracker in
            cluster.failProducing([error, error])
            #expect(await tracker.deliver(KafkaEvents.delivery(100)).isDelivered)
        }
        #expect(Set(try await cluster.numbers()) == Set(0..<100))
    }

    @Test(
        "a persistent error makes the tracker ask for a retry, and the events are delivered once the error is gone",
        .promise("outage"),
        arguments: [
            (RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, TrackerError.Code.misconfigured),
            (RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS, .misconfigured),
            (RD_KAFKA_RESP_ERR_UNKNOWN, .unavailable),
        ]
    )
    func lastingError(error: rd_kafka_resp_err_t, code: TrackerError.Code) async throws {
        let cluster = try MockKafkaCluster()
        try cluster.makeTopic("events", partitions: 1)
        try await cluster.withTracker(["max.in.flight": "1"]) { tracker in
            cluster.failProducing(Array(repeating: error, count: 20))
            let delivery = KafkaEvents.delivery(10)
            let outcome = await tracker.deliver(delivery)
            #expect(outcome.refusals.isEmpty)
            #expect(outcome.retry?.positions == Array(0..<10))
            #expect(outcome.retry?.reason.code == code)
            cluster.stopFailing()
            #expect(await deliver(delivery, with: tracker).isDelivered)
        }
        #expect(Set(try await cluster.numbers()) == Set(0..<10))
    }

    @Test("a message timeout makes the tracker ask for a retry, and the reason names the timeout")
    func timeout() async throws {
        let cluster = try MockKafkaCluster()
        try await cluster.withTracker(["message.timeout.ms": "300"]) { tracker in
            try cluster.goDown()
            let delivery = KafkaEvents.delivery(10)
            let outcome = await tracker.deliver(delivery)
            #expect(outcome.retry?.positions == Array(0..<10))
            #expect(outcome.retry?.reason.code == .timeout)
            #expect(outcome.retry?.reason.isRetryable == true)
            try cluster.comeUp()
            #expect(await deliver(delivery, with: tracker).isDelivered)
        }
        #expect(Set(try await cluster.numbers()) == Set(0..<10))
    }

    @Test("a delivery that is cancelled during an outage returns, releases its batch, and can be delivered again")
    func cancellation() async throws {
        let cluster = try MockKafkaCluster()
        let log = ClientLog()
        try await cluster.withConnectedTracker(log) { tracker in
            weak var batch: EventBatch?
            do {
                let delivery = KafkaEvents.delivery(20_000)
                batch = delivery.slices.first?.batch
                let outcome = try await cancelled(delivery, with: tracker, in: cluster, log)
                #expect(outcome.retry?.positions == Array(0..<20_000))
                #expect(outcome.retry?.reason.code == .cancelled)
            }
            #expect(batch == nil)
            try cluster.comeUp()
            #expect(await tracker.deliver(KafkaEvents.delivery(1000)).isDelivered)
        }
        #expect(Set(try await cluster.numbers()).isSuperset(of: 0..<1000))
    }

    @Test("a delivery that is cancelled while its requests are in flight does not wait for the responses")
    func cancellationInFlight() async throws {
        let cluster = try MockKafkaCluster()
        let log = ClientLog()
        try await cluster.withConnectedTracker(log) { tracker in
            try cluster.setDelay(milliseconds: 600_000)
            let delivery = KafkaEvents.delivery(5000)
            let sent = log.sentProduceRequests
            let task = Task { await tracker.deliver(delivery) }
            await log.waitForProduceRequests(sent + 1)
            task.cancel()
            let outcome = await task.value
            #expect(outcome.retry?.positions == Array(0..<5000))
            #expect(outcome.retry?.reason.code == .cancelled)
            // A request that waits for its response would keep waiting, so close the connections.
            try cluster.goDown()
            try cluster.setDelay(milliseconds: 0)
            try cluster.comeUp()
            #expect(await deliver(delivery, with: tracker).isDelivered)
        }
        #expect(Set(try await cluster.numbers()) == Set(0..<5000))
    }

    @Test("purging a cancelled delivery's messages purges none of the next delivery's", .promise("outage"))
    func deliveryAfterCancellation() async throws {
        let cluster = try MockKafkaCluster(brokers: 3)
        try cluster.makeTopic("events", partitions: 48)
        let log = ClientLog()
        try await cluster.withConnectedTracker(log) { tracker in
            for round in 0..<30 {
                let delivery = KafkaEvents.delivery(1000, from: round * 1000)
                let outcome = try await cancelled(delivery, with: tracker, in: cluster, log)
                #expect(outcome.retry?.positions == Array(0..<1000))
                try cluster.comeUp()
                #expect(await tracker.deliver(delivery).isDelivered)
            }
        }
    }

    @Test("the producer is replaced after a fatal error")
    func fatalError() async throws {
        let cluster = try MockKafkaCluster()
        try await cluster.withTracker { tracker in
            #expect(await tracker.deliver(KafkaEvents.delivery(10)).isDelivered)
            await tracker.raiseFatalError()
            let delivery = KafkaEvents.delivery(10, from: 10)
            let outcome = await tracker.deliver(delivery)
            #expect(outcome.retry?.positions == Array(0..<10))
            #expect(outcome.retry?.reason.message.contains("raised by a test") == true)
            #expect(await tracker.deliver(delivery).isDelivered)
        }
        #expect(try await cluster.numbers().sorted() == Array(0..<20))
    }

    /// Delivers as the pipeline does, with a few retries.
    private func deliver(_ delivery: Delivery, with tracker: KafkaTracker) async -> DeliveryOutcome {
        var outcome = await tracker.deliver(delivery)
        for _ in 0..<20 {
            guard let positions = outcome.retry?.positions else { break }
            outcome = await tracker.deliver(delivery.selecting(positions))
        }
        return outcome
    }

    /// Cancels a delivery while the brokers are down and librdkafka has the events; leaves the brokers down.
    private func cancelled(
        _ delivery: Delivery,
        with tracker: KafkaTracker,
        in cluster: MockKafkaCluster,
        _ log: ClientLog
    ) async throws -> DeliveryOutcome {
        try cluster.setDelay(milliseconds: 600_000)
        let sent = log.sentProduceRequests
        let task = Task { await tracker.deliver(delivery) }
        await log.waitForProduceRequests(sent + 1)
        try cluster.goDown()
        try cluster.setDelay(milliseconds: 0)
        task.cancel()
        return await task.value
    }
}

extension MockKafkaCluster {
    /// Calls `body` with a tracker that has already delivered an event.
    ///
    /// A delay holds up every response. Without a previous delivery, that could be the response to the handshake or to the
    /// request for a producer id, and no produce request would ever be sent.
    fileprivate func withConnectedTracker(
        _ log: ClientLog,
        _ body: (KafkaTracker) async throws -> Void
    ) async throws {
        try await withTracker(ClientLog.properties, logger: log.logger) { tracker in
            #expect(await tracker.deliver(KafkaEvents.delivery(1)).isDelivered)
            try await body(tracker)
        }
    }
}
