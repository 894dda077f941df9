import EventJournal
import EventModel
import EventPipeline
import EventQuarantine
import Logging
import Operations
import SluiceConsole
import SluiceHTTP
import SluiceKafka
import SluicePostgres

/// The defaults of the settings.
///
/// The defaults of a module's configuration are the module's own; here are only those that the command adds. Help texts and
/// `sluice config` print these values, so they are written nowhere else.
enum SettingDefaults {
    static let eventsFolder = "events"
    static let keyFile = "keys.json"
    static let journalFolder = "journal"
    static let quarantineFolder = "quarantine"
    static let http = IngestConfiguration()
    static let hasPrivatePort = true
    static let privatePort = OperationsConfiguration()
    static let pipeline = Pipeline.Configuration.journaled
    static let journal = JournalConfiguration()
    static let durability = Settings.Durability.fsync
    static let syncInterval = Duration.seconds(1)
    static let hasJournal = true
    static let hasConsole = true
    static let consoleFormat = ConsoleConfiguration.Format.pretty
    /// The name of the tracker that sends every event to the relay's topic.
    static let relayName = "relay"
    static let relayAcknowledge = Settings.RelayAcknowledgement.journal
    static let relayUnavailable = Settings.RelayFallback.refuse
    /// How long librdkafka retries a message for the relay whose sender waits; until then, requests wait for brokers that are away.
    static let relayDeliveryTimeout = Duration.seconds(5)
    static let postgres = PostgresConfiguration(connection: "")
    static let kafka = KafkaConfiguration(brokers: "")
    static let strictTrackers = false
    static let logLevel = Logger.Level.info
    static let logFormat = Settings.LogFormat.auto
}

extension SettingKey {
    /// Whether the default is a value that the configuration file accepts, and not a description of one.
    var hasFixedDefault: Bool {
        switch kind {
        case .text: defaultText != "none" && self != .adminSocket && self != .loadFrom
        case .number: Int(defaultText) != nil
        case .flag: true
        case .list: false
        }
    }

