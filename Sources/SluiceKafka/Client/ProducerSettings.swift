import CLibRDKafka
import TrackerKit

/// librdkafka's properties for our producer, checked.
struct ProducerSettings {
    /// In the order in which they are set.
    let properties: [(name: String, value: String)]
    private let brokers: String

    /// Puts the tracker's own properties and the operator's together.
    ///
    /// - Throws: `invalidSettings` for a property that is the tracker's own, and for brokers that are no addresses.
    init(_ configuration: KafkaConfiguration) throws(TrackerError) {
        for (name, value) in configuration.properties {
            if let reason = Self.reasonAgainst(name, value) {
                throw .invalidSettings("The property '\(name)' cannot be set here: \(reason).")
            }
        }
        brokers = try Self.addresses(of: configuration.brokers)
        let merged = KafkaConfiguration.defaultProperties.filter { Self.isFree($0.key, in: configuration.properties) }
            .merging(configuration.properties) { $1 }
        properties =
            [("bootstrap.servers", brokers)]
            + merged.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The security protocols by which librdkafka lets an address begin.
    private static let schemes: Set = ["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"]

    /// The addresses of the brokers, without the spaces around them.
    ///
    /// - Throws: `invalidSettings` for what is no list of `host:port`.
    private static func addresses(of brokers: String) throws(TrackerError) -> String {
        let addresses = brokers.split(separator: ",").map(trimmed).filter { !$0.isEmpty }
        guard !addresses.isEmpty else { throw .invalidSettings("No broker is set: give host:port,host:port.") }
        for address in addresses { try check(address) }
        return addresses.joined(separator: ",")
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.trimmingPrefix(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }

    /// Looks at one address: `[::1]:9092`, `host:9092`, `host` or `ssl://host:9092`.
    private static func check(_ address: Substring) throws(TrackerError) {
        var rest = address
        if let end = address.firstRange(of: "://") {
            guard schemes.contains(address[..<end.lowerBound].lowercased()) else {
                throw .invalidSettings("The broker '\(address)' begins with a security protocol that does not exist.")
            }
            rest = address[end.upperBound...]
        }
        guard !rest.isEmpty else { throw .invalidSettings("The broker '\(address)' has no host.") }
        let host = rest.firstIndex(of: "]").map { rest[$0...].dropFirst() } ?? rest
        let parts = host.split(separator: ":", omittingEmptySubsequences: false)
        // What has more colons and no brackets is an IPv6 address without a port.
        guard parts.count == 2 else { return }
        guard let port = Int(parts[1]), (1...65_535).contains(port) else {
            throw .invalidSettings("The broker '\(address)' has no port from 1 to 65535.")
        }
    }

    /// Makes librdkafka's own object of them, which the caller gives to a client or destroys.
    ///
    /// - Throws: `invalidSettings` with librdkafka's words for a wrong name or value.
    func makeConfiguration() throws(TrackerError) -> OpaquePointer {
        try Self.makeConfiguration(of: properties)
    }

    /// Makes librdkafka's own object of properties.
    private static func makeConfiguration(of properties: [(name: String, value: String)]) throws(TrackerError)
        -> OpaquePointer
    {
        guard let configuration = rd_kafka_conf_new() else { throw .withoutMemory }
        for (name, value) in properties {
            var reason = [CChar](repeating: 0, count: 512)
            let result = rd_kafka_conf_set(configuration, name, value, &reason, reason.count)
            guard result == RD_KAFKA_CONF_OK else {
                rd_kafka_conf_destroy(configuration)
                throw .invalidSettings("librdkafka does not accept the property '\(name)': \(String(reason)).")
            }
        }
        return configuration
    }

    /// Lets librdkafka look at all of it, by making a client that has no brokers to connect to, and needs no files.
    ///
    /// Files are read only for TLS, and by a plugin as soon as it is named; what is wrong with them is an error of the
    /// start, because they may come later than the program.
    ///
    /// - Throws: `invalidSettings` in librdkafka's words.
    func check() throws(TrackerError) {
        let configuration = try Self.makeConfiguration(
            of: properties.filter { !["bootstrap.servers", "plugin.library.paths"].contains($0.name) }
        )
        rd_kafka_conf_set(configuration, "security.protocol", "plaintext", nil, 0)
        rd_kafka_conf_set_log_cb(configuration) { _, _, _, _ in }
        do throws(TrackerError) {
            try KafkaClient(RD_KAFKA_PRODUCER, configuration).close()
        } catch {
            // Without threads or memory nothing is known of the settings; `start` tries again.
            if !error.isRetryable { throw .invalidSettings(error.message) }
        }
    }

    /// The configuration of a client that only asks which topics there are: it makes none by asking.
    func makeObserverConfiguration(_ configuration: KafkaConfiguration) throws(TrackerError) -> OpaquePointer {
        let stated = configuration.properties.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let fixed = [
            ("bootstrap.servers", brokers), ("allow.auto.create.topics", "false"),
            ("client.id", "sluice"),
        ]
        let names = Set(configuration.properties.keys)
        return try Self.makeConfiguration(
            of: fixed.filter { $0.0 == "allow.auto.create.topics" || !names.contains($0.0) }
                + stated.filter { $0.0 != "allow.auto.create.topics" }
        )
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
    /// A setting that cannot work, whatever the brokers say.
    static func invalidSettings(_ message: String) -> TrackerError {
        TrackerError(code: .invalidSettings, message: message, isRetryable: false)
    }

    /// librdkafka got no memory.
    static var withoutMemory: TrackerError {
        TrackerError(code: .unavailable, message: "librdkafka gets no memory.", isRetryable: true)
    }
}

extension String {
    /// The text that C wrote into a buffer, up to the zero at its end.
    init(_ buffer: [CChar]) {
        self.init(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
