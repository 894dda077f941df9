import CLibRDKafka
import TrackerKit

/// Creates topics of a real cluster; the mock cluster has a function of its own for that.
package actor KafkaAdministration {
    private let thread: BlockingThread
    // Safe to share: used on the thread of the actor, and in `deinit`.
    private nonisolated(unsafe) let client: OpaquePointer

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    package init(brokers: String, properties: [String: String] = [:]) throws {
        thread = try BlockingThread()
        client = try KafkaHandle.make(
            RD_KAFKA_PRODUCER,
            properties.merging(["bootstrap.servers": brokers]) { $1 }
        )
    }

    deinit {
        rd_kafka_destroy(client)
    }

    /// Creates a topic with the brokers' default number of replicas.
    package func makeTopic(_ name: String, partitions: Int32) throws {
        var reason = [CChar](repeating: 0, count: 512)
        var topic = rd_kafka_NewTopic_new(name, partitions, -1, &reason, reason.count)
        guard topic != nil else { throw MockFailure("the topic \(name)") }
        let queue = rd_kafka_queue_new(client)
        defer {
            rd_kafka_NewTopic_destroy(topic)
            rd_kafka_queue_destroy(queue)
        }
        rd_kafka_CreateTopics(client, &topic, 1, nil, queue)
        let event = rd_kafka_queue_poll(queue, 60_000)
        defer { rd_kafka_event_destroy(event) }
        guard let event, rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_NO_ERROR else {
            let text = event.flatMap(rd_kafka_event_error_string).map { String(cString: $0) }
            throw MockFailure("creating the topic: \(text ?? "no answer")")
        }
        var count = 0
        let results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count)
        for index in 0..<count {
            let result = results?[index]
            guard rd_kafka_topic_result_error(result) != RD_KAFKA_RESP_ERR_NO_ERROR else { continue }
            let text = rd_kafka_topic_result_error_string(result).map { String(cString: $0) }
            throw MockFailure("creating the topic: \(text ?? "an error")")
        }
    }
}
