import ArgumentParser
import SluiceSettings

/// `sluice config show`: prints the settings in effect, and where each comes from.
struct ConfigShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the value of every setting, and whether an option, the environment or the file states it.",
        discussion: """
            Takes the settings of 'sluice serve'. Passwords, keys and tokens are replaced by ***.

            Exits with 0, 1 if the settings have problems, and 64 for wrong usage.
            """
    )

    @OptionGroup var journal: JournalOptions

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @OptionGroup var plan: PlanFolder
    @OptionGroup var trackers: TrackerOptions
    @OptionGroup var options: PipelineOptions

    func run() throws {
        let reader = try SettingsReader(
            options: CommandLineSettings(plan, trackers, options, journal),
            file: plan.config.path
        )
        let settings = Settings(reading: reader, keepsJournal: true)
        try reader.finish()
        let shown = settings.shown()
        if json {
            try Terminal.print(try JSONText.of(["settings": shown]))
        } else {
            var table = TextTable()
            for setting in shown { table.add(["\(setting.key)", "\(setting.value)", "\(setting.origin)"]) }
            try Terminal.print(lines: table.lines)
        }
    }
}
