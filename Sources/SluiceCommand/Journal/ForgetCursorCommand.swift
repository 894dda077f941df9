import ArgumentParser
import EventJournal

/// `sluice journal forget`: removes the cursor of a tracker that no longer exists.
struct ForgetCursorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove a tracker's cursor, so that the journal no longer keeps events for that tracker.",
        discussion: """
            No other process may have the journal open. Asks before it changes anything. If a tracker of this name is \
            configured again later, it starts as a new one; PostgreSQL, which stores its own checkpoint, continues from \
            there. It erases no events; 'sluice forget' erases a person's.
            """
    )

    @Argument(help: ArgumentHelp("The tracker's name.", valueName: "tracker"))
    var tracker: String

    @OptionGroup var journal: JournalFolder

    @OptionGroup var confirmation: ChangeConfirmation

    func run() async throws {
        try await journal.change(forget)
    }

    private func forget(_ journal: ExistingJournal) throws {
        let inspection = try Inspection(journal.files)
        guard let cursor = inspection.cursors.first(where: { $0.tracker == tracker.lowercased() }) else {
            let names = inspection.cursors.map(\.tracker).joined(separator: ", ")
            throw Terminal.failure(
                "The journal has no cursor of '\(tracker)'; there are: \(names.isEmpty ? "none" : names)."
            )
        }
        let lag = inspection.lag(of: cursor)
        try confirmation.ask("Forget the cursor of '\(cursor.tracker)', which is \(lag) events behind?")
        _ = try CursorFile.forget(tracker: cursor.tracker, in: journal.files)
        try Terminal.print("forgot the cursor of '\(cursor.tracker)', which was \(lag) events behind")
    }
}
