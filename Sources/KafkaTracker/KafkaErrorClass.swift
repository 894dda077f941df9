package import CLibRDKafka
import EventPipeline

/// What an error means for the events at hand: the one place that tells an outage from bad data.
package enum KafkaErrorClass: Sendable, Hashable {
    /// Kafka will never take the message; a broker says so of all that it got in one request.
    case refused
    /// The brokers are not to be had, or ask to come again.
    case unavailable
    /// They did not answer in time.
    case timeout
    /// The topic is not there.
    case notPrepared
    /// The settings, or the rights of the user, are wrong.
    case misconfigured
    /// The producer must be made anew.
    case fatal
    /// We took the message back.
    case cancelled

    /// Classes an error; one that is not known is an outage, because to try again does less harm than to throw away.
    package init(_ code: rd_kafka_resp_err_t) {
        switch code {
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
            RD_KAFKA_RESP_ERR_INVALID_RECORD, RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
            self = .refused
        case RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE, RD_KAFKA_RESP_ERR__MSG_TIMED_OUT,
            RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
            self = .timeout
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
            RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
            self = .notPrepared
        case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION, RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS,
            RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
            RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR__AUTHENTICATION,
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
}

extension TrackerError {
    /// What an error of a delivery means to the pipeline: the events come again, whatever it is.
    init(_ failure: KafkaFailure) {
        let said = failure.description
        switch KafkaErrorClass(failure.code) {
        case .refused, .unavailable:
            self.init(code: .unavailable, message: "Kafka is not to be had: \(said).", isRetryable: true)
        case .timeout:
            self.init(code: .timeout, message: "Kafka did not answer in time: \(said).", isRetryable: true)
        case .notPrepared:
            self.init(
                code: .notPrepared,
                message: "Kafka has no such topic: \(said); create it.",
                isRetryable: true
            )
        case .misconfigured:
            self.init(
                code: .misconfigured,
                message: "Kafka does not let us write: \(said); look at the settings and the rights.",
                isRetryable: true
            )
        case .fatal:
            self.init(
                code: .unavailable,
                message: "The producer must begin anew: \(said).",
                isRetryable: true
            )
        case .cancelled:
            self.init(code: .cancelled, message: "The delivery was cancelled.", isRetryable: true)
        }
    }
}
