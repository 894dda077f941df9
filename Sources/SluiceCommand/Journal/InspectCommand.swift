import ArgumentParser
import EventJournal
import EventModel

/// `sluice journal inspect`: shows what a journal contains, and the lag of its trackers.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract:
            "Show a journal's segments, the trackers' cursors with their lag, and the regions that repairs cut out.",
        discussion: """
            Changes nothing, and works while a server writes the journal. A cursor is a tracker's offset: the number of the \
            first event that it still needs. The lag is in events.
            """
    )

    @OptionGroup var journal: JournalFolder

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    func run() async throws {
        let inspection = try await journal.read { try Inspection($0.files) }
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
            let stray = found.strayBytes == 0 ? "" : ", \(found.strayBytes) bytes outside frames"
            table.add([
                "\(segment.name.text)", "\(segment.name.firstSequence)", "\(segment.nextSequence)",
                "\(segment.byteCount)", segment.times.map { "\($0.lowerBound)" } ?? "-",
                segment.times.map { "\($0.upperBound)" } ?? "-", "\(found.isEnded ? "ended" : "open")\(stray)",
            ])
        }
        return table
    }

    private static func summary(of inspection: Inspection) -> [TerminalText] {
        let identity: [TerminalText] = inspection.id.map { ["journal \($0)"] } ?? []
        let segments: TerminalText = "\(inspection.segments.count.of("segment")), \(inspection.byteCount) bytes"
        return identity
            + [segments + ", first event \(inspection.firstSequence), next event \(inspection.nextSequence)"]
    }
}

extension Segment {
    /// The earliest and the latest time of its events; `nil` if it has none.
    var times: ClosedRange<Timestamp>? {
        guard earliest <= latest else { return nil }
        return Timestamp(microseconds: earliest)...Timestamp(microseconds: latest)
    }
}

/// The output of `sluice journal inspect --json`.
private struct InspectionReport: Encodable {
    struct SegmentReport: Encodable {
        var file: String
        var firstSequence: UInt64
        var nextSequence: UInt64
        var bytes: Int
        /// Those of `bytes` that belong to no frame.
        var strayBytes: Int
        /// Absent, like `latest`, if there are no events.
        var earliest: String?
        var latest: String?
        var isEnded: Bool
    }

    struct CursorReport: Encodable {
        var tracker: String
        /// Absent if nothing was delivered to the tracker yet.
        var sequence: UInt64?
        var lag: UInt64
    }

    struct CutReport: Encodable {
        var file: String
        var bytes: Int
    }

    /// The journal's identity; absent if it was last opened by a version without identities.
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
