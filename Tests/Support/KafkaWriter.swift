import CLibRDKafka
import TrackerKit

/// A record for a test's topic.
package struct KafkaRecordDraft: Sendable {
    package var partition: Int32
    package var key: String?
    /// `nil` for a tombstone.
    package var value: [UInt8]?
    package var headers: [KafkaMessage.Header]
    /// Milliseconds since 1970; 0 for now.
    package var timestamp: Int64 = 0

    package init(partition: Int32, key: String?, value: String?, headers: [KafkaMessage.Header] = []) {
        self.partition = partition
        self.key = key
        self.value = value.map { Array($0.utf8) }
        self.headers = headers
    }
}

/// Writes records to a topic of a cluster, on a thread of its own, and waits as long as the brokers are away.
package actor KafkaWriter {
    private let topic: String
    private let thread: BlockingThread
    // Safe to share: used on the thread of the actor, and in `deinit`.
    private nonisolated(unsafe) let producer: OpaquePointer
    // Safe to share: librdkafka's callback runs in `poll` and `flush`, which the actor calls.
    private nonisolated(unsafe) let failures: UnsafeMutablePointer<Int>

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Creates a writer; `properties` are more of librdkafka's properties, such as credentials.
    package init(brokers: String, topic: String, properties: [String: String] = [:]) throws {
        thread = try BlockingThread()
        self.topic = topic
        failures = .allocate(capacity: 1)
        failures.initialize(to: 0)
        let settings = ["linger.ms": "20", "message.timeout.ms": "300000", "enable.idempotence": "true"]
        producer = try KafkaHandle.make(
            RD_KAFKA_PRODUCER,
            settings.merging(properties) { $1 }.merging(["bootstrap.servers": brokers]) { $1 }
        ) { [failures] configuration in
            rd_kafka_conf_set_opaque(configuration, failures)
            rd_kafka_conf_set_dr_msg_cb(configuration) { _, message, opaque in
                guard let message, let opaque, message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
                opaque.assumingMemoryBound(to: Int.self).pointee += 1
            }
        }
    }

    deinit {
        rd_kafka_purge(producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
        rd_kafka_destroy(producer)
        failures.deallocate()
    }

    /// Puts records into the queue of the producer.
    package func send(_ records: [KafkaRecordDraft]) throws {
        for record in records { try Self.send(record, to: topic, with: producer) }
        rd_kafka_poll(producer, 0)
    }

    /// Puts records into the queue of the producer, and waits until the brokers have them.
    package func write(_ records: [KafkaRecordDraft]) throws {
        try send(records)
        try flush()
    }

    /// Waits until the brokers have all records.
    package func flush() throws {
        while rd_kafka_outq_len(producer) > 0 {
            try Task.checkCancellation()
            rd_kafka_flush(producer, 100)
        }
        guard failures.pointee == 0 else { throw MockFailure("\(failures.pointee) records were not written") }
    }

    private static func send(_ record: KafkaRecordDraft, to topic: String, with producer: OpaquePointer) throws {
        let headers = rd_kafka_headers_new(record.headers.count)
        for header in record.headers {
            rd_kafka_header_add(headers, header.name, -1, header.value, header.value.utf8.count)
        }
        let code = topic.withCString { topic in
            withBytes(record.key.map { Array($0.utf8) }) { key in
                withBytes(record.value) { value in
                    var fields = [rd_kafka_vu_t](repeating: rd_kafka_vu_t(), count: 7)
                    fields[0].vtype = RD_KAFKA_VTYPE_TOPIC
                    fields[0].u.cstr = topic
                    fields[1].vtype = RD_KAFKA_VTYPE_PARTITION
                    fields[1].u.i32 = record.partition
                    fields[2].vtype = RD_KAFKA_VTYPE_MSGFLAGS
                    fields[2].u.i = RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK
                    fields[3].vtype = RD_KAFKA_VTYPE_KEY
                    (fields[3].u.mem.ptr, fields[3].u.mem.size) = key
                    fields[4].vtype = RD_KAFKA_VTYPE_VALUE
                    (fields[4].u.mem.ptr, fields[4].u.mem.size) = value
                    fields[5].vtype = RD_KAFKA_VTYPE_HEADERS
                    fields[5].u.headers = headers
                    fields[6].vtype = RD_KAFKA_VTYPE_TIMESTAMP
                    fields[6].u.i64 = record.timestamp
                    guard let error = rd_kafka_produceva(producer, fields, fields.count) else {
                        return RD_KAFKA_RESP_ERR_NO_ERROR
                    }
                    defer { rd_kafka_error_destroy(error) }
                    return rd_kafka_error_code(error)
                }
            }
        }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            rd_kafka_headers_destroy(headers)
            throw MockFailure("writing: \(String(cString: rd_kafka_err2str(code)))")
        }
    }

    private static func withBytes<Result>(
        _ bytes: [UInt8]?,
        _ body: ((UnsafeMutableRawPointer?, Int)) -> Result
    ) -> Result {
        guard var bytes else { return body((nil, 0)) }
        return bytes.withUnsafeMutableBytes { body(($0.baseAddress, $0.count)) }
    }
}

/// Creates librdkafka's clients for tests.
enum KafkaHandle {
    /// A client with these properties that logs nothing; the caller destroys it.
    static func make(
        _ type: rd_kafka_type_t,
        _ properties: [String: String],
        _ prepare: (OpaquePointer?) -> Void = { _ in }
    ) throws -> OpaquePointer {
        let configuration = rd_kafka_conf_new()
        rd_kafka_conf_set_log_cb(configuration) { _, _, _, _ in }
        var reason = [CChar](repeating: 0, count: 512)
        for (name, value) in properties {
            guard rd_kafka_conf_set(configuration, name, value, &reason, reason.count) == RD_KAFKA_CONF_OK else {
                rd_kafka_conf_destroy(configuration)
                throw MockFailure("the property \(name)")
            }
        }
        prepare(configuration)
        guard let client = rd_kafka_new(type, configuration, &reason, reason.count) else {
            rd_kafka_conf_destroy(configuration)
            throw MockFailure("no client")
        }
        return client
    }
}
