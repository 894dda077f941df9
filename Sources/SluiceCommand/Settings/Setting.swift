import Configuration
import SluiceConsole
import SluiceKafka
import SluicePostgres

/// The types of trackers, as in `trackers.NAME.type`.
///
/// Each type has a tracker of the same name, whose settings need no section of their own: `postgres.url` is the `url` of the
/// tracker `postgres`.
enum TrackerType: String, CaseIterable {
    case console, postgres, kafka
}

/// A setting: a key of `SettingKey`, or that key for one tracker in the section `trackers`.
struct Setting: Hashable {
    let key: SettingKey
    /// The tracker, as the section `trackers` spells it; `nil` if the key itself is the setting's name.
    let tracker: String?

    /// Names a setting, or that setting of a tracker.
    ///
    /// `postgres.url` of the tracker `postgres` is `postgres.url` itself.
    init(_ key: SettingKey, of tracker: String? = nil) {
        self.key = key
        let type = tracker.flatMap { TrackerType(rawValue: $0.lowercased()) }
        self.tracker = type != nil && type == key.trackerType ? nil : type?.rawValue ?? tracker
    }

    /// The parts of the name, as they are nested in the configuration file.
    var components: [String] {
        let key = tracker == nil ? key.rawValue : key.keyOfTracker ?? key.rawValue
        return (tracker.map { ["trackers", $0] } ?? []) + key.split(separator: ".").map(String.init)
    }

    /// `http.listen`, or `trackers.warehouse.url`.
    var name: String { components.joined(separator: ".") }

    /// The command-line option; `nil` if the setting has none.
    var option: String? { tracker == nil ? key.option : nil }

    /// The environment variable.
    var environmentVariable: String { Self.environmentVariable(for: components) }

    /// The environment variable of the setting with this name.
    static func environmentVariable(for components: [String]) -> String {
        let name = components.joined(separator: ".")
        return SettingKey(rawValue: name)?.environmentVariable ?? SettingKey.environmentVariable(derivedFrom: name)
    }
}

extension SettingKey {
    /// The type of trackers that the setting belongs to; `nil` for all other settings.
    var trackerType: TrackerType? {
        // Whether the tracker `console` exists is not a setting that a tracker in the section `trackers` has.
        if self == .consoleEnabled { return nil }
        return TrackerType.allCases.first { rawValue.hasPrefix($0.rawValue + ".") }
    }

    /// Whether each tracker may have its own value, in place of the value for all.
    var isLimitOfTracker: Bool {
        [.queueEvents, .queueBytes, .queuePolicy, .deliveryEvents, .deliveryLinger].contains(self)
    }

    /// The key beneath a tracker's name in the section `trackers`; `nil` if it cannot be there.
    var keyOfTracker: String? {
        if isLimitOfTracker { return rawValue }
        return trackerType.map { String(rawValue.dropFirst($0.rawValue.count + 1)) }
    }

    /// The settings that a tracker of a type has in the section `trackers`.
    static func settings(of type: TrackerType) -> [SettingKey] {
        allCases.filter { $0.trackerType == type } + allCases.filter(\.isLimitOfTracker)
    }
}

// MARK: Changes while the process runs

extension SettingKey {
    /// Whether the setting can be changed while `serve` runs, because its value is looked at again and again.
    var isChangeable: Bool {
        [.queueEvents, .queueBytes, .deliveryEvents, .deliveryLinger, .parkAfterSeconds, .logLevel].contains(self)
    }
}

extension Setting {
    /// The names of the settings that can be changed while `serve` runs; `NAME` stands for a tracker.
    static var changeableNames: [String] {
        let keys = SettingKey.allCases.filter(\.isChangeable)
        return keys.map { Setting($0).name } + keys.filter(\.isLimitOfTracker).map { Setting($0, of: "NAME").name }
    }

    /// The setting with a name that can be changed while `serve` runs; `nil` if there is none.
    ///
    /// - Parameter trackers: The trackers that there are; they are compared without regard to case.
    init?(changeable name: String, trackers: [String]) {
        let keys = SettingKey.allCases.filter(\.isChangeable)
        let setting =
            keys.map { Setting($0) }.first { $0.name == name }
            ?? keys.filter(\.isLimitOfTracker).lazy.flatMap { key in trackers.map { Setting(key, of: $0) } }
            .first { $0.name.lowercased() == name.lowercased() }
        guard let setting else { return nil }
        self = setting
    }

    /// Parses a value.
    func value(of text: String) -> ConfigValue? {
        switch key.kind {
        case .number: Int(text).map { ConfigValue(.int($0), isSecret: key.isSecret) }
        case .text: text.isEmpty ? nil : ConfigValue(.string(text), isSecret: key.isSecret)
        // None of these can be changed.
        case .flag, .list: nil
        }
    }
}
