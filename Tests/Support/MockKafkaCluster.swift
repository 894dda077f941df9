package import CLibRDKafka
import Foundation

/// librdkafka's mock brokers: real listeners on the loopback interface, one cluster for each test.
///
/// It keeps at most 5 MiB for each partition, creates topics with 4 partitions at the first request, and does not
/// discard an idempotent producer's duplicates. A pushed error with a delay hides the errors that are pushed after it.
package final class MockKafkaCluster: @unchecked Sendable {
    // Safe to share: both pointers never change, and every call below only sends a message to the cluster's own thread.
    private let host: OpaquePointer
    private let cluster: OpaquePointer

    /// The value of `bootstrap.servers` for clients.
    package let bootstrapServers: String

    package init(brokers: Int32 = 1) throws {
        let configuration = rd_kafka_conf_new()
        rd_kafka_conf_set_log_cb(configuration) { _, _, _, _ in }
        var reason = [CChar](repeating: 0, count: 512)
        guard let host = rd_kafka_new(RD_KAFKA_PRODUCER, configuration, &reason, reason.count) else {
            rd_kafka_conf_destroy(configuration)
            throw MockFailure("no client for the mock cluster")
        }
        guard let cluster = rd_kafka_mock_cluster_new(host, brokers) else {
            rd_kafka_destroy(host)
            throw MockFailure("no mock cluster of \(brokers) brokers")
        }
        self.host = host
        self.cluster = cluster
        bootstrapServers = rd_kafka_mock_cluster_bootstraps(cluster).map { String(cString: $0) } ?? ""
    }

    deinit {
        // Safe to send: nothing else uses the pointers any more.
        nonisolated(unsafe) let (host, cluster) = (host, cluster)
        // Destroying them blocks, and tests share a small number of threads.
        Thread.detachNewThread {
            rd_kafka_mock_cluster_destroy(cluster)
            rd_kafka_destroy(host)
        }
    }

    /// Creates a topic.
    package func makeTopic(_ name: String, partitions: Int32) throws {
        try check(rd_kafka_mock_topic_create(cluster, name, partitions, 1))
    }

    /// Closes all connections, and accepts no new ones.
    package func goDown() throws {
        try check(rd_kafka_mock_broker_set_down(cluster, -1))
    }

    /// Accepts connections again.
    package func comeUp() throws {
        try check(rd_kafka_mock_broker_set_up(cluster, -1))
    }

    /// Makes the next produce requests fail, one for each error.
    package func failProducing(_ errors: [rd_kafka_resp_err_t]) {
        errors.withUnsafeBufferPointer {
            rd_kafka_mock_push_request_errors_array(cluster, 0, $0.count, $0.baseAddress)
        }
    }

    /// Makes the next requests that commit offsets fail, one for each error.
    package func failCommits(_ errors: [rd_kafka_resp_err_t]) {
        errors.withUnsafeBufferPointer {
            // OffsetCommit, https://kafka.apache.org/protocol
            rd_kafka_mock_push_request_errors_array(cluster, 8, $0.count, $0.baseAddress)
        }
    }

    /// Makes the next requests for records fail, one for each error.
    package func failFetches(_ errors: [rd_kafka_resp_err_t]) {
        errors.withUnsafeBufferPointer {
            // Fetch, https://kafka.apache.org/protocol
            rd_kafka_mock_push_request_errors_array(cluster, 1, $0.count, $0.baseAddress)
        }
    }

    /// Lets produce requests succeed again.
    package func stopFailing() {
        rd_kafka_mock_clear_request_errors(cluster, 0)
    }

    /// Makes every response about the topic contain this error.
    package func setError(_ error: rd_kafka_resp_err_t, ofTopic name: String) {
        rd_kafka_mock_topic_set_error(cluster, name, error)
    }

    /// Delays every response.
    package func setDelay(milliseconds: Int32) throws {
        try check(rd_kafka_mock_broker_set_rtt(cluster, -1, milliseconds))
    }

    /// Reads all messages of the topics from their beginning.
    package func messages(in topics: String...) async throws -> [KafkaMessage] {
        try await KafkaReader(brokers: bootstrapServers).messages(in: topics)
    }

    private func check(_ code: rd_kafka_resp_err_t) throws {
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw MockFailure(String(cString: rd_kafka_err2str(code))) }
    }
}

/// Why the mock cluster, or a consumer of it, failed.
package struct MockFailure: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
