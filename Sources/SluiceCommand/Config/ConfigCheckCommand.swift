import ArgumentParser
import EventModel
import SettingDefinitions
import SluiceSettings

/// `sluice config check`: reports everything that is wrong with the settings.
struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Report everything that is wrong with a configuration file, with lines and columns if known.",
        discussion: """
            Reads the file and the environment as 'sluice serve' does, and has libpq and librdkafka check their own settings. It \
            connects to nothing; 'sluice check' also connects \
            to the destinations. An environment variable that begins with SLUICE_ and belongs to no setting is a warning, and so is what \
            seems to be a secret in the command of a tracker.

            Exits with 0 if there are no errors, 1 if there are, and 64 for wrong usage.
            """
    )

    @OptionGroup var config: ConfigurationFile

    func run() throws {
        let reader = try SettingsReader(options: CommandLineSettings(), file: config.path)
        do {
            try reader.check()
        } catch {
            let problems = error.problems + reader.warnings
            try Terminal.print(lines: problems)
            Terminal.printError("\(problems.count.of("problem"))")
            throw ExitCode(1)
        }
        let warnings = reader.warnings
        try Terminal.print(lines: warnings)
        let count = warnings.isEmpty ? "no problems" : warnings.count.of("warning")
        try Terminal.print("\(config.path ?? "The environment"): \(count)")
    }
}
