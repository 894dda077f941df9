import ArgumentParser
import EventJournal
import EventModel

/// `sluice journal repair`: moves damaged bytes out of a journal, and keeps them.
struct RepairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Move the damaged parts of a journal to files beside it.",
        discussion: """
            No other process may have the journal open. Prints the damage, and asks before it changes anything. Each \
            damaged region is moved to a file named 'segment.byte.cut', and its segment is rewritten without it; all other \
            events keep their numbers. Gaps cannot be repaired, and copied or renamed segments have to be \
            moved by hand. An unfinished commit at the end stays; the next start of \
            the server removes it.

            Exits with 0 if no damage is left, and 1 if some is left, a segment is misplaced, or the repair was not \
            confirmed.
            """
    )

    @OptionGroup var journal: JournalFolder
    @OptionGroup var confirmation: ChangeConfirmation

    func run() async throws {
        try await journal.change(repair)
    }

    private func repair(_ journal: ExistingJournal) throws {
        let found = try Verification(journal.files)
        try Terminal.print(lines: found.notes.map { "note: \($0)" })
        try Terminal.print(lines: found.gaps.map { "\($0); a gap cannot be repaired" })
        try Terminal.print(lines: found.misplaced)
        let damages = found.damages.filter(JournalRepair.isRepairable)
        if !damages.isEmpty {
            try Terminal.print(lines: damages)
            let regions = damages.count == 1 ? "this region" : "these \(damages.count) regions"
            try confirmation.ask("Move \(regions) to files beside the segments, and rewrite the segments without them?")
        }
        let repair = try JournalRepair(journal.files, now: Timestamp.now().microseconds)
        try Terminal.print(lines: repair.cuts.map { "repaired \($0)" } + repair.left.map { "left \($0)" })
        if found.damages.isEmpty { try Terminal.print("There is no damage to repair.") }
        if !repair.left.isEmpty || !found.misplaced.isEmpty { throw ExitCode(1) }
    }
}
