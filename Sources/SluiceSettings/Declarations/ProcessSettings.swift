import EventQuarantine
import EventValidation
package import Logging
package import SettingDefinitions

/// The settings of a process that no other module has a configuration for.
package struct ProcessSettings: Configurable {
    package static let defaults = ProcessSettings()

    package var eventsFolder = "events"
    package var quarantineFolder = "quarantine"
    package var quarantineCapacityInBytes = Quarantine.defaultCapacityInBytes
    package var quarantineRetention = Quarantine.defaultRetention
    /// Whether the process ends if an event names a tracker that is not configured.
    package var strictTrackers = false
    package var logLevel = Logger.Level.info
    package var logFormat = LogFormat.auto

    /// The values of `log.format`.
    package enum LogFormat: String, CaseIterable, Sendable {
        case auto, text, json
    }
}

extension SettingKey {
    package static let eventsFolder = ProcessSettings.eventsFolder.key
    package static let quarantineFolder = ProcessSettings.quarantineFolder.key
    package static let strictTrackers = ProcessSettings.strictTrackers.key
    package static let logLevel = ProcessSettings.logLevel.key
    package static let logFormat = ProcessSettings.logFormat.key
    package static let receiptsFolder = PrivacySettings.receiptsFolder.key
    static let hashKey = SettingKey(
        "privacy.hashKey",
        .text,
        "The secret key of hashed values, at least 16 bytes; better in a file, see privacy.hashKeyFile.",
        default: .none,
        secrecy: .secret
    )
    static let hashKeyFile = SettingKey(
        "privacy.hashKeyFile",
        .text,
        "The file with the secret key of hashed values; one line break at its end is not part of the key.",
        default: .none
    )
}

extension ProcessSettings {
    fileprivate static let eventsFolder = Setting<ProcessSettings>.text(
        "events.directory",
        \.eventsFolder,
        option: "--events",
        "The folder of the tracking plan."
    )
    fileprivate static let quarantineFolder = Setting<ProcessSettings>.text(
        "quarantine.folder",
        \.quarantineFolder,
        option: "--quarantine",
        "The folder of the quarantine (the dead-letter queue)."
    )
    fileprivate static let strictTrackers = Setting<ProcessSettings>.flag(
        "trackers.strict",
        \.strictTrackers,
        option: "--strict-trackers",
        """
        Whether Sluice exits with 1 if an event names a tracker that is not configured, or if a tracker, or one of \
        its tables or topics, fails its first start. `sluice load` exits only because of the former, and retries a start.
        """
    )
    fileprivate static let logLevel = Setting<ProcessSettings>.choice(
        "log.level",
        \.logLevel,
        option: "--log-level",
        isChangeable: true,
        "The lowest level that is logged: trace, debug, info, notice, warning, error or critical."
    )
    fileprivate static let logFormat = Setting<ProcessSettings>.choice(
        "log.format",
        \.logFormat,
        option: "--log-format",
        "How the log is written: text, json (an object on each line), or auto (text on a terminal, and otherwise json)."
    )

    /// The setting of the plan.
    static let plan: [Setting<ProcessSettings>] = [eventsFolder]

    /// The settings of the quarantine and of the trackers as a whole.
    static let quarantineAndTrackers: [Setting<ProcessSettings>] = [
        quarantineFolder,
        .count(
            "quarantine.capacityInBytes",
            \.quarantineCapacityInBytes,
            """
            The maximum size, in bytes, of the events that one process keeps in the quarantine. A quarter is for events that \
            were rejected on arrival; when it is full, the oldest are removed. The rest is for events that trackers did not accept.
            """
        ),
        .duration(
            "quarantine.retentionDays",
            \.quarantineRetention,
            within: 1...36_500,
            "How long the quarantine keeps events, in days; then they are removed, whether or not they were replayed."
        ),
        strictTrackers,
    ]

    /// The settings of the log.
    static let log: [Setting<ProcessSettings>] = [logLevel, logFormat]

    static let all = plan + quarantineAndTrackers + log
}

/// The settings of sensitive values and of the erasure of people.
struct PrivacySettings: Configurable {
    static let defaults = PrivacySettings()

    /// The key of hashed values and of tombstones; `nil` if there is none.
    var hashKey: HashKey?
    /// The folder of the receipts of `sluice forget`; `nil` if there is none.
    var receiptsFolder: String?

    fileprivate static let receiptsFolder = Setting<PrivacySettings>.text(
        "privacy.receiptsFolder",
        \.receiptsFolder,
        """
        The folder of the receipts that `sluice forget` writes. From them, serve, load and replay know whose earlier events no \
        tracker gets; so each machine needs them, and privacy.hashKeyFile. They do not start without the folder. None are read \
        unless it is set.
        """
    )

    static let all = [receiptsFolder] + hashKeys

    private static let hashKeys = Setting<PrivacySettings>.secret(.hashKey, orIn: .hashKeyFile) {
        secret,
        values,
        privacy in
        privacy.hashKey = HashKey(secret.bytes)
        if privacy.hashKey == nil {
            let count = secret.bytes.count
            values.note(secret.key, "expected a key of at least \(HashKey.minimumBytes) bytes, found \(count)")
        }
    }
}
