package import SettingDefinitions
import TrackerKit

/// A setting, or that setting of one tracker.
package struct SettingName: Hashable, Sendable {
    package let key: SettingKey
    /// The tracker, as the section `trackers` spells it; `nil` if the key itself is the setting's name.
    package let tracker: String?

    /// Names a setting, or that setting of a tracker if a tracker can have it.
    ///
    /// `postgres.url` of the tracker `postgres` is `postgres.url` itself.
    package init(_ key: SettingKey, ofTracker tracker: String? = nil) {
        self.key = key
        let type = tracker.flatMap(SettingCatalog.trackerType)?.type
        switch key.scope {
        case .process: self.tracker = nil
        case .tracker(let own): self.tracker = type == own ? nil : type ?? tracker
        case .processAndTracker: self.tracker = type ?? tracker
        }
    }

    /// The parts of the name, as they are nested in the configuration file.
    var components: [String] {
        let key = tracker == nil ? key.name : key.nameOfTracker ?? key.name
        return (tracker.map { ["trackers", $0] } ?? []) + key.split(separator: ".").map(String.init)
    }

    /// `http.listen`, or `trackers.warehouse.url`.
    package var name: String { components.joined(separator: ".") }

    /// The command-line option; `nil` if the setting has none.
    package var option: String? { tracker == nil ? key.option : nil }

    /// The environment variable.
    package var environmentVariable: String { Self.environmentVariable(for: components) }

    /// The environment variable of the setting with this name.
    static func environmentVariable(for components: [String]) -> String {
        let name = components.joined(separator: ".")
        return SettingCatalog.key(named: name)?.environmentVariable ?? SettingKey.environmentVariable(derivedFrom: name)
    }
}

// MARK: Changes while the process runs

extension SettingName {
    private static let changeableKeys = SettingCatalog.keys.filter(\.isChangeable)
    private static let changeableKeysOfTracker = changeableKeys.filter { $0.scope == .processAndTracker }

    /// The names of the settings that can be changed while `serve` runs; `NAME` stands for a tracker.
    package static var changeableNames: [String] {
        changeableKeys.map { SettingName($0).name }
            + changeableKeysOfTracker.map { SettingName($0, ofTracker: "NAME").name }
    }

    /// The setting with a name that can be changed while `serve` runs; `nil` if there is none.
    ///
    /// `trackers` are the names of the trackers that there are. The name of a tracker's setting is compared without regard to case.
    package init?(changeable name: String, trackers: [String]) {
        let setting =
            Self.changeableKeys.map { SettingName($0) }.first { $0.name == name }
            ?? Self.changeableKeysOfTracker.lazy
            .flatMap { key in trackers.map { SettingName(key, ofTracker: $0) } }
            .first { $0.name.lowercased() == name.lowercased() }
        guard let setting else { return nil }
        self = setting
    }
}
