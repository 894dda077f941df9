import SluicePostgres

/// Replaces secrets in values that are printed.
///
/// It lists what is harmless and replaces everything else, because drivers get new options for secrets.
enum Redaction {
    private static let mask = "***"

    /// The value without its secrets.
    static func apply(to value: ShownSetting.Value, of key: SettingKey) -> ShownSetting.Value {
        guard key.isSecret else { return value }
        switch (key, value) {
        case (.postgresURL, .text(let text)): return .text(connection(text))
        case (.kafkaProperties, .list(let properties)): return .list(properties.map(property))
        default: return .text(mask)
        }
    }

    // MARK: PostgreSQL

    private static let harmlessKeywords = [
        "host", "hostaddr", "port", "dbname", "user", "sslmode", "sslrootcert", "application_name", "connect_timeout",
    ]

    /// The keywords of a libpq URI or of a list of keywords, with the harmless values.
    static func connection(_ text: String) -> String {
        guard let parameters = ConnectionParameters.stated(in: text), !isAmbiguous(parameters) else { return mask }
        let harmless = harmlessKeywords.compactMap { keyword in
            parameters[keyword].map { "\(keyword)=\(quotedIfNeeded($0))" }
        }
        let others = parameters.keys.filter { !harmlessKeywords.contains($0) }.sorted().map { "\($0)=\(mask)" }
        return (harmless + others).joined(separator: " ")
    }

    /// Whether a part of a password may be in another place, because its `/` or `@` is not percent-encoded, or because the
    /// database's name is a connection string itself.
    private static func isAmbiguous(_ parameters: [String: String]) -> Bool {
        let database = parameters["dbname"] ?? ""
        return ["host", "hostaddr", "port"].contains { parameters[$0]?.contains("@") == true }
            || parameters["port"]?.allSatisfy { $0.isNumber || $0 == "," } == false
            || ["@", "=", "://"].contains(where: database.contains)
    }

    /// A value as libpq reads it in a list of keywords.
    private static func quotedIfNeeded(_ value: String) -> String {
        if !value.isEmpty, !value.contains(where: { $0.isWhitespace || $0 == "'" || $0 == "\\" }) { return value }
        let escaped = value.replacing(/['\\]/) { "\\\($0.0)" }
        return "'\(escaped)'"
    }

    // MARK: Kafka

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

    /// A property `name=value`, with its value if the name is known to be harmless.
    static func property(_ text: String) -> String {
        guard let equals = text.firstIndex(of: "=") else { return mask }
        let name = String(text[..<equals])
        return harmlessProperties.contains(name) ? text : "\(name)=\(mask)"
    }
}
