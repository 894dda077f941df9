/// Every setting, by its key in the configuration file.
///
/// A new setting needs a case here, its summary below, its default in `SettingDefaults`, its kind in `SettingKind` unless it is
/// a text, and a line in `Settings` that reads it. A setting of a type of trackers begins with the type's name.
enum SettingKey: String, CaseIterable {
    case eventsDirectory = "events.directory"
    case httpListen = "http.listen"
    case httpKeys = "http.keys"
    case httpOpen = "http.open"
    case httpMaxWaitSeconds = "http.maxWaitSeconds"
    case httpHeadSeconds = "http.timeouts.headSeconds"
    case httpBodySeconds = "http.timeouts.bodySeconds"
    case httpBodyPauseSeconds = "http.timeouts.bodyPauseSeconds"
    case httpCheckSeconds = "http.timeouts.checkSeconds"
    case httpIdleSeconds = "http.timeouts.idleSeconds"
    case httpAnswerSeconds = "http.timeouts.answerSeconds"
    case httpDrainSeconds = "http.timeouts.drainSeconds"
    case httpWorkers = "http.workers"
    case httpProxies = "http.proxies"
    case httpProxyProtocol = "http.proxyProtocol"
    case httpClientAddress = "http.recordClientAddress"
    case httpTraceparent = "http.recordTraceparent"
    case tlsCertificate = "http.tls.certificate"
    case tlsPrivateKey = "http.tls.privateKey"
    case tlsClientAuthorities = "http.tls.clientAuthorities"
    case cloudEventsTypePrefix = "http.cloudEvents.typePrefix"
    case cloudEventsSubject = "http.cloudEvents.subjectIsUserId"
    case clockPastDays = "http.clockCorrection.pastDays"
    case clockAheadDays = "http.clockCorrection.aheadDays"
    case httpConnections = "http.maximumConnections"
    case httpAddressConnections = "http.maximumConnectionsPerAddress"
    case httpKeyConnections = "http.maximumConnectionsPerKey"
    case httpConnectionRequests = "http.maximumRequestsPerConnection"
    case httpPipelinedRequests = "http.maximumPipelinedRequests"
    case httpStreams = "http.http2.maximumStreams"
    case httpResets = "http.http2.maximumResets"
    case httpHeaderBytes = "http.maximumHeaderBytes"
    case httpHeaderFields = "http.maximumHeaderFields"
    case httpBodyBytes = "http.maximumBodyBytes"
    case httpEvents = "http.maximumEvents"
    case httpRejections = "http.maximumRejections"
    case httpAnswerBytes = "http.maximumAnswerBytes"
    case httpPlanBytes = "http.maximumPlanBytes"
    case httpMemoryBytes = "http.maximumBufferedBytes"
    case httpExplainedRejections = "http.maximumExplainedRejections"
    case adminEnabled = "admin.enabled"
    case adminListen = "admin.listen"
    case adminToken = "admin.token"
    case adminTokenFile = "admin.tokenFile"
    case adminSocket = "admin.socket"
    case consoleEnabled = "console.enabled"
    case consoleFormat = "console.format"
    case postgresURL = "postgres.url"
    case postgresURLFile = "postgres.urlFile"
    case postgresPasswordFile = "postgres.passwordFile"
    case postgresSchema = "postgres.schema"
    case postgresConnectSeconds = "postgres.timeouts.connectSeconds"
    case postgresDeliverySeconds = "postgres.timeouts.deliverySeconds"
    case postgresLockSeconds = "postgres.timeouts.lockSeconds"
    case kafkaBrokers = "kafka.brokers"
    case kafkaTopic = "kafka.topic"
    case kafkaSource = "kafka.source"
    case kafkaProperties = "kafka.properties"
    case kafkaPropertiesFile = "kafka.propertiesFile"
    case kafkaDeliverySeconds = "kafka.timeouts.deliverySeconds"
    case kafkaMetadataSeconds = "kafka.timeouts.metadataSeconds"
    case relayURL = "relay.url"
    case relayAcknowledge = "relay.acknowledge"
    case relayUnavailable = "relay.whenUnavailable"
    case loadFrom = "load.from"
    case loadGroup = "load.group"
    case loadInstance = "load.instance"
    case loadRefusedRecords = "load.maximumRefused"
    case loadRefusedDays = "load.refusedRetentionDays"
    case queueEvents = "queue.capacityInEvents"
    case queueBytes = "queue.capacityInBytes"
    case queuePolicy = "queue.policy"
    case journalEnabled = "journal.enabled"
    case journalFolder = "journal.folder"
    case journalDurability = "journal.durability"
    case journalIntervalMilliseconds = "journal.intervalMilliseconds"
    case journalOverdueSeconds = "journal.commitOverdueSeconds"
    case journalBytes = "journal.maximumBytes"
    case journalRetentionAge = "journal.retention.ageHours"
    case journalRetentionBytes = "journal.retention.bytes"
    case journalDropUndelivered = "journal.retention.dropUndelivered"
    case deliveryEvents = "delivery.maximumEvents"
    case deliveryLinger = "delivery.lingerMilliseconds"
    case shutdownSeconds = "shutdown.timeoutSeconds"
    case quarantineFolder = "quarantine.folder"
    case quarantineBytes = "quarantine.capacityInBytes"
    case quarantineDays = "quarantine.retentionDays"
    case parkAfterSeconds = "delivery.parkAfterSeconds"
    case strictTrackers = "trackers.strict"
    case hashKey = "privacy.hashKey"
    case hashKeyFile = "privacy.hashKeyFile"
    case logLevel = "log.level"
    case logFormat = "log.format"

