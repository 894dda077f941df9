import CLibRDKafka
import EventValidation
import SluiceKafka
import SluiceTesting
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite(.timeLimit(.minutes(5))) struct KafkaRefusalTests {
    @Test(
        "a message that exceeds the client's size limit is refused, and the others are delivered",
        .promise("rejected-rows")
    )
    func tooLargeHere() async throws {
        let cluster = try MockKafkaCluster()
        var events = (0..<10).map { ScriptedEvent(KafkaEvents.bought, number: $0) }
        events[4].payload = #"{"text":"\#(String(repeating: "x", count: 20_000))"}"#
        let delivery = Delivery([EventSlice(KafkaEvents.batch(events))])
        let outcome = try await cluster.withTracker(["message.max.bytes": "10000"]) { await $0.deliver(delivery) }
        #expect(outcome.refusals.map(\.position) == [4])
        #expect(outcome.refusals.first?.reason == "Kafka refuses the message: Broker: Message size too large.")
        #expect(outcome.retry == nil)
        #expect(try await cluster.numbers().sorted() == [0, 1, 2, 3, 5, 6, 7, 8, 9])
    }

    @Test(
        "if a broker rejects a request of several messages, those that it accepts one at a time are not refused",
        arguments: [
            RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_RECORD,
            RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
        ]
    )
    func sharedRefusal(error: rd_kafka_resp_err_t) async throws {
        let cluster = try MockKafkaCluster()
        try cluster.makeTopic("events", partitions: 1)
        try await cluster.withTracker(["max.in.flight": "1"]) { tracker in
            cluster.failProducing([error, error, error])
            let outcome = await tracker.deliver(KafkaEvents.delivery(100))
            #expect(outcome.isDelivered)
        }
        #expect(try await cluster.numbers().sorted() == Array(0..<100))
    }

    @Test("messages that are also rejected when sent alone are refused, each with the reason")
    func refusedAlone() async throws {
        let cluster = try MockKafkaCluster()
        try await cluster.withTracker { tracker in
            cluster.failProducing(Array(repeating: RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, count: 100))
            let outcome = await tracker.deliver(KafkaEvents.delivery(5))
            #expect(outcome.refusals.map(\.position) == [0, 1, 2, 3, 4])
            #expect(outcome.refusals.allSatisfy { $0.reason.contains("Message size too large") })
            #expect(outcome.retry == nil)
            cluster.stopFailing()
            #expect(await tracker.deliver(KafkaEvents.delivery(5, from: 5)).isDelivered)
        }
        #expect(try await cluster.numbers().sorted() == [5, 6, 7, 8, 9])
    }
}
