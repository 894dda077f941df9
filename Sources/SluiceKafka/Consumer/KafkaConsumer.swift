import CLibRDKafka
package import Logging
package import TrackerKit

/// A member of a consumer group that reads one topic, each partition through a queue of its own.
///
/// A partition whose queue is not read stops fetching at `queued.max.messages.kbytes`, and the others continue. (Pausing and resuming
/// would do the same, but has faults in librdkafka 2.0.2, fixed in 2.1.0 and 2.4.0.) The member counts as alive as long as `poll` is
/// called. It belongs to one thread and must be closed.
package final class KafkaConsumer {
    /// A change of the assignment, or a failure.
    package enum GroupEvent {
        /// The group assigns these partitions, in addition to none, because assignment is eager.
        case assigned([Int32])
        /// The group takes all partitions away, once `unassign` is called.
        case revoked
        /// The group has given all partitions to others already; call `unassign`.
        case lost
        /// A failure from which librdkafka recovers on its own, unless it needs an operator.
        case failed(TrackerError)
        /// The consumer cannot be used any more.
        case ended(TrackerError)
    }

    /// The result of a seek.
    package enum SeekResult {
        case done
        /// librdkafka has not started reading the partition, or has stopped because its fetch offset did not exist. Once it has
        /// stopped, only a new assignment helps.
        case refused
        /// Seek again later.
        case uncertain
    }

    /// The offsets of a partition.
    package struct Watermarks: Sendable, Hashable {
        /// The offset of the first record that exists.
        package let low: Int64
        /// The offset of the next record.
        package let high: Int64

        package init(low: Int64, high: Int64) {
            self.low = low
            self.high = high
        }
    }

    /// How long the brokers may take to answer that a member leaves.
    private static let closingTime = Duration.seconds(5)
    /// The timeout of a seek in milliseconds; it blocks the caller's thread.
    private static let requestTime: Int32 = 2_000

    private let client: KafkaClient
    private let context: ConsumerContext
    private let configuration: ConsumerConfiguration
    private let wakeup: Wakeup
    private let groupQueue: OpaquePointer
    /// Gets the answers to commits.
    private let commits: OpaquePointer
    private var isFreed = false
    private var queues: [Int32: OpaquePointer] = [:]
    /// The partitions in which no seek has succeeded since their assignment.
    private var pausedPartitions: Set<Int32> = []

    /// Connects when it is polled.
    ///
    /// - Throws: `invalidSettings`, and what `KafkaClient` throws.
    package init(_ configuration: ConsumerConfiguration, wakeup: Wakeup, logger: Logger) throws(TrackerError) {
        let properties = try configuration.makeConfiguration()
        let context = ConsumerContext(KafkaLog(logger: logger))
        context.listen(to: properties)
        do throws(TrackerError) {
            client = try KafkaClient(RD_KAFKA_CONSUMER, properties)
        } catch {
            context.letGo()
            throw error
        }
        self.context = context
        self.configuration = configuration
        self.wakeup = wakeup
        rd_kafka_poll_set_consumer(client.handle)
        guard let queue = rd_kafka_queue_get_consumer(client.handle), let commits = rd_kafka_queue_new(client.handle)
        else {
            client.close()
            context.letGo()
            throw .withoutMemory
        }
        groupQueue = queue
        self.commits = commits
        enableWakeup(by: queue)
        enableWakeup(by: commits)
    }

    private func enableWakeup(by queue: OpaquePointer) {
        var byte: UInt8 = 1
        rd_kafka_queue_io_event_enable(queue, wakeup.writeEnd, &byte, 1)
    }

    /// Reads the name and the password again that can change, for the connections that librdkafka makes from now on.
    ///
    /// Call it after a failure. If they cannot be read, the earlier ones stay in use.
    package func renewCredentials() {
        guard let read = configuration.readChangingProperties, let changed = try? read() else { return }
        let properties = configuration.properties.merging(changed) { $1 }
        guard let password = properties["sasl.password"],
            let user = properties["sasl.username"]
        else { return }
        client.setCredentials(user: user, password: password)
    }

    // MARK: The group

    /// Joins the group.
    ///
    /// - Throws: Why librdkafka cannot join it.
    package func subscribe() throws(TrackerError) {
        let list = rd_kafka_topic_partition_list_new(1)
        defer { rd_kafka_topic_partition_list_destroy(list) }
        rd_kafka_topic_partition_list_add(list, configuration.topic, RD_KAFKA_PARTITION_UA)
        let code = rd_kafka_subscribe(client.handle, list)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw error(KafkaFailure(code)) }
    }

    /// Leaves the group, which revokes the partitions first.
    package func unsubscribe() {
        rd_kafka_unsubscribe(client.handle)
    }

    /// The next event, without waiting; `nil` if there is none.
    package func poll() -> GroupEvent? {
        while true {
            if let event = context.takeRebalance() { return event }
            // Rebalances arrive during the call.
            guard let message = rd_kafka_consumer_poll(client.handle, 0) else { return context.takeRebalance() }
            defer { rd_kafka_message_destroy(message) }
            let code = message.pointee.err
            // Before the queues were separated, a record may have been put here; it is read again, because offsets are set.
            if code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR__PARTITION_EOF { continue }
            renewCredentials()
            let failure = error(
                KafkaFailure(code, rd_kafka_message_errstr(message).map { String(cString: $0) })
            )
            return code == RD_KAFKA_RESP_ERR__FATAL ? .ended(failure) : .failed(failure)
        }
    }

    /// Takes the partitions over, or starts reading them again; nothing is read from a partition before `seek`.
    ///
    /// - Throws: Why librdkafka does not accept the assignment.
    package func assign(_ partitions: [Int32]) throws(TrackerError) {
        releaseQueues()
        let list = rd_kafka_topic_partition_list_new(Int32(partitions.count))
        defer { rd_kafka_topic_partition_list_destroy(list) }
        for partition in partitions {
            // For a logical offset, librdkafka 2.0.2 queries the brokers, and loses a seek during the query.
            rd_kafka_topic_partition_list_add(list, configuration.topic, partition).pointee.offset = 0
            guard let queue = rd_kafka_queue_get_partition(client.handle, configuration.topic, partition) else {
                throw .withoutMemory
            }
            // Must come before the assignment, so that no record goes to the group's queue.
            rd_kafka_queue_forward(queue, nil)
            enableWakeup(by: queue)
            queues[partition] = queue
        }
        // Otherwise requests for offsets would wait behind a fetch at this offset, and so would the first fetch after the seek.
        rd_kafka_pause_partitions(client.handle, list)
        pausedPartitions = Set(partitions)
        let code = rd_kafka_assign(client.handle, list)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw error(KafkaFailure(code)) }
    }

    /// Gives all partitions back, those included that the group has just assigned and that were not taken over.
    package func unassign() {
        releaseQueues()
        client.handle.giveBackPartitions(answering: .assignment)
        client.handle.giveBackPartitions(answering: .revocation)
    }

    private func releaseQueues() {
        for queue in queues.values {
            rd_kafka_queue_io_event_enable(queue, -1, nil, 0)
            rd_kafka_queue_destroy(queue)
        }
        queues = [:]
    }

    /// Whether the group has given the partitions to others, although `poll` has not said so yet.
    package var hasLostAssignment: Bool { rd_kafka_assignment_lost(client.handle) != 0 }

    // MARK: Records

    /// The next entry of a partition's queue, without waiting; `nil` if it is empty.
    package func read(_ partition: Int32) -> PartitionMessage<ConsumedRecord>? {
        guard let queue = queues[partition], let message = rd_kafka_consume_queue(queue, 0) else { return nil }
        switch message.pointee.err {
        case RD_KAFKA_RESP_ERR_NO_ERROR: return .record(ConsumedRecord(adopting: message))
        case RD_KAFKA_RESP_ERR__PARTITION_EOF:
            defer { rd_kafka_message_destroy(message) }
            return .end(message.pointee.offset)
        case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
            rd_kafka_message_destroy(message)
            return .outOfRange
        case let code:
            defer { rd_kafka_message_destroy(message) }
            return .failed(error(KafkaFailure(code, rd_kafka_message_errstr(message).map { String(cString: $0) })))
        }
    }

    /// Continues a partition at an offset; what is in its queue is dropped.
    package func seek(_ partition: Int32, to offset: Int64) -> SeekResult {
        let list = rd_kafka_topic_partition_list_new(1)
        defer { rd_kafka_topic_partition_list_destroy(list) }
        let element = rd_kafka_topic_partition_list_add(list, configuration.topic, partition)
        element?.pointee.offset = offset
        let result = seek(list)
        guard result == .done, pausedPartitions.remove(partition) != nil else { return result }
        // An error of an earlier assignment may be left, which librdkafka does not drop.
        while let queue = queues[partition], let message = rd_kafka_consume_queue(queue, 0) {
            rd_kafka_message_destroy(message)
        }
        // Only now, so that nothing is fetched from another offset, and only once, because resuming drops what is in the queue (before
        // 2.4.0). The second seek wakes the thread that fetches.
        rd_kafka_resume_partitions(client.handle, list)
        return seek(list)
    }

    private func seek(_ list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?) -> SeekResult {
        // librdkafka 2.0.2 takes the milliseconds for microseconds (fixed in 2.1.0), which is still long enough for a thread to answer.
        if let failure = rd_kafka_seek_partitions(client.handle, list, Self.requestTime) {
            rd_kafka_error_destroy(failure)
            return .uncertain
        }
        return switch list?.pointee.elems.pointee.err {
        case RD_KAFKA_RESP_ERR_NO_ERROR: .done
        case RD_KAFKA_RESP_ERR__STATE: .refused
        default: .uncertain
        }
    }

    // MARK: Offsets

    /// The offsets of a partition as the latest answer had them; `nil` before the first.
    package func knownWatermarks(of partition: Int32) -> Watermarks? {
        var (low, high): (Int64, Int64) = (0, 0)
        let code = rd_kafka_get_watermark_offsets(client.handle, configuration.topic, partition, &low, &high)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, low >= 0, high >= 0 else { return nil }
        return Watermarks(low: low, high: high)
    }

    /// Sends offsets of the group to Kafka; `takeCommitAnswers` says later whether they are stored.
    ///
    /// - Throws: Why they cannot be sent.
    package func commit(_ offsets: [Int32: Int64]) throws(TrackerError) {
        guard !offsets.isEmpty else { return }
        let list = rd_kafka_topic_partition_list_new(Int32(offsets.count))
        defer { rd_kafka_topic_partition_list_destroy(list) }
        for (partition, offset) in offsets {
            rd_kafka_topic_partition_list_add(list, configuration.topic, partition).pointee.offset = offset
        }
        let code = rd_kafka_commit_queue(client.handle, list, commits, nil, nil)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw error(KafkaFailure(code)) }
    }

    /// Takes the answers to commits, without waiting.
    package func takeCommitAnswers() -> [Result<Void, TrackerError>] {
        var answers: [Result<Void, TrackerError>] = []
        while let event = rd_kafka_queue_poll(commits, 0) {
            defer { rd_kafka_event_destroy(event) }
            guard rd_kafka_event_type(event) == RD_KAFKA_EVENT_OFFSET_COMMIT else { continue }
            let code = Self.commitError(of: event)
            answers.append(
                code == RD_KAFKA_RESP_ERR_NO_ERROR ? .success(()) : .failure(error(KafkaFailure(code)))
            )
        }
        return answers
    }

    /// The error of a commit as a whole, or of the first partition with one.
    private static func commitError(of event: OpaquePointer) -> rd_kafka_resp_err_t {
        let code = rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let list = rd_kafka_event_topic_partition_list(event)?.pointee
        else { return code }
        return (0..<Int(list.cnt)).lazy.compactMap { list.elems[$0].err }.first { $0 != RD_KAFKA_RESP_ERR_NO_ERROR }
            ?? RD_KAFKA_RESP_ERR_NO_ERROR
    }

    /// Leaves the group and frees everything; blocks for as long as the brokers may take to answer.
    ///
    /// No record may be alive. If the brokers do not answer in time, the memory stays allocated, and they notice the end of the member
    /// by its silence.
    package func close() {
        context.isClosing = true
        unassign()
        // Changes that were answered before they were read, which must not be answered again below.
        while let message = rd_kafka_consumer_poll(client.handle, 0) { rd_kafka_message_destroy(message) }
        if let failure = rd_kafka_consumer_close_queue(client.handle, groupQueue) { rd_kafka_error_destroy(failure) }
        let clock = ContinuousClock()
        let deadline = clock.now + Self.closingTime
        while rd_kafka_consumer_closed(client.handle) == 0 {
            guard clock.now < deadline else { return }
            guard let event = rd_kafka_queue_poll(groupQueue, 50) else { continue }
            // The revocation for the end. Its client waits for the answer, so the group cannot end before it, which would drop the answer. An
            // assignment is not answered any more: the client gives it back by itself.
            if rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE,
                rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS
            {
                client.handle.giveBackPartitions(answering: .revocation)
            }
            rd_kafka_event_destroy(event)
        }
        for queue in [groupQueue, commits] {
            rd_kafka_queue_io_event_enable(queue, -1, nil, 0)
            rd_kafka_queue_destroy(queue)
        }
        client.close()
        context.letGo()
        isFreed = true
    }

    deinit {
        // librdkafka's threads still use what this object owns.
        if !isFreed { _ = Unmanaged.passRetained(wakeup) }  // never released
    }

    /// A view of the client for requests that block, to be used on another thread until the consumer is closed.
    ///
    /// - Throws: `unavailable` if the system refuses a thread.
    package func makeOffsetRequests() throws(TrackerError) -> OffsetRequests {
        // Safe to send: librdkafka's client may be used from any thread.
        nonisolated(unsafe) let client = client
        return try OffsetRequests(client, configuration, context.log)
    }

    private func error(_ failure: KafkaFailure) -> TrackerError {
        TrackerError(failure, topic: configuration.topic, reading: configuration.brokers)
    }
}

extension TrackerError {
    /// The error of a consumer.
    init(_ failure: KafkaFailure, topic: String, reading brokers: String) {
        let reason = failure.description
        switch KafkaErrorClass(failure.code) {
        case .timeout:
            self.init(code: .timeout, message: "Kafka did not answer in time: \(reason).", isRetryable: true)
        case .notPrepared:
            self.init(
                code: .notPrepared,
                message: "Kafka has no topic '\(topic)': \(reason); create it, or name another topic.",
                isRetryable: false
            )
        case .misconfigured:
            self.init(
                code: .misconfigured,
                message:
                    "Kafka does not let us read the topic '\(topic)': \(reason); check the credentials and the ACLs.",
                isRetryable: false
            )
        default:
            self.init(code: .unavailable, message: "Kafka is unavailable at \(brokers): \(reason).", isRetryable: true)
        }
    }
}
