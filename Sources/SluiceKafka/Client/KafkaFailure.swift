package import CLibRDKafka

/// An error in librdkafka's own words.
package struct KafkaFailure: Error, Sendable, CustomStringConvertible {
    /// Which error.
    package let code: rd_kafka_resp_err_t
    /// The sentence that goes with it; never a value from an event.
    package let description: String

    /// Takes librdkafka's sentence for a code, or a better one.
    package init(_ code: rd_kafka_resp_err_t, _ description: String? = nil) {
        self.code = code
        self.description = description ?? rd_kafka_err2str(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
    }
}

extension rd_kafka_resp_err_t {
    /// A topic's name that Kafka cannot have.
    static var invalidTopic: Self { RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION }
    /// A message that was taken back.
    static var purged: Self { RD_KAFKA_RESP_ERR__PURGE_QUEUE }
}
