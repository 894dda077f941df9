import ArgumentParser
import EventJournal

/// `sluice journal verify`: every damage of a journal in one run.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read every byte of a journal, and print each damage and each gap.",
        discussion: """
            Changes nothing, and works while a server writes the journal. Prints a line for each damage as 'file, byte \
            N: sentence', one for each gap in the numbers of the events, and notes; the summary goes to standard error. \
            An unfinished commit at the end of the last segment is no damage: nobody was told that its events are safe.

            Exits with 0 when nothing is wrong, 1 when there is damage or a gap, or when the journal cannot be read.
            """
    )

    @OptionGroup var journal: JournalFolder

    @Flag(help: "Print one JSON object instead.")
    var json = false

    func run() async throws {
        let folder = try await journal.path()
        let verification = try JournalCommand.attempt {
            try Verification(ExistingJournal(reading: folder).files)
        }
        if json {
            try Terminal.print(try JSONText.of(VerificationReport(verification)))
        } else {
            try Terminal.print(lines: verification.findings + verification.notes.map { "note: \($0)" })
            Terminal.printError("\(verification.summary)")
        }
        if !verification.isIntact { throw ExitCode(1) }
    }
}

extension Verification {
    /// A sentence for each damage and each gap.
    var findings: [String] { damages.map(\.description) + gaps.map(\.description) }

    /// A sentence for what is not as it might be, and yet not wrong.
    var notes: [String] {
        let skipped = skips.map {
            "no event has the numbers \($0.from) to \($0.to &- 1) before \($0.before): "
                + "they were damaged, cut out, or left out after a crash"
        }
        return skipped + (unfinished.map { ["\($0); it is an unfinished commit, which the next start cuts off"] } ?? [])
    }

    /// What was read, and how it was.
    var summary: String {
        func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        let read = [
            count(segmentCount, "segment"), count(frameCount, "frame"), count(eventCount, "event"),
            count(byteCount, "byte"),
        ]
        let found = isIntact ? "no damage" : "\(count(damages.count, "damage")), \(count(gaps.count, "gap"))"
        return "read \(read.joined(separator: ", ")): \(found)"
    }
}

/// What `sluice journal verify --json` prints.
private struct VerificationReport: Encodable {
    struct DamageReport: Encodable {
        var file: String
        var byte: Int
        var bytes: Int
        var sentence: String

        init(_ damage: Damage) {
            file = damage.segment
            byte = damage.offset
            bytes = damage.byteCount
            sentence = damage.description
        }
    }

    struct GapReport: Encodable {
        var from: UInt64
        /// The first number that is there again.
        var to: UInt64
        var before: String

        init(_ gap: RecoveryReport.Gap) {
            from = gap.from
            to = gap.to
            before = gap.before
        }
    }

    var segments: Int
    var frames: Int
    var events: Int
    var bytes: Int
    var damages: [DamageReport]
    var gaps: [GapReport]
    var skips: [GapReport]
    /// Absent where the last segment ends with a whole frame.
    var unfinished: DamageReport?

    init(_ verification: Verification) {
        segments = verification.segmentCount
        frames = verification.frameCount
        events = verification.eventCount
        bytes = verification.byteCount
        damages = verification.damages.map(DamageReport.init)
        gaps = verification.gaps.map(GapReport.init)
        skips = verification.skips.map(GapReport.init)
        unfinished = verification.unfinished.map(DamageReport.init)
    }
}
