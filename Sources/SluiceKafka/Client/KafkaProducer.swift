import CLibRDKafka
import EventSchema
import EventValidation
import Logging
import TrackerKit

/// librdkafka's producer, with its topics and the queue of its delivery reports.
///
/// Only the session's thread may call it. It must be closed: destroying it blocks, so `deinit` does not do it, and a
/// producer that was not closed is leaked.
final class KafkaProducer {
    private let client: KafkaClient
    private let reports: OpaquePointer
    private let log: KafkaLog
    private let headers: HeaderPool
    /// Whether messages get the traceparent of their events.
    let sendsTraceparent: Bool
    private let sendsPlanDigest: Bool
    private let fields = MessageFields()
    private var topics: [String: ProducerTopic] = [:]
    private let page: UnsafeMutableBufferPointer<UnsafePointer<rd_kafka_message_t>?>

    private static let everything = RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT

    /// Whether broker threads may still have purges to carry out.
    private var isPurging = false

    /// The number of messages that librdkafka has and has not reported.
    private(set) var outstanding = 0

    /// Creates a producer, which connects when it needs to.
    ///
    /// - Throws: What `KafkaClient` throws; `invalidSettings` with librdkafka's message for an invalid name or value;
    ///   `unavailable`, retryable, if the system refuses memory.
    init(_ settings: ProducerSettings, _ kafka: KafkaConfiguration, logger: Logger) throws(TrackerError) {
        let configuration = try settings.makeConfiguration()
        log = KafkaLog(logger: logger)
        log.listen(to: configuration)
        rd_kafka_conf_set_events(configuration, RD_KAFKA_EVENT_DR)
        let client: KafkaClient
        do throws(TrackerError) {
            client = try KafkaClient(RD_KAFKA_PRODUCER, configuration)
        } catch {
            log.letGo()
            throw error
        }
        guard let reports = rd_kafka_queue_get_main(client.handle) else {
            client.close()
            log.letGo()
            throw .withoutMemory
        }
        self.client = client
        self.reports = reports
        headers = HeaderPool(source: kafka.source)
        sendsTraceparent = kafka.sendsTraceparent
        sendsPlanDigest = kafka.sendsPlanDigest
        page = .allocate(capacity: 1024)
        page.initialize(repeating: nil)
    }

    deinit {
        page.deallocate()
    }

    /// Frees all resources; blocks.
    ///
    /// Reports of outstanding messages are lost, so wait for them first.
    func close() {
        for topic in topics.values { rd_kafka_topic_destroy(topic.handle) }
        topics = [:]
        rd_kafka_queue_destroy(reports)
        client.close()
        log.letGo()
    }

    /// The last error that librdkafka logged.
    var lastLoggedError: String? { log.lastError }

    /// The error after which this producer accepts no more messages; `nil` if there was none.
    var fatalFailure: KafkaFailure? {
        var reason = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_fatal_error(client.handle, &reason, reason.count)
        return code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaFailure(code, String(reason))
    }

    /// Creates a handle for a topic, without asking the brokers.
    func topic(named name: String) throws(KafkaFailure) -> ProducerTopic {
        if let topic = topics[name] { return topic }
        guard let handle = rd_kafka_topic_new(client.handle, name, nil) else {
            throw KafkaFailure(rd_kafka_last_error())
        }
        let topic = ProducerTopic(handle: handle)
        topics[name] = topic
        return topic
    }

    /// Sets the catalog of the following records, for their headers; wait for all outstanding reports first.
    func setCatalog(_ catalog: EventCatalog) {
        headers.setTypes(catalog.definitions.map(\.name), plan: sendsPlanDigest ? catalog.planDigest : nil)
    }

    /// Asks the brokers for a topic, or without a name whether any broker answers; blocks.
    ///
    /// A request for a topic creates it if the brokers create topics automatically.
    func check(_ name: String?, within milliseconds: Int32) throws(KafkaFailure) {
        guard let name else { return try client.ask(for: nil, within: milliseconds) }
        try client.ask(for: try topic(named: name).handle, within: milliseconds)
    }

