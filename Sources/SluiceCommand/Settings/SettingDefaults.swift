import EventJournal
import EventPipeline
import EventQuarantine
import Logging
import SluiceConsole
import SluiceHTTP
import SluiceKafka
import SluicePostgres

/// The defaults of the settings.
///
/// The defaults of a module's configuration are the module's own; here are only those that the command adds. Help texts and
/// `sluice settings` print these values, so they are written nowhere else.
enum SettingDefaults {
    static let eventsFolder = "events"
    static let keyFile = "keys.json"
    static let journalFolder = "journal"
    static let quarantineFolder = "quarantine"
    static let http = IngestConfiguration()
    static let pipeline = Pipeline.Configuration.journaled
    static let journal = JournalConfiguration()
    static let durability = Settings.Durability.fsync
    static let syncInterval = Duration.seconds(1)
    static let hasJournal = true
    static let hasConsole = true
    static let consoleFormat = ConsoleConfiguration.Format.pretty
    static let strictTrackers = false
    static let logLevel = Logger.Level.info
}

extension SettingKey {
    /// The default as `sluice settings` prints it; in all cases but one, the configuration file accepts it, too.
    var defaultText: String {
        switch self {
        case .eventsDirectory: SettingDefaults.eventsFolder
        case .httpListen: "\(SettingDefaults.http.host):\(SettingDefaults.http.port)"
        case .httpKeys: SettingDefaults.keyFile
        case .httpOpen: "\(SettingDefaults.http.isOpen)"
        case .httpMaxWaitSeconds: Self.count(SettingDefaults.http.maxWait, of: .seconds(1))
        case .cloudEventsTypePrefix: "none"
        case .cloudEventsSubject: "\(SettingDefaults.http.cloudEvents.subjectIsUserID)"
        case .httpConnections: "derived from http.maximumBufferedBytes and the limit on open files"
        case .httpMemoryBytes: "\(SettingDefaults.http.maximumBufferedBytes)"
        case .httpExplainedRejections: "\(SettingDefaults.http.maximumExplainedRejections)"
        case .consoleEnabled: "\(SettingDefaults.hasConsole)"
        case .consoleFormat: SettingDefaults.consoleFormat.rawValue
        case .postgresURL, .kafkaBrokers, .kafkaProperties: "none"
        case .postgresSchema: PostgresConfiguration.defaultSchema
        case .kafkaTopic: KafkaConfiguration.defaultTopic
        case .kafkaSource: KafkaConfiguration.defaultSource
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
        case .strictTrackers: "\(SettingDefaults.strictTrackers)"
        case .logLevel: SettingDefaults.logLevel.rawValue
        }
    }

    /// A duration as a whole number of units.
    private static func count(_ duration: Duration, of unit: Duration) -> String {
        "\(Int((duration / unit).rounded()))"
    }
}