    /// The default as help texts and `sluice config` print it; see `hasFixedDefault`.
    var defaultText: String {
        switch self {
        case .eventsDirectory: SettingDefaults.eventsFolder
        case .httpListen: "\(SettingDefaults.http.host):\(SettingDefaults.http.port)"
        case .httpKeys: SettingDefaults.keyFile
        case .httpOpen: "\(SettingDefaults.http.isOpen)"
        case .httpMaxWaitSeconds: Self.count(SettingDefaults.http.maxWait, of: .seconds(1))
        case .httpHeadSeconds, .httpBodySeconds, .httpBodyPauseSeconds, .httpCheckSeconds, .httpIdleSeconds,
            .httpAnswerSeconds, .httpDrainSeconds:
            httpTimeout.map { Self.count(SettingDefaults.http[keyPath: $0], of: .seconds(1)) } ?? ""
        case .httpConnectionRequests, .httpPipelinedRequests, .httpStreams, .httpResets, .httpHeaderBytes,
            .httpHeaderFields, .httpBodyBytes, .httpEvents, .httpRejections, .httpAnswerBytes, .httpPlanBytes,
            .httpMemoryBytes, .httpExplainedRejections:
            httpLimit.map { "\(SettingDefaults.http[keyPath: $0])" } ?? ""
        case .httpWorkers: "one for each processor core"
        case .httpProxies, .tlsCertificate, .tlsPrivateKey, .tlsClientAuthorities: "none"
        case .httpClientAddress: "\(SettingDefaults.http.recordsClientAddress)"
        case .httpTraceparent: "\(SettingDefaults.http.recordsTraceparent)"
        case .hashKey, .hashKeyFile, .adminToken, .adminTokenFile: "none"
        case .adminSocket: "the journal's folder name with .sock appended; none without a journal"
        case .adminEnabled: "\(SettingDefaults.hasPrivatePort)"
        case .adminListen: "\(SettingDefaults.privatePort.host):\(SettingDefaults.privatePort.port)"
        case .httpProxyProtocol: "\(SettingDefaults.http.expectsProxyHeader)"
        case .httpAddressConnections, .httpKeyConnections: "half of http.maximumConnections"
        case .cloudEventsTypePrefix: "none"
        case .cloudEventsSubject: "\(SettingDefaults.http.cloudEvents.subjectIsUserID)"
        case .clockPastDays: Self.count(SettingDefaults.http.clockCorrection.past, of: .seconds(86_400))
        case .clockAheadDays: Self.count(SettingDefaults.http.clockCorrection.ahead, of: .seconds(86_400))
        case .httpConnections: "derived from http.maximumBufferedBytes and the limit on open files"
        case .consoleEnabled: "\(SettingDefaults.hasConsole)"
        case .consoleFormat: SettingDefaults.consoleFormat.rawValue
        case .postgresURL, .postgresURLFile, .postgresPasswordFile: "none"
        case .kafkaBrokers, .kafkaProperties, .kafkaPropertiesFile, .relayURL, .loadGroup, .loadInstance: "none"
        case .loadFrom: "relay.url"
        case .postgresSchema: PostgresConfiguration.defaultSchema
        case .postgresConnectSeconds: Self.count(SettingDefaults.postgres.connectTimeout, of: .seconds(1))
        case .postgresDeliverySeconds: Self.count(SettingDefaults.postgres.deliveryTimeout, of: .seconds(1))
        case .postgresLockSeconds: Self.count(SettingDefaults.postgres.lockTimeout, of: .seconds(1))
        case .kafkaDeliverySeconds:
            Self.count(
                .milliseconds(Int(KafkaConfiguration.defaultProperties["message.timeout.ms"] ?? "") ?? 0),
                of: .seconds(1)
            )
        case .kafkaMetadataSeconds: Self.count(SettingDefaults.kafka.startTimeout, of: .seconds(1))
        case .kafkaTopic: KafkaConfiguration.defaultTopic
        case .kafkaSource: KafkaConfiguration.defaultSource
        case .relayAcknowledge: SettingDefaults.relayAcknowledge.rawValue
        case .relayUnavailable: SettingDefaults.relayUnavailable.rawValue
        case .loadRefusedRecords: "\(SettingDefaults.postgres.maximumRefused)"
        case .loadRefusedDays: Self.count(SettingDefaults.postgres.refusedRetention, of: .seconds(86_400))
        case .queueEvents: "\(SettingDefaults.pipeline.queue.capacityInEvents)"
        case .queueBytes: "\(SettingDefaults.pipeline.queue.capacityInBytes)"
        case .queuePolicy: SettingDefaults.pipeline.queue.fullPolicy.rawValue
        case .journalEnabled: "\(SettingDefaults.hasJournal)"
        case .journalFolder: SettingDefaults.journalFolder
        case .journalDurability: SettingDefaults.durability.rawValue
        case .journalIntervalMilliseconds: Self.count(SettingDefaults.syncInterval, of: .milliseconds(1))
        case .journalOverdueSeconds: Self.count(SettingDefaults.pipeline.commitOverdueAfter, of: .seconds(1))
        case .journalBytes: "\(SettingDefaults.journal.maximumBytes)"
        case .journalRetentionAge: Self.count(SettingDefaults.journal.retentionAge, of: .seconds(3600))
        case .journalRetentionBytes: "\(SettingDefaults.journal.retentionBytes)"
        case .journalDropUndelivered: "\(SettingDefaults.journal.retentionDropsUndelivered)"
        case .deliveryEvents: "\(SettingDefaults.pipeline.delivery.maximumEvents)"
        case .deliveryLinger: Self.count(SettingDefaults.pipeline.delivery.linger, of: .milliseconds(1))
        case .parkAfterSeconds: SettingDefaults.pipeline.parkAfter.map { Self.count($0, of: .seconds(1)) } ?? "none"
        case .shutdownSeconds: Self.count(SettingDefaults.pipeline.shutdownTimeout, of: .seconds(1))
        case .quarantineFolder: SettingDefaults.quarantineFolder
        case .quarantineBytes: "\(Quarantine.defaultCapacityInBytes)"
        case .quarantineDays: Self.count(Quarantine.defaultRetention, of: .seconds(86_400))
        case .strictTrackers: "\(SettingDefaults.strictTrackers)"
        case .logLevel: SettingDefaults.logLevel.rawValue
        case .logFormat: SettingDefaults.logFormat.rawValue
        }
    }

    /// The limit of the HTTP port that the setting changes; `nil` if it is no number with a fixed default.
    var httpLimit: WritableKeyPath<IngestConfiguration, Int>? {
        switch self {
        case .httpConnectionRequests: \.maximumRequestsPerConnection
        case .httpPipelinedRequests: \.maximumPipelinedRequests
        case .httpStreams: \.http2.maximumStreams
        case .httpResets: \.http2.maximumResets
        case .httpHeaderBytes: \.maximumHeaderBytes
        case .httpHeaderFields: \.maximumHeaderFields
        case .httpBodyBytes: \.maximumBodyBytes
        case .httpEvents: \.maximumEvents
        case .httpRejections: \.maximumRejections
        case .httpAnswerBytes: \.maximumAnswerBytes
        case .httpPlanBytes: \.maximumPlanBytes
        case .httpMemoryBytes: \.maximumBufferedBytes
        case .httpExplainedRejections: \.maximumExplainedRejections
        default: nil
        }
    }

    /// The time limit of the HTTP port that the setting changes, in seconds; `nil` if it is none.
    var httpTimeout: WritableKeyPath<IngestConfiguration, Duration>? {
        switch self {
        case .httpHeadSeconds: \.timeouts.head
        case .httpBodySeconds: \.timeouts.body
        case .httpBodyPauseSeconds: \.timeouts.bodyPause
        case .httpCheckSeconds: \.timeouts.check
        case .httpIdleSeconds: \.timeouts.idle
        case .httpAnswerSeconds: \.timeouts.answer
        case .httpDrainSeconds: \.drainTimeout
        default: nil
        }
    }

    /// A duration as a whole number of units.
    private static func count(_ duration: Duration, of unit: Duration) -> String {
        "\(Int((duration / unit).rounded()))"
    }
}