    /// Asks the brokers what a topic's settings promise; blocks.
    func guarantees(of topic: String, timeout: Duration, _ interrupt: Interrupt) -> TopicGuarantees {
        client.guarantees(of: topic, timeout: timeout, interrupt)
    }

    /// Enqueues a message, whose value is not copied: the memory must stay valid until the message is reported.
    ///
    /// Returns the error if librdkafka does not accept the message, which then gets no report.
    @inline(__always)
    func send(_ record: KafkaRecord, to topic: ProducerTopic, position: Int) -> rd_kafka_resp_err_t {
        let (list, slot) = headers.take(for: record)
        fields.set(record, topic: topic, headers: list, ReportTicket(position: position, slot: slot))
        let error = record.withKey { fields.produce(with: client.handle, key: $0) }
        if let error {
            let code = rd_kafka_error_code(error)
            rd_kafka_error_destroy(error)
            headers.give(back: list, slot: slot)
            return code
        }
        outstanding += 1
        return RD_KAFKA_RESP_ERR_NO_ERROR
    }

    /// Processes the reports that have arrived; if there are none, blocks until one arrives or the time has passed.
    ///
    /// `body` gets the position and the error of each message that was not delivered. Returns whether there were any reports.
    func serve(within milliseconds: Int32, _ body: (Int, rd_kafka_resp_err_t) -> Void) -> Bool {
        guard let event = rd_kafka_queue_poll(reports, milliseconds) else { return false }
        defer { rd_kafka_event_destroy(event) }
        guard rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR, let start = page.baseAddress else { return true }
        while true {
            let count = rd_kafka_event_message_array(event, start, page.count)
            guard count > 0 else { return true }
            for index in 0..<count {
                guard let message = page[index] else { continue }
                outstanding -= 1
                let ticket = ReportTicket(opaque: message.pointee._private)
                headers.takeBack(from: message, slot: ticket.slot)
                if message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR { body(ticket.position, message.pointee.err) }
            }
        }
    }

    /// Purges all messages that are not delivered; their reports say so, and must still be served.
    ///
    /// This only asks the broker threads, so call `waitForPurges` before sending anything else.
    func purge() {
        rd_kafka_purge(client.handle, Self.everything | RD_KAFKA_PURGE_F_NON_BLOCKING)
        isPurging = true
    }

    /// Waits until every broker thread has finished its purges, which would otherwise purge later messages.
    func waitForPurges() {
        guard isPurging else { return }
        // Each broker thread carries out its purges in order, and this call blocks until all have finished.
        rd_kafka_purge(client.handle, Self.everything)
        isPurging = false
    }

    /// Raises a fatal error as if a broker had caused it, for tests.
    package func raiseFatalError() {
        rd_kafka_test_fatal_error(client.handle, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "raised by a test")
    }
}

/// A topic handle of a producer, valid until the producer is closed.
struct ProducerTopic {
    let handle: OpaquePointer
}

/// The data that comes back with a message's report: its position, and the slot of its headers.
struct ReportTicket {
    let position: Int
    /// The slot of the header pool; negative if the headers are not kept.
    let slot: Int32

    init(position: Int, slot: Int32) {
        self.position = position
        self.slot = slot
    }

    init(opaque: UnsafeMutableRawPointer?) {
        let bits = UInt64(UInt(bitPattern: opaque))
        position = Int(bits & 0xFFFF_FFFF)
        slot = Int32(truncatingIfNeeded: bits >> 32)
    }

    /// Both values, encoded as the pointer that librdkafka stores with a message; it points to no memory.
    var opaque: UnsafeMutableRawPointer? {
        let bits = UInt64(UInt32(bitPattern: slot)) << 32 | UInt64(UInt32(truncatingIfNeeded: position))
        return UnsafeMutableRawPointer(bitPattern: UInt(truncatingIfNeeded: bits))
    }
}
