import ArgumentParser
import SluiceSettings

/// `sluice config example`: prints a configuration file with every setting.
struct ConfigExampleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "example",
        abstract: "Print a configuration file (YAML) with every setting, its meaning and its default.",
        discussion: """
            All settings in it are comments, so that it changes nothing as it is. An option takes precedence over an \
            environment variable, and an environment variable over the configuration file.
            """
    )

    func run() throws {
        try Terminal.write(ExampleFile.text.utf8)
    }
}
