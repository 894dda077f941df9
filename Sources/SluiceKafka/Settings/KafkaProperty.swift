import SettingDefinitions

/// A property of librdkafka.
struct KafkaProperty {
    let name: String
    let value: String

    /// Parses `name=value`; `nil` if the text is something else.
    init?(_ text: String) {
        let entry = SettingEntry(text)
        guard let value = entry.value, !entry.name.isEmpty else { return nil }
        name = entry.name
        self.value = value
    }
}

// MARK: Redaction

extension KafkaProperty {
    private static let harmlessProperties: Set = [
        "acks", "api.version.request", "batch.num.messages", "batch.size", "bootstrap.servers", "broker.address.family",
        "client.dns.lookup", "client.id", "client.rack", "compression.codec", "compression.level", "compression.type",
        "connections.max.idle.ms", "debug", "delivery.timeout.ms", "enable.idempotence",
        "enable.ssl.certificate.verification", "linger.ms", "log_level", "max.in.flight",
        "max.in.flight.requests.per.connection", "message.max.bytes", "message.send.max.retries", "message.timeout.ms",
        "metadata.broker.list", "metadata.max.age.ms", "partitioner", "queue.buffering.max.kbytes",
        "queue.buffering.max.messages", "queue.buffering.max.ms", "reconnect.backoff.max.ms", "reconnect.backoff.ms",
        "request.required.acks", "request.timeout.ms", "retries", "retry.backoff.max.ms", "retry.backoff.ms",
        "sasl.kerberos.service.name", "sasl.mechanism", "sasl.mechanisms", "security.protocol",
        "socket.connection.setup.timeout.ms", "socket.keepalive.enable", "socket.nagle.disable", "socket.timeout.ms",
        "ssl.ca.location", "ssl.certificate.location", "ssl.endpoint.identification.algorithm", "ssl.key.location",
        "statistics.interval.ms", "sticky.partitioning.linger.ms", "topic.metadata.refresh.interval.ms",
    ]

    /// A text `name=value`, with its value if the name is known to be harmless.
    ///
    /// It lists what is harmless and replaces everything else, because librdkafka gets new properties for secrets.
    static func redacted(_ text: String) -> String {
        guard let property = KafkaProperty(text) else { return SettingKey.mask }
        return harmlessProperties.contains(property.name) ? text : "\(property.name)=\(SettingKey.mask)"
    }
}
