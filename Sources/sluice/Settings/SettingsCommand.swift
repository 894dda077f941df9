import ArgumentParser

/// `sluice settings`: what can be set, and how.
struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "List every setting: its key, option, environment variable and default.",
        discussion: """
            An option goes before an environment variable, and that before the configuration file, in which the dots of a \
            key stand for nested objects: {"http": {"listen": "127.0.0.1:8080"}}.
            """
    )

    func run() {
        for key in SettingKey.allCases {
            print(key.rawValue)
            print("    \(key.summary)")
            print("    \(key.option.map { "\($0), " } ?? "")\(key.environmentVariable); default: \(key.defaultText)")
        }
    }
}
