import ArgumentParser
import SettingDefinitions

/// The command `sluice`.
@main
struct RootCommand: AsyncParsableCommand {
    /// The version of the latest heading in CHANGELOG.md; followed by `-dev` while it is not released.
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "sluice",
        abstract: "An event analytics pipeline: check, accept and replay events that follow a tracking plan.",
        version: version,
        subcommands: [
            ServeCommand.self, StatusCommand.self, TopCommand.self, TailCommand.self,
            PauseCommand.self, ResumeCommand.self, ReloadCommand.self, SetCommand.self,
            DrainCommand.self, KeysCommand.self, CheckCommand.self, ReplayCommand.self, LoadCommand.self,
            ExecTestCommand.self, InitCommand.self,
            LintCommand.self, NewEventCommand.self, DiffCommand.self, CoverageCommand.self, ExportCommand.self,
            MigrateCommand.self, MaintainCommand.self, ForgetCommand.self, JournalCommand.self, QuarantineCommand.self,
            ConfigCommand.self,
            MetricsCommand.self, CompletionsCommand.self,
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
        } catch let error as SettingsError {
            for problem in error.problems { Terminal.printError("\(problem)") }
            exit(withError: ExitCode(1))
        } catch  where !exitCode(for: error).isSuccess {
            // An error may quote input, so it is escaped like everything else that is printed.
            let text = UsageHint.improved(fullMessage(for: error), arguments: Array(CommandLine.arguments.dropFirst()))
            let message = TerminalText(escapingLinesOf: text)
            if !message.description.isEmpty { Terminal.printError(message) }
            exit(withError: exitCode(for: error))
        } catch {
            exit(withError: error)
        }
    }
}
