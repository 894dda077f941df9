import CLibRDKafka
import SluiceKafka
import SluiceTesting
import TestPromises
import TestSupport
import Testing
import TrackerKit

/// A topic that accepts no messages does not affect the messages of other topics.
@Suite(.timeLimit(.minutes(5))) struct KafkaBrokenTopicTests {
    private static let returned = Array(stride(from: 2, to: 30, by: 3))
    /// Messages for a missing topic are abandoned soon, those for a topic without permission when they time out.
    private static let properties = ["message.timeout.ms": "15000", "topic.metadata.propagation.max.ms": "100"]

    @Test(
        "if one topic is broken, the events of the others are delivered, and its own are retried with a reason that names it",
        .promise("broken-table"),
        arguments: [
            (RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, TrackerError.Code.notPrepared),
            // librdkafka keeps requesting a topic without permission until its messages time out.
            (RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, .timeout),
        ]
    )
    func broken(error: rd_kafka_resp_err_t, code: TrackerError.Code) async throws {
        let cluster = try MockKafkaCluster()
        cluster.setError(error, ofTopic: "item_returned")
        try await cluster.withTracker(topic: "{event}", Self.properties) { tracker in
            for round in 0..<2 {
                let outcome = await tracker.deliver(KafkaEvents.delivery(30, from: round * 30))
                #expect(outcome.refusals.isEmpty)
                #expect(outcome.retry?.positions == Self.returned)
                #expect(outcome.retry?.reason.code == code)
                #expect(outcome.retry?.reason.isRetryable == (code == .timeout))
                #expect(outcome.retry?.reason.message.contains("'item_returned'") == true, "\(outcome)")
            }
        }
        #expect(try await cluster.numbers(in: "item_purchased").sorted() == (0..<60).filter { $0 % 3 != 2 })
    }

    @Test("if all topics are missing, the tracker does not start, and the error names one of them")
    func all() async throws {
        let cluster = try MockKafkaCluster()
        for topic in ["item_returned", "item_purchased"] {
            cluster.setError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, ofTopic: topic)
        }
        let tracker = cluster.tracker(topic: "{event}")
        let error = await #expect(throws: TrackerError.self) { try await tracker.start(for: KafkaEvents.catalog) }
        #expect(error?.code == .notPrepared)
        #expect(error?.isRetryable == false)
        #expect(error?.message.contains("'item_purchased'") == true)
        await tracker.stop()
    }

    @Test(
        "a tracker that requires every topic does not start if one is missing, and the error names it",
        .promise("bounded-attempts")
    )
    func requiresEveryTopic() async throws {
        let cluster = try MockKafkaCluster()
        cluster.setError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, ofTopic: "item_returned")
        let configuration = KafkaConfiguration(
            brokers: cluster.bootstrapServers,
            topic: "{event}",
            requiresEveryTopic: true
        )
        let tracker = KafkaTracker(configuration, logger: .quiet)
        let error = await #expect(throws: TrackerError.self) { try await tracker.start(for: KafkaEvents.catalog) }
        #expect(error?.code == .notPrepared)
        #expect(error?.message.contains("'item_returned'") == true)
        await tracker.stop()
    }

    @Test(
        "timestamps that a broker rejects count as an outage, the reason names the clock, and no event is refused",
        .promise("outage")
    )
    func clock() async throws {
        let cluster = try MockKafkaCluster()
        try cluster.makeTopic("events", partitions: 1)
        try await cluster.withTracker(["max.in.flight": "1"]) { tracker in
            cluster.failProducing(Array(repeating: RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, count: 20))
            let delivery = KafkaEvents.delivery(10)
            let outcome = await tracker.deliver(delivery)
            #expect(outcome.refusals.isEmpty)
            #expect(outcome.retry?.positions == Array(0..<10))
            #expect(outcome.retry?.reason.code == .unavailable)
            #expect(outcome.retry?.reason.isRetryable == true)
            #expect(outcome.retry?.reason.message.contains("the clock of this machine") == true)
            cluster.stopFailing()
            #expect(await tracker.deliver(delivery).isDelivered)
        }
        #expect(try await cluster.numbers().sorted() == Array(0..<10))
    }

    @Test("problems(for:) reports missing topics and creates none")
    func problems() async throws {
        let cluster = try MockKafkaCluster()
        try cluster.makeTopic("item_purchased", partitions: 1)
        let tracker = cluster.tracker(topic: "{event}")
        for _ in 0..<2 {
            let problems = await tracker.problems(in: PipelineOutline(catalog: KafkaEvents.catalog, hasJournal: true))
            #expect(problems.map(\.code) == [.notPrepared])
            #expect(problems.first?.message.contains("'item_returned'") == true, "\(problems)")
        }
        try cluster.makeTopic("item_returned", partitions: 1)
        #expect(
            await tracker.problems(in: PipelineOutline(catalog: KafkaEvents.catalog, hasJournal: true)).map(\.message)
                == []
        )
        await tracker.stop()
    }

    @Test("if the brokers are unreachable, the problem names them")
    func noBrokers() async throws {
        let cluster = try MockKafkaCluster()
        try cluster.goDown()
        let configuration = KafkaConfiguration(brokers: cluster.bootstrapServers, startTimeout: .milliseconds(300))
        let tracker = KafkaTracker(configuration, logger: .quiet)
        let problems = await tracker.problems(in: PipelineOutline(catalog: KafkaEvents.catalog, hasJournal: false))
        #expect(problems.map(\.code) == [.unavailable])
        #expect(problems.first?.message.contains(cluster.bootstrapServers) == true)
        await tracker.stop()
    }
}
