import CLibRDKafka
import TrackerKit

/// The validated librdkafka properties of the producer.
struct ProducerSettings {
    /// The properties, in the order in which they are set.
    let properties: [(name: String, value: String)]
    private let brokers: String

    /// Combines the tracker's own properties with the operator's.
    ///
    /// - Throws: `invalidSettings` for a property that the tracker sets itself, and for invalid broker addresses.
    init(_ configuration: KafkaConfiguration) throws(TrackerError) {
        let needsReplicas = configuration.topicRequirement == .replicated
        for (name, value) in configuration.properties {
            let reason = Self.reasonAgainst(name, value) ?? (needsReplicas ? Self.reasonAgainstFewer(name, value) : nil)
            if let reason {
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

    /// The security protocols that librdkafka accepts as a prefix of an address.
    private static let schemes: Set = ["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"]

    /// Returns the addresses of the brokers, without the spaces around them.
    ///
    /// - Throws: `invalidSettings` if the setting is not a list of `host:port`.
    static func addresses(of brokers: String) throws(TrackerError) -> String {
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

    /// Validates one address: `[::1]:9092`, `host:9092`, `host` or `ssl://host:9092`.
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
        // An address with more colons and no brackets is an IPv6 address without a port.
        guard parts.count == 2 else { return }
        guard let port = Int(parts[1]), (1...65_535).contains(port) else {
            throw .invalidSettings("The broker '\(address)' has no port from 1 to 65535.")
        }
    }

    /// Creates librdkafka's configuration object, which the caller passes to a client or destroys.
    ///
    /// - Throws: `invalidSettings` with librdkafka's message for an invalid name or value.
    func makeConfiguration() throws(TrackerError) -> OpaquePointer {
        try Self.makeConfiguration(of: properties)
    }

    /// Creates librdkafka's configuration object from properties.
    static func makeConfiguration(of properties: [(name: String, value: String)]) throws(TrackerError)
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

    /// Lets librdkafka validate all properties, by creating a client without brokers that reads no files.
    ///
    /// Files are read only for TLS, and by a plugin as soon as it is named. Problems with files are errors of the start,
    /// because the files may be created after the program starts.
    ///
    /// - Throws: `invalidSettings` with librdkafka's message.
    func check() throws(TrackerError) {
        let configuration = try Self.makeConfiguration(
            of: properties.filter { !["bootstrap.servers", "plugin.library.paths"].contains($0.name) }
        )
        rd_kafka_conf_set(configuration, "security.protocol", "plaintext", nil, 0)
        rd_kafka_conf_set_log_cb(configuration) { _, _, _, _ in }
        do throws(TrackerError) {
            try KafkaClient(RD_KAFKA_PRODUCER, configuration).close()
        } catch {
            // A lack of threads or memory does not make the settings invalid; `start` tries again.
            if !error.isRetryable { throw .invalidSettings(error.message) }
        }
    }

    /// Creates the configuration of a client that only asks which topics exist, and does not create them by asking.
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

    /// Pairs of names for one property, so that a default never overrides a value set under the property's other name.
    private static let aliases = [
        "acks": "request.required.acks",
        "linger.ms": "queue.buffering.max.ms",
        "message.timeout.ms": "delivery.timeout.ms",
    ]

    private static func isFree(_ name: String, in properties: [String: String]) -> Bool {
        guard let alias = aliases[name] else { return true }
        return properties[alias] == nil
    }

    /// Why a property keeps an acknowledgement from meaning that all in-sync replicas have the message, once.
    private static func reasonAgainstFewer(_ name: String, _ value: String) -> String? {
        switch name {
        case "acks", "request.required.acks":
            ["all", "-1"].contains(value.lowercased())
                ? nil : "all in-sync replicas have to acknowledge a message, which is 'all'"
        case "enable.idempotence":
            ["true", "t", "1"].contains(value.lowercased())
                ? nil : "messages have to be acknowledged in order and once, which needs 'true'"
        default: nil
        }
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
    /// A setting that cannot work, whatever the brokers are.
    static func invalidSettings(_ message: String) -> TrackerError {
        TrackerError(code: .invalidSettings, message: message, isRetryable: false)
    }

    /// librdkafka could not allocate memory.
    static var withoutMemory: TrackerError {
        TrackerError(code: .unavailable, message: "librdkafka could not allocate memory.", isRetryable: true)
    }
}

extension String {
    /// Creates a string from C text in a buffer, up to its terminating NUL.
    init(_ buffer: [CChar]) {
        self.init(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
