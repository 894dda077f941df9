import CLibRDKafka
package import TrackerKit

/// Requests about a topic's offsets, which block, on a thread of their own, so that the consumer can be polled meanwhile.
///
/// No request may be under way when the consumer is closed.
package actor OffsetRequests {
    /// How long a request may take, in milliseconds.
    ///
    /// librdkafka repeats some requests for longer.
    private static let time: Int32 = 5_000

    // Safe to share: librdkafka's client may be used from any thread.
    private nonisolated(unsafe) let client: KafkaClient
    private let configuration: ConsumerConfiguration
    private let log: KafkaLog
    private let thread: BlockingThread

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Throws: `unavailable` if the system refuses a thread.
    init(_ client: KafkaClient, _ configuration: ConsumerConfiguration, _ log: KafkaLog) throws(TrackerError) {
        self.client = client
        self.configuration = configuration
        self.log = log
        thread = try BlockingThread()
    }

    /// Asks the brokers for the offsets of a partition; blocks.
    ///
    /// - Throws: Why the brokers do not answer, or do not have the topic or the partition.
    package func watermarks(of partition: Int32) throws(TrackerError) -> KafkaConsumer.Watermarks {
        var (low, high): (Int64, Int64) = (0, 0)
        let code = rd_kafka_query_watermark_offsets(
            client.handle,
            configuration.topic,
            partition,
            &low,
            &high,
            Self.time
        )
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw error(KafkaFailure(code)) }
        return KafkaConsumer.Watermarks(low: low, high: high)
    }

    /// Asks the brokers for the offsets of several partitions, with two requests to each broker if all of them answer; blocks.
    ///
    /// Otherwise the partitions are asked for one by one, in random order, until two requests have failed.
    package func watermarks(of partitions: [Int32]) -> [Int32: Result<KafkaConsumer.Watermarks, TrackerError>] {
        if let low = offsets(of: partitions, at: Int64(RD_KAFKA_OFFSET_BEGINNING)),
            let high = offsets(of: partitions, at: Int64(RD_KAFKA_OFFSET_END))
        {
            return low.merging(high) { .init(low: $0.low, high: $1.high) }.mapValues { .success($0) }
        }
        var results: [Int32: Result<KafkaConsumer.Watermarks, TrackerError>] = [:]
        var failures: [TrackerError] = []
        for partition in partitions.shuffled() {
            if failures.count > 1, let failure = failures.last {
                results[partition] = .failure(failure)
                continue
            }
            do throws(TrackerError) {
                results[partition] = .success(try watermarks(of: partition))
            } catch {
                results[partition] = .failure(error)
                failures.append(error)
            }
        }
        return results
    }

    /// The offsets of partitions at a special time; `nil` if one is missing.
    private func offsets(of partitions: [Int32], at time: Int64) -> [Int32: KafkaConsumer.Watermarks]? {
        let list = rd_kafka_topic_partition_list_new(Int32(partitions.count))
        defer { rd_kafka_topic_partition_list_destroy(list) }
        for partition in partitions {
            rd_kafka_topic_partition_list_add(list, configuration.topic, partition).pointee.offset = time
        }
        guard rd_kafka_offsets_for_times(client.handle, list, Self.time) == RD_KAFKA_RESP_ERR_NO_ERROR,
            let found = list?.pointee
        else { return nil }
        var offsets: [Int32: KafkaConsumer.Watermarks] = [:]
        for element in (0..<Int(found.cnt)).map({ found.elems[$0] }) {
            guard element.err == RD_KAFKA_RESP_ERR_NO_ERROR, element.offset >= 0 else { return nil }
            offsets[element.partition] = KafkaConsumer.Watermarks(low: element.offset, high: element.offset)
        }
        return offsets
    }

    /// The offset of the first record at or after a time in milliseconds since 1970, or `end` if there is none; blocks.
    ///
    /// - Throws: Why the brokers do not answer, or do not have the topic or the partition.
    package func offset(of partition: Int32, since milliseconds: Int64, end: Int64) throws(TrackerError) -> Int64 {
        let list = rd_kafka_topic_partition_list_new(1)
        defer { rd_kafka_topic_partition_list_destroy(list) }
        let element = rd_kafka_topic_partition_list_add(list, configuration.topic, partition)
        element?.pointee.offset = milliseconds
        let code = rd_kafka_offsets_for_times(client.handle, list, Self.time)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let element else { throw error(KafkaFailure(code)) }
        guard element.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else { throw error(KafkaFailure(element.pointee.err)) }
        return element.pointee.offset >= 0 ? element.pointee.offset : end
    }

    /// The offset that the group has stored in Kafka; `nil` if there is none; blocks.
    ///
    /// - Throws: Why the brokers do not answer, or do not have the topic or the partition.
    package func committedOffset(of partition: Int32) throws(TrackerError) -> Int64? {
        let list = rd_kafka_topic_partition_list_new(1)
        defer { rd_kafka_topic_partition_list_destroy(list) }
        let element = rd_kafka_topic_partition_list_add(list, configuration.topic, partition)
        let code = rd_kafka_committed(client.handle, list, Self.time)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let element else { throw error(KafkaFailure(code)) }
        guard element.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else { throw error(KafkaFailure(element.pointee.err)) }
        return element.pointee.offset >= 0 ? element.pointee.offset : nil
    }

    /// The id of the cluster; blocks.
    ///
    /// - Throws: `unavailable` if no broker answers.
    package func clusterID() throws(TrackerError) -> String {
        guard let text = rd_kafka_clusterid(client.handle, Self.time) else {
            let reason = log.lastError.map { ": \($0)" } ?? ""
            throw TrackerError(
                code: .unavailable,
                message: "No broker answers at \(configuration.brokers)\(reason).",
                isRetryable: true
            )
        }
        defer { rd_kafka_mem_free(client.handle, text) }
        return String(cString: text)
    }

    /// Why the brokers do not answer; `nil` if they do; blocks.
    package func problem() -> TrackerError? {
        do throws(TrackerError) {
            _ = try partitions()
            return nil
        } catch {
            return error
        }
    }

    /// The numbers of the topic's partitions; blocks.
    ///
    /// - Throws: Why the brokers do not answer, or do not have the topic or the partition.
    package func partitions() throws(TrackerError) -> [Int32] {
        guard let handle = rd_kafka_topic_new(client.handle, configuration.topic, nil) else { throw .withoutMemory }
        defer { rd_kafka_topic_destroy(handle) }
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = rd_kafka_metadata(client.handle, 0, handle, &metadata, Self.time)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else { throw error(KafkaFailure(code)) }
        defer { rd_kafka_metadata_destroy(metadata) }
        guard let topic = metadata.pointee.topics, metadata.pointee.topic_cnt > 0 else { return [] }
        guard topic.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else { throw error(KafkaFailure(topic.pointee.err)) }
        return (0..<Int(topic.pointee.partition_cnt)).map { topic.pointee.partitions[$0].id }.sorted()
    }

    private func error(_ failure: KafkaFailure) -> TrackerError {
        TrackerError(failure, topic: configuration.topic, reading: configuration.brokers)
    }
}
