import ArgumentParser
import EventJournal
import Foundation
import SettingDefinitions
import SluiceSettings

/// `sluice journal`: inspects and repairs a journal.
struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal",
        abstract: "Inspect, verify, print and repair a journal (the write-ahead log of accepted events).",
        subcommands: [
            InspectCommand.self, VerifyCommand.self, CatCommand.self, RepairCommand.self, ForgetCursorCommand.self,
        ]
    )
}

/// The journal that a subcommand reads or changes.
struct JournalFolder: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The journal's folder. Default: that of the settings.", valueName: "dir"),
        completion: .directory
    )
    var folder: String?

    @OptionGroup var config: ConfigurationFile

    func validate() throws {
        // An unset variable in a script must not select another journal.
        if folder?.isEmpty == true { throw ValidationError("The journal's folder has an empty name.") }
    }

    /// Opens the journal for reading, which also works while a server writes it.
    ///
    /// Errors are printed, and throw exit status 1.
    func read<Value>(_ work: (ExistingJournal) throws -> Value) async throws -> Value {
        let folder = try await path()
        return try Terminal.reportingFailures { try work(ExistingJournal(reading: folder)) }
    }

    /// Opens the journal for changes, which locks it until `work` returns.
    ///
    /// Errors are printed, and throw exit status 1.
    func change(_ work: (ExistingJournal) throws -> Void) async throws {
        let folder = try await path()
        try Terminal.reportingFailures {
            let journal = try ExistingJournal(changing: folder)
            try withExtendedLifetime(journal) { try work(journal) }
        }
    }

    /// The folder that the argument, the environment or the configuration file names, or the default.
    private func path() async throws -> String {
        try config.text(.journalFolder, option: folder) ?? Settings.defaultJournalFolder
    }
}

/// The confirmation that a change of a journal needs.
struct ChangeConfirmation: ParsableArguments {
    @Flag(help: "Change the journal without asking.")
    var yes = false

    /// Returns if `--yes` was given or the user agrees, and otherwise throws exit status 1.
    func ask(_ question: TerminalText) throws {
        if yes { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw Terminal.failure("Standard input is not a terminal; use --yes to confirm the change.")
        }
        Terminal.printPrompt("\(question) [y/N] ")
        guard ["y", "yes"].contains(readLine()?.lowercased()) else {
            Terminal.printError("Nothing was changed.")
            throw ExitCode(1)
        }
    }
}
