import ArgumentParser

/// `sluice config`: checks a configuration file, and shows settings.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Check a configuration file, show the settings in effect, or print an example with every setting.",
        subcommands: [ConfigCheckCommand.self, ConfigShowCommand.self, ConfigExampleCommand.self]
    )
}
