import CLibRDKafka
import EventModel

/// The arguments of `rd_kafka_produceva`, in memory that is reused for each message.
struct MessageFields: ~Copyable {
    private static let count = 6
    private let start: UnsafeMutablePointer<rd_kafka_vu_t>

    init() {
        start = .allocate(capacity: Self.count)
        start.initialize(repeating: rd_kafka_vu_t(), count: Self.count)
        start[0].vtype = RD_KAFKA_VTYPE_RKT
        start[1].vtype = RD_KAFKA_VTYPE_VALUE
        start[2].vtype = RD_KAFKA_VTYPE_KEY
        start[3].vtype = RD_KAFKA_VTYPE_OPAQUE
        start[4].vtype = RD_KAFKA_VTYPE_TIMESTAMP
        start[5].vtype = RD_KAFKA_VTYPE_HEADERS
    }

    deinit {
        start.deallocate()
    }

    /// Sets everything except the key.
    @inline(__always)
    func set(_ record: KafkaRecord, topic: ProducerTopic, headers: OpaquePointer?, _ ticket: ReportTicket) {
        start[0].u.rkt = topic.handle
        start[1].u.mem.ptr = UnsafeMutableRawPointer(mutating: record.line.bytes.baseAddress)
        start[1].u.mem.size = record.line.bytes.count
        start[3].u.ptr = ticket.opaque
        start[4].u.i64 = record.timestamp
        start[5].u.headers = headers
    }

    /// Enqueues the message: librdkafka copies the key, takes ownership of the headers, and borrows the value.
    @inline(__always)
    func produce(with producer: OpaquePointer, key: UnsafeRawBufferPointer) -> OpaquePointer? {
        start[2].u.mem.ptr = UnsafeMutableRawPointer(mutating: key.baseAddress)
        start[2].u.mem.size = key.count
        return rd_kafka_produceva(producer, start, Self.count)
    }
}
