import ArgumentParser
import Configuration

/// The settings that options on the command line gave.
struct CommandLineSettings {
    private(set) var values: [SettingKey: ConfigValue] = [:]

    /// The settings that groups of options gave.
    init(_ groups: any SettingOptions...) {
        for group in groups { group.add(to: &self) }
    }

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

/// A group of options that set settings.
///
/// A command states its groups side by side instead of nesting them: in debug builds, ArgumentParser builds the options of a group
/// five times for each level of nesting, and the command would take almost a second to start.
protocol SettingOptions {
    /// Adds the settings that these options gave.
    func add(to settings: inout CommandLineSettings)
}

extension ArgumentHelp {
    /// The help of an option that sets a setting: what the setting decides, and its default.
    ///
    /// - Parameter summary: Replaces the setting's own summary, if that lists values which the help lists anyway.
    static func setting(_ key: SettingKey, _ summary: String? = nil, valueName: String? = nil) -> ArgumentHelp {
        ArgumentHelp("\(summary ?? key.summary) Default: \(key.defaultText).", valueName: valueName)
    }
}
