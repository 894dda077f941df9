package import CLibRDKafka

/// An error with librdkafka's message.
package struct KafkaFailure: Error, Sendable, CustomStringConvertible {
    /// The error code.
    package let code: rd_kafka_resp_err_t
    /// The message; it never contains a value from an event.
    package let description: String

    /// Creates a failure with librdkafka's message for the code, or with a more specific one.
    package init(_ code: rd_kafka_resp_err_t, _ description: String? = nil) {
        self.code = code
        self.description = description ?? rd_kafka_err2str(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
    }
}

extension rd_kafka_resp_err_t {
    /// Kafka does not allow the topic's name.
    static var invalidTopic: Self { RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION }
    /// The message was purged from the queue.
    static var purged: Self { RD_KAFKA_RESP_ERR__PURGE_QUEUE }
}
