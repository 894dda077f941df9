import EventJournal
import EventPipeline
import Operations
package import SettingDefinitions
import SluiceConsole
import SluiceExec
import SluiceFile
import SluiceHTTP
import SluiceKafka
import SluicePostgres
import SluiceSocket
import SluiceWebhook
package import TrackerKit

/// All settings, in the order in which the example of a configuration file has them.
package enum SettingCatalog {
    /// The types of trackers that a configuration file can name.
    ///
    /// Everything that the settings and the commands derive from a type is derived from this list.
    package static let trackerTypes: [any ConfigurableTracker.Type] = [
        ConsoleTracker.self, PostgresTracker.self, KafkaTracker.self, ExecTracker.self, FileTracker.self,
        WebhookTracker.self, SluiceTracker.self, SocketTracker.self,
    ]

    package static let keys: [SettingKey] =
        keys(ProcessSettings.plan) + keys(EventTimeSettings.all) + keys(HTTPSettings.all) + keys(AdminSettings.all)
        + trackerTypes.flatMap { $0.keys }
        + keys(RelaySettings.all) + keys(LoadSettings.all) + keys(QueueSettings.all) + keys(JournalSettings.all)
        + keys(DeliverySettings.all) + keys(PipelineSettings.all) + keys(ProcessSettings.quarantineAndTrackers)
        + keys(PrivacySettings.all) + keys(ProcessSettings.log)

    private static let keyByName = Dictionary(uniqueKeysWithValues: keys.map { ($0.name, $0) })

    private static func keys<Configuration>(_ settings: [Setting<Configuration>]) -> [SettingKey] {
        settings.map(\.key)
    }

    /// The setting with a key of the configuration file, outside the section `trackers`.
    package static func key(named name: String) -> SettingKey? { keyByName[name] }

    /// The type with a name, compared without regard to case.
    package static func trackerType(named name: String) -> (any ConfigurableTracker.Type)? {
        let name = name.lowercased()
        return trackerTypes.first { $0.type == name }
    }

    /// Whether the tracker with this name exists without any setting, unless it is switched off.
    package static func existsByDefault(_ tracker: String) -> Bool {
        trackerType(named: tracker)?.requiresOneOf.isEmpty ?? false
    }

    /// The names of the types.
    package static var trackerTypeNames: [String] { trackerTypes.map { $0.type } }

    /// The settings that a tracker of a type has in the section `trackers`.
    package static func keys(ofTracker type: any ConfigurableTracker.Type) -> [SettingKey] {
        type.keys.filter { $0.scope == .tracker(type: type.type) } + keys.filter { $0.scope == .processAndTracker }
    }
}

extension ConfigurableTracker {
    /// The settings, without the places of their values.
    fileprivate static var keys: [SettingKey] { settings.map(\.key) }
}
