import ArgumentParser
import Configuration

/// The settings that options on the command line gave.
struct CommandLineSettings {
    private(set) var values: [SettingKey: ConfigValue] = [:]

    /// Sets a text; `nil` is an option that was not given.
    mutating func set(_ key: SettingKey, _ text: String?) {
        if let text { set(key, .string(text)) }
    }

    /// Sets a number; `nil` is an option that was not given.
    mutating func set(_ key: SettingKey, _ number: Int?) {
        if let number { set(key, .int(number)) }
    }

    /// Sets a flag; `nil` is one that was not given.
    mutating func set(_ key: SettingKey, _ flag: Bool?) {
        if let flag { set(key, .bool(flag)) }
    }

    /// Sets a list; an empty one is an option that was not given.
    mutating func set(_ key: SettingKey, _ texts: [String]) {
        if !texts.isEmpty { set(key, .stringArray(texts)) }
    }

    private mutating func set(_ key: SettingKey, _ content: ConfigContent) {
        values[key] = ConfigValue(content, isSecret: key.isSecret)
    }
}

extension ArgumentHelp {
    /// The help of an option that sets a setting: what the setting decides, and its default.
    ///
    /// - Parameter summary: Replaces the setting's own summary, if that lists values which the help lists anyway.
    static func setting(_ key: SettingKey, _ summary: String? = nil, valueName: String? = nil) -> ArgumentHelp {
        ArgumentHelp("\(summary ?? key.summary) Default: \(key.defaultText).", valueName: valueName)
    }
}
