import ArgumentParser
import EventJournal
import EventModel

/// `sluice journal repair`: takes the damaged bytes out of a journal, and keeps them.
struct RepairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Move what is damaged in a journal to files beside it.",
        discussion: """
            Needs the journal for itself, prints what is damaged, and asks. Each damaged region goes to a file named \
            'segment.byte.cut', and the segment is written anew without it; all other events stay, with their numbers. \
            Gaps cannot be repaired. An unfinished commit at the end is left: the next start of the server cuts it off.

            Exits with 0 when no damage is left, 1 when some is, or when it was not allowed to repair.
            """
    )

    @OptionGroup var journal: JournalFolder
    @OptionGroup var change: ChangeOptions

    func run() async throws {
        let folder = try await journal.path()
        try JournalCommand.attempt {
            let journal = try ExistingJournal(changing: folder)
            try withExtendedLifetime(journal) { try repair(journal) }
        }
    }

    private func repair(_ journal: ExistingJournal) throws {
        let found = try Verification(journal.files)
        try Terminal.print(lines: found.notes.map { "note: \($0)" })
        try Terminal.print(lines: found.gaps.map { "\($0); a gap cannot be repaired" })
        let damages = found.damages.filter(JournalRepair.isRepairable)
        if !damages.isEmpty {
            try Terminal.print(lines: damages)
            let regions = damages.count == 1 ? "this region" : "these \(damages.count) regions"
            try change.confirm("Move \(regions) to files beside the segments, and write the segments anew without?")
        }
        let repair = try JournalRepair(journal.files, now: Timestamp.now().microseconds)
        try Terminal.print(lines: repair.cuts.map { "repaired \($0)" } + repair.left.map { "left \($0)" })
        if found.damages.isEmpty { try Terminal.print("There is no damage to repair.") }
        if !repair.left.isEmpty { throw ExitCode(1) }
    }
}
