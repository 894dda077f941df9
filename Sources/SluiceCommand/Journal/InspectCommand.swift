import ArgumentParser
import EventJournal
import EventModel

/// `sluice journal inspect`: what a journal holds, and how far its trackers are.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show a journal's segments, the trackers' cursors with their lag, and what was cut out.",
        discussion: """
            Changes nothing, and works while a server writes the journal. A cursor is the number of the first event that \
            its tracker still needs; the lag is counted in events.
            """
    )

    @OptionGroup var journal: JournalFolder

    @Flag(help: "Print one JSON object instead.")
    var json = false

    func run() async throws {
        let folder = try await journal.path()
        let inspection = try JournalCommand.attempt {
            try Inspection(ExistingJournal(reading: folder).files)
        }
        if json { return try Terminal.print(try JSONText.of(InspectionReport(inspection))) }
        try Terminal.print(lines: Self.lines(of: inspection))
    }

    private static func lines(of inspection: Inspection) -> [TerminalText] {
        var lines = segments(of: inspection).lines + summary(of: inspection)
        if !inspection.cursors.isEmpty {
            var table = TextTable(header: ["tracker", "cursor", "lag"], numbers: [1, 2])
            for cursor in inspection.cursors {
                table.add([
                    "\(cursor.tracker)", "\(cursor.sequence.map(String.init) ?? "-")", "\(inspection.lag(of: cursor))",
                ])
            }
            lines += [""] + table.lines
        }
        if !inspection.cuts.isEmpty {
            var table = TextTable(header: ["cut out", "bytes"], numbers: [1])
            for cut in inspection.cuts { table.add(["\(cut.name)", "\(cut.byteCount)"]) }
            lines += [""] + table.lines
        }
        return lines
    }

    private static func segments(of inspection: Inspection) -> TextTable {
        var table = TextTable(
            header: ["segment", "first", "next", "bytes", "earliest", "latest", "state"],
            numbers: [1, 2, 3]
        )
        for found in inspection.segments {
            let segment = found.segment
            let stray = found.strayBytes == 0 ? "" : ", \(found.strayBytes) bytes are no frames"
            table.add([
                "\(segment.name.text)", "\(segment.name.firstSequence)", "\(segment.nextSequence)",
                "\(segment.byteCount)", segment.times.map { "\($0.lowerBound)" } ?? "-",
                segment.times.map { "\($0.upperBound)" } ?? "-", "\(found.isEnded ? "ended" : "open")\(stray)",
            ])
        }
        return table
    }

    private static func summary(of inspection: Inspection) -> [TerminalText] {
        let count = inspection.segments.count
        let identity: [TerminalText] = inspection.id.map { ["journal \($0)"] } ?? []
        let segments: TerminalText = "\(count) segment\(count == 1 ? "" : "s"), \(inspection.byteCount) bytes"
        return identity
            + [segments + ", first event \(inspection.firstSequence), next event \(inspection.nextSequence)"]
    }
}

extension Segment {
    /// The earliest and the latest time of its events; `nil` where it has none.
    var times: ClosedRange<Timestamp>? {
        guard earliest <= latest else { return nil }
        return Timestamp(microseconds: earliest)...Timestamp(microseconds: latest)
    }
}

/// What `sluice journal inspect --json` prints.
private struct InspectionReport: Encodable {
    struct SegmentReport: Encodable {
        var file: String
        var firstSequence: UInt64
        var nextSequence: UInt64
        var bytes: Int
        /// Of them, those that are no frames.
        var strayBytes: Int
        /// Absent where there are no events, like `latest`.
        var earliest: String?
        var latest: String?
        var isEnded: Bool
    }

    struct CursorReport: Encodable {
        var tracker: String
        /// Absent where the tracker never got any.
        var sequence: UInt64?
        var lag: UInt64
    }

    struct CutReport: Encodable {
        var file: String
        var bytes: Int
    }

    /// Absent where the journal was not opened since journals have identities.
    var journal: String?
    var segments: [SegmentReport]
    var bytes: Int
    var firstSequence: UInt64
    var nextSequence: UInt64
    var cursors: [CursorReport]
    var cuts: [CutReport]

    init(_ inspection: Inspection) {
        journal = inspection.id?.description
        segments = inspection.segments.map { found in
            SegmentReport(
                file: found.segment.name.text,
                firstSequence: found.segment.name.firstSequence,
                nextSequence: found.segment.nextSequence,
                bytes: found.segment.byteCount,
                strayBytes: found.strayBytes,
                earliest: found.segment.times.map { "\($0.lowerBound)" },
                latest: found.segment.times.map { "\($0.upperBound)" },
                isEnded: found.isEnded
            )
        }
        bytes = inspection.byteCount
        firstSequence = inspection.firstSequence
        nextSequence = inspection.nextSequence
        cursors = inspection.cursors.map {
            CursorReport(tracker: $0.tracker, sequence: $0.sequence, lag: inspection.lag(of: $0))
        }
        cuts = inspection.cuts.map { CutReport(file: $0.name, bytes: $0.byteCount) }
    }
}
