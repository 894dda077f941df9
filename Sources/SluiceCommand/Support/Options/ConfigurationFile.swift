import ArgumentParser
import SettingDefinitions
import SluiceSettings

/// The option `--config`, for every command that reads settings.
struct ConfigurationFile: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "A configuration file (YAML or JSON); `sluice config example` prints one with all settings.",
            valueName: "file"
        ),
        completion: .file()
    )
    var path: String?

    /// Reads the one setting that a command needs; `nil` if it is neither set nor has a default.
    ///
    /// `option` is the value from the command line; it takes precedence over the environment and the file.
    func text(_ key: SettingKey, option: String?) throws -> String? {
        var options = CommandLineSettings()
        options.set(key, option)
        let reader = try SettingsReader(options: options, file: path)
        let text = reader.text(key)
        try reader.finish()
        return text
    }
}
