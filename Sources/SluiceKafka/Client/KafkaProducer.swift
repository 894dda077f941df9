import CLibRDKafka
import Logging
import TrackerKit

/// librdkafka's producer, with its topics and the queue of its delivery reports.
///
/// Belongs to one thread: it is that of the session, which alone calls it. It must be closed: to destroy it blocks, so
/// its `deinit` does not, and a producer that is let go without is leaked.
final class KafkaProducer {
    private let client: KafkaClient
    private let reports: OpaquePointer
    private let log: KafkaLog
    private let headers: HeaderPool
    private let fields = MessageFields()
    private var topics: [String: ProducerTopic] = [:]
    private let page: UnsafeMutableBufferPointer<UnsafePointer<rd_kafka_message_t>?>

    private static let everything = RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT

    /// Whether broker threads may have purges left to do.
    private var isPurging = false

    /// How many messages librdkafka has whose reports are not in.
    private(set) var outstanding = 0

    /// Makes a producer; it connects when it needs to.
    ///
    /// - Throws: What `KafkaClient` does; `invalidSettings` in librdkafka's words for a wrong name or value;
    ///   `unavailable`, retryable, where the system refuses it memory.
    init(_ settings: ProducerSettings, source: String, logger: Logger) throws(TrackerError) {
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
        headers = HeaderPool(source: source)
        page = .allocate(capacity: 1024)
        page.initialize(repeating: nil)
    }

    deinit {
        page.deallocate()
    }

    /// Gives everything back; blocks.
    ///
    /// What is outstanding is forgotten, so wait for its reports before.
    func close() {
        for topic in topics.values { rd_kafka_topic_destroy(topic.handle) }
        topics = [:]
        rd_kafka_queue_destroy(reports)
        client.close()
        log.letGo()
    }

    /// What librdkafka logged last that was an error.
    var lastLoggedError: String? { log.lastError }

    /// The error after which this producer takes nothing any more.
    var fatalFailure: KafkaFailure? {
        var reason = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_fatal_error(client.handle, &reason, reason.count)
        return code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaFailure(code, String(reason))
    }

    /// A topic to write to; the brokers are not asked.
    func topic(named name: String) throws(KafkaFailure) -> ProducerTopic {
        if let topic = topics[name] { return topic }
        guard let handle = rd_kafka_topic_new(client.handle, name, nil) else {
            throw KafkaFailure(rd_kafka_last_error())
        }
        let topic = ProducerTopic(handle: handle)
        topics[name] = topic
        return topic
    }

    /// Says which types the events of the records to come have; wait for all reports before.
    func setTypes(_ types: [String]) {
        headers.setTypes(types)
    }

    /// Asks the brokers for a topic, or without one whether they answer; blocks.
    ///
    /// To ask for a topic makes it, where brokers make topics by themselves.
    func check(_ name: String?, within milliseconds: Int32) throws(KafkaFailure) {
        guard let name else { return try client.ask(for: nil, within: milliseconds) }
        try client.ask(for: try topic(named: name).handle, within: milliseconds)
    }

    /// Gives librdkafka a message, whose value it does not copy: the memory must stay until the report is in.
    ///
    /// Returns the error that kept it from being taken; then there will be no report.
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

    /// Hands on the reports that are in; blocks for at most so long until there are any.
    ///
    /// `body` gets the position and the error of each message that was not delivered. Returns whether there were any
    /// reports.
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

    /// Takes back all that is not delivered; the reports say so, and are still to be served.
    ///
    /// It only asks the broker threads, so call `waitForPurges` before anything else is sent.
    func purge() {
        rd_kafka_purge(client.handle, Self.everything | RD_KAFKA_PURGE_F_NON_BLOCKING)
        isPurging = true
    }

    /// Waits until no broker thread has a purge left to do, which would take back what is sent from now on.
    func waitForPurges() {
        guard isPurging else { return }
        // Each broker thread does them in order, and this one blocks until all have done it.
        rd_kafka_purge(client.handle, Self.everything)
        isPurging = false
    }

    /// Raises a fatal error as if the brokers had; for tests of what follows.
    package func raiseFatalError() {
        rd_kafka_test_fatal_error(client.handle, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "raised by a test")
    }
}

/// A topic of a producer's, valid until the producer is closed.
struct ProducerTopic {
    let handle: OpaquePointer
}

/// What comes back with a message's report: its position, and where its headers belong.
struct ReportTicket {
    let position: Int
    /// The slot of the header pool; negative where the headers are not kept.
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

    /// The two as the pointer-sized value that librdkafka keeps with a message; it points nowhere.
    var opaque: UnsafeMutableRawPointer? {
        let bits = UInt64(UInt32(bitPattern: slot)) << 32 | UInt64(UInt32(truncatingIfNeeded: position))
        return UnsafeMutableRawPointer(bitPattern: UInt(truncatingIfNeeded: bits))
    }
}
