import ArgumentParser

/// The command `sluice`.
@main
struct RootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sluice",
        abstract: "An event analytics pipeline: check, serve and replay events by their tracking plan.",
        version: SluiceVersion.current,
        subcommands: [
            ServeCommand.self, CheckCommand.self, ReplayCommand.self, InitCommand.self, LintCommand.self,
            NewEventCommand.self, DiffCommand.self, CoverageCommand.self, ExportCommand.self, MigrateCommand.self,
            JournalCommand.self, QuarantineCommand.self, SettingsCommand.self, CompletionsCommand.self,
        ]
    )

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch  where !exitCode(for: error).isSuccess {
            // What a command throws may quote what came from outside, so it is printed as everything else is.
            let message = TerminalText(escapingLinesOf: fullMessage(for: error))
            if !message.description.isEmpty { Terminal.printError(message) }
            exit(withError: exitCode(for: error))
        } catch {
            exit(withError: error)
        }
    }
}
