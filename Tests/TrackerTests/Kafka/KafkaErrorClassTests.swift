import CLibRDKafka
import SluiceKafka
import TestPromises
import TestSupport
import Testing

@Suite struct KafkaErrorClassTests {
    @Test(
        "errors caused by bad data are distinguished from outages",
        .promise("outage"),
        arguments: [
            (RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, KafkaErrorClass.refused),
            (RD_KAFKA_RESP_ERR_INVALID_RECORD, .refused),
            (RD_KAFKA_RESP_ERR_INVALID_MSG, .unavailable),
            (RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, .clockSkewed),
            (RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, .timeout),
            (RD_KAFKA_RESP_ERR__TRANSPORT, .unavailable),
            (RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, .unavailable),
            (RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, .notPrepared),
            (RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, .misconfigured),
            (RD_KAFKA_RESP_ERR__FATAL, .fatal),
            (RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, .cancelled),
        ]
    )
    func classes(code: rd_kafka_resp_err_t, kind: KafkaErrorClass) {
        #expect(KafkaErrorClass(code) == kind)
    }

    @Test("an unknown error counts as an outage, because a retry does less harm than a lost event")
    func unknown() {
        #expect(KafkaErrorClass(rd_kafka_resp_err_t(rawValue: 4711)) == .unavailable)
    }
}
