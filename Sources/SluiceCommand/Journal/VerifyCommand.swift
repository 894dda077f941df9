import ArgumentParser
import EventJournal
import EventModel

/// `sluice journal verify`: reports all damage of a journal in one run.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify every checksum of a journal, and report all damage and gaps.",
        discussion: """
            Changes nothing, and works while a server writes the journal. Prints a line for each damaged region as 'file, \
            byte N: sentence', a line for each gap in the numbers of the events, a line for each segment that was copied or \
            renamed, and notes. The summary goes to standard \
            error. An unfinished commit at the end of the last segment is not damage, because its events were not \
            acknowledged.

            Exits with 0 if there is no problem, and 1 if there is damage, a gap or a misplaced segment, or the journal \
            cannot be read.
            """
    )

    @OptionGroup var journal: JournalFolder

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    func run() async throws {
        let verification = try await journal.read { try Verification($0.files) }
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
    /// A sentence for each damaged region, each gap and each misplaced segment.
    var findings: [String] {
        damages.map(\.description) + gaps.map(\.description) + misplaced.map(\.description)
    }

    /// A sentence for each unusual finding that is not a problem.
    var notes: [String] {
        let skipped = skips.map {
            "no event has the numbers \($0.from) to \($0.to &- 1) before \($0.before): "
                + "they were damaged, cut out, or skipped after a crash"
        }
        return skipped + (unfinished.map { ["\($0); it is an unfinished commit, which the next start cuts off"] } ?? [])
    }

    /// What was read, and the number of problems.
    var summary: String {
        let read = [
            segmentCount.of("segment"), frameCount.of("frame"), eventCount.of("event"), byteCount.of("byte"),
        ]
        let wrong = misplaced.isEmpty ? [] : [misplaced.count.of("misplaced segment")]
        let found = [damages.count.of("damaged region"), gaps.count.of("gap")] + wrong
        return "read \(read.joined(separator: ", ")): \(isIntact ? "no damage" : found.joined(separator: ", "))"
    }
}

/// The output of `sluice journal verify --json`.
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
        /// The first number after the gap.
        var to: UInt64
        var before: String

        init(_ gap: RecoveryReport.Gap) {
            from = gap.from
            to = gap.to
            before = gap.before
        }
    }

    struct MisplacedReport: Encodable {
        var file: String
        var sentence: String

        init(_ misplaced: MisplacedSegment) {
            file = misplaced.segment.text
            sentence = misplaced.description
        }
    }

    var segments: Int
    var frames: Int
    var events: Int
    var bytes: Int
    var damages: [DamageReport]
    var gaps: [GapReport]
    var misplaced: [MisplacedReport]
    var skips: [GapReport]
    /// Absent if the last segment ends with a complete frame.
    var unfinished: DamageReport?

    init(_ verification: Verification) {
        segments = verification.segmentCount
        frames = verification.frameCount
        events = verification.eventCount
        bytes = verification.byteCount
        damages = verification.damages.map(DamageReport.init)
        gaps = verification.gaps.map(GapReport.init)
        misplaced = verification.misplaced.map(MisplacedReport.init)
        skips = verification.skips.map(GapReport.init)
        unfinished = verification.unfinished.map(DamageReport.init)
    }
}
