import CLibRDKafka
import EventPipeline

/// librdkafka's properties for our producer, checked.
struct ProducerSettings {
    /// In the order in which they are set.
    let properties: [(name: String, value: String)]

    /// Puts the tracker's own properties and the operator's together.
    ///
    /// - Throws: `misconfigured` for a property that is the tracker's own.
    init(_ configuration: KafkaConfiguration) throws(TrackerError) {
        for (name, value) in configuration.properties {
            if let reason = Self.reasonAgainst(name, value) {
                throw .misconfigured("The property '\(name)' cannot be set here: \(reason).")
            }
        }
        let merged = KafkaConfiguration.defaultProperties.filter { Self.isFree($0.key, in: configuration.properties) }
            .merging(configuration.properties) { $1 }
        properties =
            [("bootstrap.servers", configuration.brokers)]
            + merged.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Makes librdkafka's own object of them, which the caller gives to a client or destroys.
    ///
    /// - Throws: `misconfigured` with librdkafka's words for a wrong name or value.
    func makeConfiguration() throws(TrackerError) -> OpaquePointer {
        guard let configuration = rd_kafka_conf_new() else { throw .misconfigured("librdkafka has no memory.") }
        for (name, value) in properties {
            var reason = [CChar](repeating: 0, count: 512)
            let result = rd_kafka_conf_set(configuration, name, value, &reason, reason.count)
            guard result == RD_KAFKA_CONF_OK else {
                rd_kafka_conf_destroy(configuration)
                throw .misconfigured("librdkafka does not take the property '\(name)': \(String(reason)).")
            }
        }
        return configuration
    }

    /// Two names of one property: a default must not win over its other name only because of the alphabet.
    private static let aliases = [
        "acks": "request.required.acks",
        "linger.ms": "queue.buffering.max.ms",
        "message.timeout.ms": "delivery.timeout.ms",
    ]

    private static func isFree(_ name: String, in properties: [String: String]) -> Bool {
        guard let alias = aliases[name] else { return true }
        return properties[alias] == nil
    }

    private static func reasonAgainst(_ name: String, _ value: String) -> String? {
        switch name {
        case "bootstrap.servers", "metadata.broker.list":
            "the brokers are a setting of their own"
        case "delivery.report.only.error", "dr_cb", "dr_msg_cb":
            "the tracker needs the report of every message"
        case "transactional.id":
            "the tracker does not write in transactions"
        case "log.queue", "log_cb", "enabled_events", "opaque":
            "the tracker reads it itself"
        case "acks", "request.required.acks":
            value == "0" ? "without acknowledgements nobody knows what was delivered" : nil
        default:
            nil
        }
    }
}

extension TrackerError {
    /// A setting that only the operator can put right.
    static func misconfigured(_ message: String) -> TrackerError {
        TrackerError(code: .misconfigured, message: message, isRetryable: false)
    }
}

extension String {
    /// The text that C wrote into a buffer, up to the zero at its end.
    init(_ buffer: [CChar]) {
        self.init(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
