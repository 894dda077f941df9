import ArgumentParser
import EventModel

/// `sluice config check`: reports everything that is wrong with the settings.
struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Report everything that is wrong with a configuration file, each with its line and column.",
        discussion: """
            Reads the file and the environment as 'sluice serve' does, and connects to nothing; 'sluice check' also connects \
            to the destinations.

            Exits with 0 if there are no problems, 1 if there are, and 64 for wrong usage.
            """
    )

    @OptionGroup var config: ConfigurationFile

    func run() throws {
        let reader = try SettingsReader(options: CommandLineSettings(), file: config.path)
        _ = Settings(reading: reader, keepsJournal: true)
        do {
            try reader.finish()
        } catch {
            try Terminal.print(lines: error.problems)
            Terminal.printError("\(error.problems.count.of("problem"))")
            throw ExitCode(1)
        }
        try Terminal.print("\(config.path ?? "The environment"): no problems")
    }
}
