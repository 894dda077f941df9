/// Every setting there is: its key in the configuration file, which also gives its environment variable.
enum SettingKey: String, CaseIterable {
    case eventsDirectory = "events.directory"
    case httpListen = "http.listen"
    case httpMaxWaitSeconds = "http.maxWaitSeconds"
    case httpConnections = "http.maximumConnections"
    case httpMemoryBytes = "http.maximumBufferedBytes"
    case httpExplainedRejections = "http.maximumExplainedRejections"
    case consoleEnabled = "console.enabled"
    case consoleFormat = "console.format"
    case postgresURL = "postgres.url"
    case postgresSchema = "postgres.schema"
    case kafkaBrokers = "kafka.brokers"
    case kafkaTopic = "kafka.topic"
    case kafkaSource = "kafka.source"
    case kafkaProperties = "kafka.properties"
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
    case parkAfterSeconds = "delivery.parkAfterSeconds"
    case strictTrackers = "trackers.strict"
    case logLevel = "log.level"

    /// The environment variable.
    ///
    /// Two have the names that other tools use for the same thing; the others are the key in capitals.
    var environmentVariable: String {
        switch self {
        case .postgresURL: "DATABASE_URL"
        case .kafkaBrokers: "KAFKA_BROKERS"
        default: "SLUICE_" + Self.words(of: rawValue).joined(separator: "_").uppercased()
        }
    }

    /// The option of the command line; `nil` where there is none.
    var option: String? {
        switch self {
        case .eventsDirectory: "--events"
        case .httpListen: "--listen"
        case .httpMaxWaitSeconds: "--max-wait"
        case .consoleEnabled: "--console/--no-console"
        case .consoleFormat: "--format"
        case .postgresURL: "--postgres"
        case .postgresSchema: "--schema"
        case .kafkaBrokers: "--kafka"
        case .kafkaTopic: "--kafka-topic"
        case .kafkaProperties: "--kafka-property"
        case .quarantineFolder: "--quarantine"
        case .strictTrackers: "--strict-trackers"
        case .logLevel: "--log-level"
        case .journalEnabled: "--no-journal"
        case .journalFolder: "--journal"
        case .journalDurability, .journalIntervalMilliseconds, .journalOverdueSeconds, .journalBytes,
            .journalRetentionAge,
            .journalRetentionBytes, .journalDropUndelivered, .kafkaSource, .queueEvents, .queueBytes,
            .queuePolicy, .deliveryEvents, .deliveryLinger, .parkAfterSeconds, .shutdownSeconds,
            .quarantineBytes, .httpConnections, .httpMemoryBytes, .httpExplainedRejections:
            nil
        }
    }

    /// What holds when nobody says anything.
    var defaultText: String {
        switch self {
        case .eventsDirectory: "events"
        case .httpListen: "127.0.0.1:8080"
        case .httpMaxWaitSeconds: "5"
        case .httpConnections: "derived from http.maximumBufferedBytes and the limit on open files"
        case .httpMemoryBytes: "201326592"
        case .httpExplainedRejections: "100"
        case .consoleEnabled: "true"
        case .consoleFormat: "pretty"
        case .postgresURL, .kafkaBrokers: "none: no such tracker"
        case .postgresSchema: "analytics"
        case .kafkaTopic: "events"
        case .kafkaSource: "sluice"
        case .kafkaProperties: "none"
        case .queueEvents: "100000"
        case .queueBytes: "67108864"
        case .queuePolicy: "spill"
        case .journalEnabled: "true"
        case .journalFolder: "journal"
        case .journalDurability: "fsync"
        case .journalIntervalMilliseconds: "1000"
        case .journalOverdueSeconds: "5"
        case .journalBytes: "10737418240"
        case .journalRetentionAge: "168"
        case .journalRetentionBytes: "2147483648"
        case .journalDropUndelivered: "false"
        case .deliveryEvents: "10000"
        case .deliveryLinger: "100"
        case .parkAfterSeconds: "300"
        case .shutdownSeconds: "30"
        case .quarantineFolder: "quarantine"
        case .quarantineBytes: "1073741824"
        case .strictTrackers: "false"
        case .logLevel: "info"
        }
    }

    /// What it decides.
    var summary: String {
        switch self {
        case .eventsDirectory: "The folder of the tracking plan."
        case .httpListen: "Where events are taken over HTTP, as host:port."
        case .httpMaxWaitSeconds:
            "How long a request waits for room in a full queue, or for the journal's disk, before the answer is 503 or 504."
        case .httpConnections: "The most connections that are served at one time; more get 503."
        case .httpMemoryBytes:
            "The most bytes of memory for all connections, with their bodies and the answers that nobody reads."
        case .httpExplainedRejections:
            "The most rejected events of one request that the answer explains; it never takes more than 256 KiB."
        case .consoleEnabled: "Whether events that name `console` are printed."
        case .consoleFormat: "How they are printed: pretty or json."
        case .postgresURL: "PostgreSQL, as a libpq URI or keywords."
        case .postgresSchema: "The schema of the events' tables."
        case .kafkaBrokers: "Kafka's bootstrap servers, as host:port,host:port."
        case .kafkaTopic: "The topic; `{event}` in it stands for the event's name in snake case."
        case .kafkaSource: "What the header ce_source says."
        case .kafkaProperties: "librdkafka's own properties, each as name=value; in the environment parted by ;."
        case .queueEvents: "The most events in a tracker's queue."
        case .queueBytes: "The most bytes in a tracker's queue."
        case .queuePolicy:
            """
            What a full queue does: spill (to the journal), wait, dropNewest or dropOldest. Default: spill, or wait without a \
            journal.
            """
        case .journalEnabled:
            "Whether serve keeps a journal: without one, events live in memory until they are delivered."
        case .journalFolder: "Where accepted events are kept until every tracker has them."
        case .journalDurability: "When events are acknowledged: fsync (on disk), interval or none."
        case .journalIntervalMilliseconds: "How often the journal is synced where the durability is interval."
        case .journalOverdueSeconds:
            "How long the journal's disk may take over one commit; beyond that new requests are answered 503 at once."
        case .journalBytes: "The most bytes of the journal; beyond that nothing is taken."
        case .journalRetentionAge: "How many hours segments are kept for replays that every tracker has got through."
        case .journalRetentionBytes: "The most bytes of the journal before such segments are removed earlier."
        case .journalDropUndelivered:
            "Whether segments beyond these limits are removed though a tracker still needs them: it loses the events."
        case .deliveryEvents: "The most events in one delivery."
        case .deliveryLinger: "How long events wait for company, in milliseconds."
        case .parkAfterSeconds:
            "How long a tracker fails to deliver some events while it could deliver others, before it parks them in the quarantine."
        case .shutdownSeconds: "How long queues are drained at the end."
        case .quarantineFolder: "Where rejected events are kept."
        case .quarantineBytes:
            "The most bytes that a process keeps there: a quarter for what senders cause, of which the oldest goes, the rest for what trackers do not take."
        case .strictTrackers:
            "Whether an event that names a tracker that is not configured, and a tracker's first failed start, also of one table or topic, end Sluice with 1."
        case .logLevel: "How much is logged: trace, debug, info, notice, warning, error or critical."
        }
    }

    /// `http.maxWaitSeconds` is `http`, `max`, `Wait`, `Seconds`.
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
