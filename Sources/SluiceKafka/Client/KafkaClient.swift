import CLibRDKafka
import TrackerKit

/// A librdkafka client, with the requests that producers and consumers share.
///
/// It belongs to one thread, and must be closed.
struct KafkaClient {
    let handle: OpaquePointer

    /// Creates a client, which takes ownership of the configuration; if this fails, the configuration is destroyed.
    ///
    /// - Throws: `misconfigured` with librdkafka's message, also for a file that it cannot read; `unavailable`, retryable, if
    ///   the system refuses threads.
    init(_ type: rd_kafka_type_t, _ configuration: OpaquePointer) throws(TrackerError) {
        var reason = [CChar](repeating: 0, count: 512)
        if let handle = rd_kafka_new(type, configuration, &reason, reason.count) {
            self.handle = handle
            return
        }
        let code = rd_kafka_last_error()
        rd_kafka_conf_destroy(configuration)
        // librdkafka starts threads of its own.
        if code == RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE {
            throw TrackerError(
                code: .unavailable,
                message: "librdkafka could not allocate a system resource: \(String(reason)).",
                isRetryable: true
            )
        }
        throw TrackerError(
            code: .misconfigured,
            message: "librdkafka refuses the settings: \(String(reason)).",
            isRetryable: false
        )
    }

    /// Asks the brokers for a topic, or without one whether any broker answers; blocks.
    func ask(for topic: OpaquePointer?, within milliseconds: Int32) throws(KafkaFailure) {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = rd_kafka_metadata(handle, 0, topic, &metadata, milliseconds)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else { throw KafkaFailure(code) }
        defer { rd_kafka_metadata_destroy(metadata) }
        guard topic != nil else { return }
        guard metadata.pointee.topic_cnt > 0, let found = metadata.pointee.topics else {
            throw KafkaFailure(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        }
        guard found.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaFailure(found.pointee.err) }
    }

    /// Requests the list of all topics, with the error code of each; blocks.
    func listTopics(within milliseconds: Int32) throws(KafkaFailure) -> [String: rd_kafka_resp_err_t] {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = rd_kafka_metadata(handle, 1, nil, &metadata, milliseconds)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else { throw KafkaFailure(code) }
        defer { rd_kafka_metadata_destroy(metadata) }
        guard let topics = metadata.pointee.topics else { return [:] }
        var found: [String: rd_kafka_resp_err_t] = [:]
        for topic in UnsafeBufferPointer(start: topics, count: Int(metadata.pointee.topic_cnt)) {
            if let name = topic.topic { found[String(cString: name)] = topic.err }
        }
        return found
    }

    /// Uses another name and password for the connections that the client makes from now on.
    ///
    /// Has no effect with a mechanism other than PLAIN and SCRAM.
    func setCredentials(user: String, password: String) {
        if let error = rd_kafka_sasl_set_credentials(handle, user, password) { rd_kafka_error_destroy(error) }
    }

    /// Destroys the client and its threads; blocks.
    func close() {
        rd_kafka_destroy(handle)
    }
}
