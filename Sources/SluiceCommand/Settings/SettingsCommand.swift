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

    func run() throws {
        try Terminal.print(lines: SettingKey.allCases.flatMap(Self.lines))
    }

    private static func lines(of key: SettingKey) -> [String] {
        let names = (key.option.map { "\($0), " } ?? "") + key.environmentVariable
        return [key.rawValue, "    \(key.summary)", "    \(names); default: \(key.defaultText)"]
    }
}