    /// The environment variable.
    ///
    /// Two have the names that other tools use for the same value; the others are derived from the key.
    var environmentVariable: String {
        switch self {
        case .postgresURL: "DATABASE_URL"
        case .postgresURLFile: "DATABASE_URL_FILE"
        case .kafkaBrokers: "KAFKA_BROKERS"
        default: Self.environmentVariable(derivedFrom: rawValue)
        }
    }

    /// `SLUICE_HTTP_MAX_WAIT_SECONDS` for `http.maxWaitSeconds`; characters that a variable cannot have become underscores.
    static func environmentVariable(derivedFrom key: String) -> String {
        let words = words(of: key).joined(separator: "_").uppercased()
        return "SLUICE_" + String(words.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    /// The command-line option; `nil` if the setting has none.
    var option: String? {
        switch self {
        case .eventsDirectory: "--events"
        case .httpListen: "--listen"
        case .httpKeys: "--keys"
        case .httpOpen: "--open"
        case .httpMaxWaitSeconds: "--max-wait"
        case .adminEnabled: "--no-admin"
        case .adminListen: "--admin"
        case .consoleEnabled: "--console/--no-console"
        case .consoleFormat: "--format"
        case .postgresURL: "--postgres"
        case .postgresURLFile: "--postgres-file"
        case .postgresSchema: "--schema"
        case .kafkaBrokers: "--kafka"
        case .kafkaTopic: "--kafka-topic"
        case .kafkaProperties: "--kafka-property"
        case .kafkaPropertiesFile: "--kafka-properties-file"
        case .relayURL: "--relay"
        case .loadFrom: "--from"
        case .loadGroup: "--group"
        case .loadInstance: "--instance"
        case .quarantineFolder: "--quarantine"
        case .strictTrackers: "--strict-trackers"
        case .logLevel: "--log-level"
        case .logFormat: "--log-format"
        case .journalEnabled: "--no-journal"
        case .journalFolder: "--journal"
        case .httpWorkers: "--workers"
        case .tlsCertificate: "--certificate"
        case .tlsPrivateKey: "--private-key"
        default: nil
        }
    }

    /// Whether the value may contain a password or a key, so that it must not be logged.
    var isSecret: Bool { [.postgresURL, .kafkaProperties, .hashKey, .adminToken].contains(self) }

    /// What the setting decides, with its unit.
    var summary: String {
        switch self {
        case .eventsDirectory: "The folder of the tracking plan."
        case .httpListen: "The address to accept events on over HTTP, as host:port."
        case .httpKeys: "The file with the digests of the write keys, which `sluice keys` makes."
        case .httpOpen:
            """
            Whether anyone who reaches the address may send events, without a key and from any web page: for servers behind \
            a proxy that checks senders.
            """
        case .httpMaxWaitSeconds:
            """
            How long a request waits, in seconds, for room in a full queue or for the journal's disk, before it is answered \
            with 503 or 504.
            """
        case .cloudEventsTypePrefix:
            "What is removed from the beginning of a CloudEvent's `type`; the rest is the event's name."
        case .cloudEventsSubject: "Whether the `subject` of a CloudEvent is the event's userId."
        case .clockPastDays:
            """
            How long before its arrival a client's event may have happened, in days (1 to 36500), after the correction by the \
            client's `sentAt`; a correction with another result is not made.
            """
        case .clockAheadDays: "How long after its arrival it may have happened, in days (0 to 36500)."
        case .httpConnections:
            "The maximum number of open connections and HTTP/2 streams; further ones are answered with 503."
        case .httpHeadSeconds:
            """
            How long the header of a request may take to arrive, in seconds (1 to 86400); also the limit for a TLS handshake, \
            and for the header of a proxy.
            """
        case .httpBodySeconds: "How long a body may take to arrive, in seconds (1 to 86400)."
        case .httpBodyPauseSeconds: "How long the pause between two pieces of a body may be, in seconds (1 to 86400)."
        case .httpCheckSeconds: "How long a body may wait for its next turn to be checked, in seconds (1 to 86400)."
        case .httpIdleSeconds: "How long a connection may stay open without a request, in seconds (1 to 86400)."
        case .httpAnswerSeconds: "How long a sender may leave an answer unread, in seconds (1 to 86400)."
        case .httpDrainSeconds:
            "How long requests in progress may take to finish at a shutdown, in seconds (0 to 86400)."
        case .httpWorkers: "The number of event loops, each with its own thread."
        case .httpProxies:
            """
            The addresses of the proxies in front of the server, each as 10.0.0.1 or 10.0.0.0/8; in the environment \
            variable, separate them with semicolons.
            """
        case .httpProxyProtocol:
            "Whether each connection of http.proxies begins with a header of the PROXY protocol, version 2."
        case .httpClientAddress:
            "Whether the sender's address becomes `ip` in the context of each event that has no `ip`."
        case .httpTraceparent:
            """
            Whether the traceparent of a request (W3C Trace Context) becomes `traceparent` in the context of each event that \
            has none, and that of an event a header of its Kafka message.
            """
        case .tlsCertificate:
            "The file with the server's certificate and those of its authorities (PEM), for HTTPS; read again when it changes."
        case .tlsPrivateKey: "The file with the private key of the certificate (PEM)."
        case .tlsClientAuthorities:
            """
            The file with the CA certificates for client authentication (PEM). If it is set, clients must present a \
            certificate signed by one of them.
            """
        case .httpAddressConnections:
            "The maximum number of open connections and HTTP/2 streams from one address; further ones are answered with 503."
        case .httpKeyConnections:
            """
            The maximum number of open connections and HTTP/2 streams of one write key. A connection counts for the key of its \
            most recent request. Further ones are answered with 503.
            """
        case .httpConnectionRequests: "After this many requests, the server closes an HTTP/1.1 connection."
        case .httpPipelinedRequests: "The maximum number of requests of a connection that wait for an earlier one."
        case .httpStreams: "The maximum number of requests of an HTTP/2 connection at one time."
        case .httpResets:
            "The maximum burst of cancelled or malformed requests of an HTTP/2 connection; replenished in 30 seconds."
        case .httpHeaderBytes: "The maximum size of a request's target and header, in bytes."
        case .httpHeaderFields: "The maximum number of header fields of a request."
        case .httpBodyBytes: "The maximum size of a body, in bytes, both as sent and inflated."
        case .httpEvents: "The maximum number of events in one body."
        case .httpRejections:
            "The maximum number of rejected events in one body; with more, the whole body is refused, or they are only counted (Segment, RudderStack, PostHog)."
        case .httpAnswerBytes: "The maximum size of an answer, in bytes."
        case .httpPlanBytes: "The maximum size of a JSON Schema that GET /v1/plan answers with, in bytes."
        case .httpMemoryBytes:
            "The maximum memory, in bytes, of all connections together, with their bodies and the answers not yet read."
        case .httpExplainedRejections:
            "The maximum number of rejected events per request that the answer explains."
        case .adminEnabled:
            "Whether serve has a private port with metrics and health; the socket does not depend on it."
        case .adminListen:
            "The address of the private port, as host:port. An address that other machines can reach needs admin.token."
        case .adminToken:
            "The token for the private port, at least 16 bytes; better in a file, see admin.tokenFile."
        case .adminSocket:
            "The socket for commands on the same machine, such as `sluice status`; only the user of the process may use it."
        case .adminTokenFile:
            "The file with the token for the private port; one line break at its end is not part of it."
        case .consoleEnabled: "Whether to print events that name the tracker `console`."
        case .consoleFormat: "How the console prints events: pretty or json."
        case .postgresURL:
            "The PostgreSQL database, as a libpq URI or keywords, such as postgres://sluice@db.example/shop."
        case .postgresURLFile:
            "The file with the PostgreSQL database, for a URI with a password; instead of postgres.url."
        case .postgresPasswordFile:
            """
            The file with the password for PostgreSQL; it replaces one in the URI, unless the URI comes from a source with \
            higher precedence.
            """
        case .postgresSchema: "The PostgreSQL schema of the event tables."
        case .postgresConnectSeconds:
            "How long connecting to PostgreSQL may take, in seconds, unless the URI has a connect_timeout."
        case .postgresDeliverySeconds:
            "How long a delivery to PostgreSQL, and each of its statements, may take, in seconds; then it is retried."
        case .postgresLockSeconds:
            "How long a statement may wait for a lock on its table, in seconds; less than for the delivery."
        case .kafkaBrokers: "Kafka's bootstrap servers, as host:port,host:port."
        case .kafkaTopic: "The Kafka topic; `{event}` in it stands for the event's name in snake case."
        case .kafkaSource: "The value of the CloudEvents header ce_source."
        case .kafkaProperties:
            "librdkafka properties, each as name=value; in the environment variable, separate them with semicolons."
        case .kafkaPropertiesFile:
            """
            The file with further librdkafka properties, one name=value in each line, for those that are secret, such as \
            sasl.password and ssl.key.password.
            """
        case .kafkaDeliverySeconds:
            "How long librdkafka retries a message, in seconds, before the pipeline does; its message.timeout.ms."
        case .kafkaMetadataSeconds:
            "How long the brokers may take to answer for the topics when the tracker starts, in seconds."
        case .relayURL:
            """
            The Kafka topic that gets every event, as kafka://host:port,host:port/topic. The process then delivers to no other \
            tracker. The properties, the source and the timeouts of kafka.* apply to the relay.
            """
        case .relayAcknowledge:
            """
            When events for the relay are acknowledged: journal (once they are in the journal) or brokers (once all in-sync \
            replicas have them, so that the loss of this machine's disk loses none of them). With brokers, librdkafka retries a \
            message for 5 seconds unless kafka.timeouts.deliverySeconds is set.
            """
        case .relayUnavailable:
            """
            With relay.acknowledge brokers, what happens while the brokers accept no events: refuse (requests are answered with \
            503) or journal (events are acknowledged once they are in the journal; the answer says so).
            """
        case .loadFrom:
            """
            The Kafka topic that `sluice load` reads, as kafka://host:port,host:port/topic. The properties of kafka.* apply to it.
            """
        case .loadGroup:
            """
            The name of the loader: its processes share the topic's partitions. Each tracker has a consumer group of its own, \
            whose name is this name, a dot and the tracker's name.
            """
        case .loadInstance:
            """
            A name that this process of a loader keeps when it is started again, and that no other one has, such as its pod's. It then gets \
            its partitions back at once if it is back within session.timeout.ms (static membership).
            """
        case .loadRefusedRecords:
            "The maximum number of refused records that PostgreSQL keeps of each partition; loading stops before the next one."
        case .loadRefusedDays: "How long PostgreSQL keeps refused records, in days."
        case .queueEvents: "The maximum number of events in a tracker's queue."
        case .queueBytes: "The maximum size of a tracker's queue, in bytes."
        case .queuePolicy:
            """
            What happens when a queue is full: spill (the tracker continues from the journal), wait, dropNewest or \
            dropOldest. Without a journal, the default is wait.
            """
        case .journalEnabled:
            "Whether serve keeps a journal. Without one, accepted events are in memory until they are delivered."
        case .journalFolder:
            "The folder of the journal, which keeps accepted events until every tracker has them."
        case .journalDurability:
            "When events are acknowledged: fsync (once they are on disk), interval or none."
        case .journalIntervalMilliseconds:
            "How often the journal is synced, in milliseconds, if the durability is interval."
        case .journalOverdueSeconds:
            """
            How long the disk may take for one commit, in seconds; after that, new requests are answered with 503 at once.
            """
        case .journalBytes: "The maximum size of the journal, in bytes; at this size no events are accepted."
        case .journalRetentionAge: "How long delivered segments are kept for replays, in hours."
        case .journalRetentionBytes:
            "The size of the journal, in bytes, above which the oldest delivered segments are removed earlier."
        case .journalDropUndelivered:
            "Whether the two retention limits also remove segments that a tracker still needs; it then loses their events."
        case .deliveryEvents: "The maximum number of events in one delivery."
        case .deliveryLinger: "How long a delivery waits for more events, in milliseconds."
        case .parkAfterSeconds:
            """
            How long deliveries of some events may fail, in seconds, while the tracker can deliver others, before those \
            events are parked in the quarantine; the events behind them wait for at most this time. `sluice load` \
            refuses such records after it.
            """
        case .shutdownSeconds: "How long the queues may take to drain during a shutdown, in seconds."
        case .quarantineFolder: "The folder of the quarantine (the dead-letter queue)."
        case .quarantineBytes:
            """
            The maximum size, in bytes, of the events that one process keeps in the quarantine: a quarter for rejected events \
            of senders, of which the oldest are removed, and the rest for events that trackers did not accept.
            """
        case .quarantineDays:
            "How long the quarantine keeps events, in days; then they are removed, whether or not they were replayed."
        case .strictTrackers:
            """
            Whether Sluice exits with 1 if an event names a tracker that is not configured, or if a tracker, or one of \
            its tables or topics, fails its first start. `sluice load` exits only because of the former, and retries a start.
            """
        case .hashKey: "The secret key of hashed values, at least 16 bytes; better in a file, see privacy.hashKeyFile."
        case .hashKeyFile:
            "The file with the secret key of hashed values; one line break at its end is not part of the key."
        case .logFormat:
            "How the log is written: text, json (an object on each line), or auto (text on a terminal, and otherwise json)."
        case .logLevel: "The lowest level that is logged: trace, debug, info, notice, warning, error or critical."
        }
    }

    /// Splits `http.maxWaitSeconds` into `http`, `max`, `Wait`, `Seconds`.
    private static func words(of key: String) -> [String] {
        var words: [String] = [""]
        for character in key {
            if character == "." {
                words.append("")
            } else {
                if character.isUppercase, words[words.count - 1].last?.isUppercase == false { words.append("") }
                words[words.count - 1].append(character)
            }
        }
        return words
    }
}
