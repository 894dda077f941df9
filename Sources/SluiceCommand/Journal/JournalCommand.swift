import ArgumentParser
import EventJournal
import EventModel
import Foundation

/// `sluice journal`: the tools for a journal's folder.
struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal",
        abstract: "Look at, verify, print and repair a journal.",
        subcommands: [
            InspectCommand.self, VerifyCommand.self, CatCommand.self, RepairCommand.self, ForgetCommand.self,
        ]
    )

    /// Does something with a journal; what keeps it from being done is printed and ends the command with 1.
    static func attempt<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let error as JournalError {
            Terminal.printError("error: \(error)")
        } catch let error as FileError {
            Terminal.printError("error: \(error)")
        }
        throw ExitCode(1)
    }
}

/// The journal that the commands are about.
struct JournalFolder: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The journal's folder; else that of the settings.", valueName: "dir"),
        completion: .directory
    )
    var folder: String?

    @Option(
        help: ArgumentHelp("A configuration file (JSON); `sluice settings` lists what can stand in it."),
        completion: .file()
    )
    var config: String?

    func validate() throws {
        // An unset variable of a script must not make it another journal.
        if folder?.isEmpty == true { throw ValidationError("The journal's folder has an empty name.") }
    }

    /// The folder that the argument, the environment or the file names, or the default.
    func path() async throws -> String {
        try await Settings.text(.journalFolder, stated: folder, file: config) ?? Settings.defaultJournalFolder
    }
}

/// Leave to change a journal.
struct ChangeOptions: ParsableArguments {
    @Flag(help: "Do not ask.")
    var yes = false

    /// Returns where `--yes` was given or a person agrees; ends the command with 1 where nobody does.
    func confirm(_ question: TerminalText) throws {
        if yes { return }
        guard isatty(STDIN_FILENO) == 1 else {
            Terminal.printError("error: There is no terminal to ask on. With --yes nobody is asked.")
            throw ExitCode(1)
        }
        Terminal.printPrompt("\(question) [y/N] ")
        guard ["y", "yes"].contains(readLine()?.lowercased()) else {
            Terminal.printError("Nothing was changed.")
            throw ExitCode(1)
        }
    }
}
