import ArgumentParser
import Foundation
import SettingDefinitions
import SluiceSettings

/// The settings that options on the command line gave.
struct CommandLineSettings {
    private(set) var values: [SettingKey: SettingValue] = [:]

    /// The settings that groups of options gave.
    init(_ groups: any SettingOptions...) {
        for group in groups { group.add(to: &self) }
    }

    /// Sets a text; `nil` is an option that was not given.
    mutating func set(_ key: SettingKey, _ text: String?) {
        if let text { set(key, .text(text)) }
    }

    /// Sets a number; `nil` is an option that was not given.
    mutating func set(_ key: SettingKey, _ number: Int?) {
        if let number { set(key, .number(number)) }
    }

    /// Sets a flag; `nil` is one that was not given.
    mutating func set(_ key: SettingKey, _ flag: Bool?) {
        if let flag { set(key, .flag(flag)) }
    }

    /// Sets a list; an empty one is an option that was not given.
    mutating func set(_ key: SettingKey, _ texts: [String]) {
        if !texts.isEmpty { set(key, .list(texts)) }
    }

    private mutating func set(_ key: SettingKey, _ value: SettingValue) {
        values[key] = value
    }
}

extension SettingsReader {
    /// Opens the sources; `file` is the configuration file.
    ///
    /// - Throws: `ValidationError` for an empty option: an unset variable in a script must not select another file or server.
    init(options: CommandLineSettings, file: String?) throws(ValidationError) {
        for key in SettingCatalog.keys where options.values[key] == .text("") {
            throw ValidationError("\(key.option ?? key.name) is empty.")
        }
        if file?.isEmpty == true { throw ValidationError("--config is empty.") }
        self.init(
            options: Dictionary(uniqueKeysWithValues: options.values.map { (SettingName($0), $1) }),
            environment: ProcessInfo.processInfo.environment,
            file: file
        )
    }
}

extension Settings {
    /// Reads the settings of a command that runs a pipeline.
    ///
    /// - Throws: `SettingsError` with all problems, and `ValidationError` for an empty option.
    static func load(
        _ options: CommandLineSettings,
        file: String?,
        keepsJournal: Bool = false,
        usesRelay: Bool = true
    ) throws -> Settings {
        let reader = try SettingsReader(options: options, file: file)
        let settings = Settings(reading: reader, keepsJournal: keepsJournal, usesRelay: usesRelay)
        try reader.finish()
        return settings
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
    /// `summary` replaces the setting's own summary, for example if that lists values which the help lists anyway.
    static func setting(_ key: SettingKey, _ summary: String? = nil, valueName: String? = nil) -> ArgumentHelp {
        ArgumentHelp("\(summary ?? key.summary) Default: \(key.defaultValue.text).", valueName: valueName)
    }
}
