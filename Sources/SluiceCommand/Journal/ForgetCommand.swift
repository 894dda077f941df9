import ArgumentParser
import EventJournal

/// `sluice journal forget`: lets go of a tracker that is no more.
struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove a tracker's cursor from a journal, so that the tracker holds nothing back.",
        discussion: """
            Needs the journal for itself, and asks. Where a tracker of this name is configured again, it is a new one; \
            PostgreSQL, which keeps its place itself, goes on from there.
            """
    )

    @Argument(help: ArgumentHelp("The tracker's name.", valueName: "tracker"))
    var tracker: String

    @OptionGroup var journal: JournalFolder

    @OptionGroup var change: ChangeOptions

    func run() async throws {
        let folder = try await journal.path()
        try JournalCommand.attempt {
            let journal = try ExistingJournal(changing: folder)
            try withExtendedLifetime(journal) { try forget(journal) }
        }
    }

    private func forget(_ journal: ExistingJournal) throws {
        let inspection = try Inspection(journal.files)
        guard let cursor = inspection.cursors.first(where: { $0.tracker == tracker.lowercased() }) else {
            let names = inspection.cursors.map(\.tracker).joined(separator: ", ")
            Terminal.printError(
                "error: The journal has no cursor of '\(tracker)'; there are: \(names.isEmpty ? "none" : names)."
            )
            throw ExitCode(1)
        }
        let lag = inspection.lag(of: cursor)
        try change.confirm("Forget the cursor of '\(cursor.tracker)', which is \(lag) events behind?")
        _ = try CursorFile.forget(tracker: cursor.tracker, in: journal.files)
        try Terminal.print("forgot the cursor of '\(cursor.tracker)', which was \(lag) events behind")
    }
}
