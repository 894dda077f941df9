package import CLibRDKafka
import TrackerKit

/// What an error means for the events.
///
/// This is the only place that distinguishes an outage from bad data, for `start` and for `deliver`.
package enum KafkaErrorClass: Sendable, Hashable {
    /// Kafka will never accept the message. A broker reports this for all messages of a request.
    case refused
    /// The brokers are unreachable, or asked us to retry.
    case unavailable
    /// A broker rejects the messages' timestamps, which come from this machine's clock.
    case clockSkewed
    /// The brokers did not answer in time.
    case timeout
    /// The topic does not exist.
    case notPrepared
    /// The brokers refuse the user's connection or writes.
    case misconfigured
    /// The producer has to be replaced.
    case fatal
    /// The tracker purged the message.
    case cancelled

    /// Classifies an error.
    ///
    /// An unknown error counts as an outage, because a retry does less harm than a lost event.
    package init(_ code: rd_kafka_resp_err_t) {
        switch code {
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
            RD_KAFKA_RESP_ERR_INVALID_RECORD:
            self = .refused
        case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
            self = .clockSkewed
        case RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE, RD_KAFKA_RESP_ERR__MSG_TIMED_OUT,
            RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
            self = .timeout
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
            RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
            self = .notPrepared
        case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION, RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS,
            RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
            RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
            RD_KAFKA_RESP_ERR__AUTHENTICATION,
            RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE,
            RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE, RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
            self = .misconfigured
        case RD_KAFKA_RESP_ERR__FATAL, RD_KAFKA_RESP_ERR__GAPLESS_GUARANTEE, RD_KAFKA_RESP_ERR__FENCED,
            RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
            RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID, RD_KAFKA_RESP_ERR__INCONSISTENT:
            self = .fatal
        case RD_KAFKA_RESP_ERR__PURGE_QUEUE, RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
            self = .cancelled
        default:
            self = .unavailable
        }
    }

    /// Whether the error concerns one topic, so that messages to other topics can succeed.
    ///
    /// For example, the topic is missing, or the user may not write to it.
    package static func isOfTopic(_ code: rd_kafka_resp_err_t) -> Bool {
        switch code {
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
            RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION,
            RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_POLICY_VIOLATION,
            RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
            true
        default:
            false
        }
    }
}

extension TrackerError {
    /// Creates the error that `start` throws or a delivery returns.
    ///
    /// `topic` is the topic concerned, or `nil` if unknown.
    init(_ failure: KafkaFailure, topic: String? = nil) {
        let said = failure.description
        let place = topic.map { "the topic '\($0)'" } ?? "a topic"
        switch KafkaErrorClass(failure.code) {
        case .refused, .unavailable:
            self.init(code: .unavailable, message: "Kafka is unavailable: \(said).", isRetryable: true)
        case .clockSkewed:
            self.init(
                code: .unavailable,
                message: "Kafka rejects the timestamps of messages for \(place), which are the clock of this "
                    + "machine: \(said). Compare its clock with the brokers', and look at the topic's "
                    + "message.timestamp settings.",
                isRetryable: true
            )
        case .timeout:
            self.init(
                code: .timeout,
                message: "Kafka did not answer in time\(topic.map { " for the topic '\($0)'" } ?? ""): \(said).",
                isRetryable: true
            )
        case .notPrepared:
            self.init(
                code: .notPrepared,
                message: "Kafka has no topic \(topic.map { "'\($0)'" } ?? "of this name"): \(said); create it, "
                    + "or set another topic.",
                isRetryable: false
            )
        case .misconfigured:
            self.init(
                code: .misconfigured,
                message: "Kafka does not let us write\(topic.map { " to the topic '\($0)'" } ?? ""): \(said); "
                    + "check the credentials and the ACLs.",
                isRetryable: false
            )
        case .fatal:
            self.init(
                code: .unavailable,
                message: "The producer failed permanently and will be recreated: \(said).",
                isRetryable: true
            )
        case .cancelled:
            self = .cancelled
        }
    }
}
