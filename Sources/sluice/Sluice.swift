import ArgumentParser

/// The command `sluice`.
@main
struct Sluice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sluice",
        abstract: "An event analytics pipeline: check, serve and replay events by their tracking plan.",
        subcommands: [
            ServeCommand.self, ReplayCommand.self, InitCommand.self, LintCommand.self, NewEventCommand.self,
            DiffCommand.self, CoverageCommand.self, ExportCommand.self, MigrateCommand.self, JournalCommand.self,
            QuarantineCommand.self, SettingsCommand.self, CompletionsCommand.self,
        ]
    )
}
