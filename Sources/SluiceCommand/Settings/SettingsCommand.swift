import ArgumentParser

/// `sluice settings`: lists every setting.
struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "List every setting with its key, option, environment variable and default.",
        discussion: """
            An option takes precedence over an environment variable, and an environment variable over the configuration file. \
            In the file, the dots of a key stand for nested objects: {"http": {"listen": "127.0.0.1:8080"}}.
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
