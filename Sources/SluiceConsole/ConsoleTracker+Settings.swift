package import SettingDefinitions
package import TrackerKit

extension ConsoleConfiguration: Configurable {
    package static var defaults: ConsoleConfiguration { ConsoleConfiguration() }
}

extension SettingKey {
    package static let consoleEnabled = SettingKey(
        "console.enabled",
        .flag,
        "Whether to print events that name the tracker `console`.",
        default: .value("true"),
        option: "--console/--no-console"
    )
}

extension SettingKey {
    package static let consoleFormat = ConsoleTracker.format.key
}

extension ConsoleTracker: ConfigurableTracker {
    package static let type = ConsoleConfiguration.defaultName
    fileprivate static let format = Setting<ConsoleConfiguration>.choice(
        "console.format",
        \.format,
        option: "--format",
        scope: .tracker(type: type),
        "How the console prints events: pretty or json."
    )
    // The flag is read below, because it decides whether the tracker `console` exists, and no other one.
    package static let settings = [Setting(.consoleEnabled), format]
    package static let requiresOneOf: [SettingKey] = []
    package static let example = (name: "errors", values: [SettingKey: String]())

    package static func configuration(named name: String, from values: any SettingValues) -> ConsoleConfiguration? {
        var configuration = ConsoleConfiguration.reading(settings, from: values)
        configuration.name = name
        let isEnabled = name != type || values.flag(.consoleEnabled) ?? true
        return isEnabled ? configuration : nil
    }

    package static func tracker(_ configuration: ConsoleConfiguration, in context: TrackerContext) -> any Tracker {
        ConsoleTracker(configuration)
    }
}

extension ConsoleTracker: PrintingTracker {
    package var writesToStandardOutput: Bool { configuration.fileDescriptor == 1 }
}
