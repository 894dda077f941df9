import CLibRDKafka
import TrackerKit

/// A message that a consumer has read.
package struct KafkaMessage: Sendable, Hashable {
    package struct Header: Sendable, Hashable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package let topic: String
    package let partition: Int32
    package let offset: Int64
    package let key: String?
    package let value: String
    package let headers: [Header]

    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Reads topics from beginning to end, on a thread of its own.
package actor KafkaReader {
    private let brokers: String
    private let properties: [String: String]
    private let thread: BlockingThread

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Creates a reader; `properties` are more of librdkafka's properties, such as credentials.
    package init(brokers: String, properties: [String: String] = [:]) throws {
        thread = try BlockingThread()
        self.brokers = brokers
        self.properties = properties
    }

    /// The number of a topic's partitions.
    package func partitionCount(of topic: String) throws -> Int32 {
        let consumer = try makeConsumer()
        defer { rd_kafka_destroy(consumer) }
        return try partitionCount(of: topic, consumer)
    }

    /// The offset of the first record of a partition that exists, and the one after the last.
    package func watermarks(of topic: String, partition: Int32) throws -> (low: Int64, high: Int64) {
        let consumer = try makeConsumer()
        defer { rd_kafka_destroy(consumer) }
        var (low, high): (Int64, Int64) = (0, 0)
        let code = rd_kafka_query_watermark_offsets(consumer, topic, partition, &low, &high, 10_000)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw MockFailure("no watermarks: \(code)") }
        return (low, high)
    }

    /// All messages: partition by partition, each in the order of its offsets.
    package func messages(in topics: [String]) throws -> [KafkaMessage] {
        let consumer = try makeConsumer()
        defer { rd_kafka_destroy(consumer) }
        let partitions = rd_kafka_topic_partition_list_new(8)
        defer { rd_kafka_topic_partition_list_destroy(partitions) }
        // A set of names, because the end of a partition may be reported twice.
        var open: Set<String> = []
        for topic in topics {
            for partition in 0..<(try partitionCount(of: topic, consumer)) {
                rd_kafka_topic_partition_list_add(partitions, topic, partition).pointee.offset = -2  // the beginning
                open.insert("\(topic)/\(partition)")
            }
        }
        guard rd_kafka_assign(consumer, partitions) == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw MockFailure("the consumer cannot be assigned its partitions")
        }
        var found: [KafkaMessage] = []
        while !open.isEmpty {
            guard let message = rd_kafka_consumer_poll(consumer, 10_000) else { throw MockFailure("no answer in 10 s") }
            defer { rd_kafka_message_destroy(message) }
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR: found.append(KafkaMessage(message))
            case RD_KAFKA_RESP_ERR__PARTITION_EOF:
                let topic = rd_kafka_topic_name(message.pointee.rkt).map { String(cString: $0) } ?? ""
                open.remove("\(topic)/\(message.pointee.partition)")
            case let code: throw MockFailure("reading: \(String(cString: rd_kafka_err2str(code)))")
            }
        }
        rd_kafka_consumer_close(consumer)
        return found.sorted { ($0.topic, $0.partition, $0.offset) < ($1.topic, $1.partition, $1.offset) }
    }

    private func makeConsumer() throws -> OpaquePointer {
        let fixed = [
            "bootstrap.servers": brokers, "group.id": "reader", "enable.partition.eof": "true",
            "enable.auto.commit": "false", "auto.offset.reset": "earliest",
        ]
        let consumer = try KafkaHandle.make(RD_KAFKA_CONSUMER, properties.merging(fixed) { $1 })
        rd_kafka_poll_set_consumer(consumer)
        return consumer
    }

    private func partitionCount(of topic: String, _ consumer: OpaquePointer) throws -> Int32 {
        let handle = rd_kafka_topic_new(consumer, topic, nil)
        defer { rd_kafka_topic_destroy(handle) }
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = rd_kafka_metadata(consumer, 0, handle, &metadata, 10_000)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else { throw MockFailure("no metadata: \(code)") }
        defer { rd_kafka_metadata_destroy(metadata) }
        return metadata.pointee.topics?.pointee.partition_cnt ?? 0
    }
}

extension KafkaMessage {
    fileprivate init(_ message: UnsafePointer<rd_kafka_message_t>) {
        let content = message.pointee
        topic = String(cString: rd_kafka_topic_name(content.rkt))
        partition = content.partition
        offset = content.offset
        key = content.key.map { Self.text($0, content.key_len) }
        value = content.payload.map { Self.text($0, content.len) } ?? ""
        headers = Self.headers(of: message)
    }

    private static func headers(of message: UnsafePointer<rd_kafka_message_t>) -> [Header] {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list else { return [] }
        return (0..<rd_kafka_header_cnt(list)).map { index in
            var name: UnsafePointer<CChar>?
            var value: UnsafeRawPointer?
            var size = 0
            rd_kafka_header_get_all(list, index, &name, &value, &size)
            return Header(name: name.map { String(cString: $0) } ?? "", value: value.map { text($0, size) } ?? "")
        }
    }

    private static func text(_ start: UnsafeRawPointer, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
}
