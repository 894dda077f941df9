import ArgumentParser
import EventModel
import EventQuarantine
import SluiceReplay

/// `sluice quarantine list`: lists the records of the quarantine.
struct QuarantineListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List quarantined events, the latest last.",
        discussion:
            """
            The state is `sent` for events that `sluice replay quarantine` has sent again, and `kept` for others. With --from, \
            records that were sent again are not listed, because they are removed.
            """
    )

    @OptionGroup var location: QuarantineLocation
    @OptionGroup var selection: QuarantineSelection

    @Option(help: ArgumentHelp("The maximum number of events to list; the latest are listed.", valueName: "number"))
    var limit = 100

    @Flag(help: "Print one JSON object per event instead of a table.")
    var json = false

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit takes a number of at least 1.") }
    }

    func run() async throws {
        let filter = try selection.filter()
        let store = try location.store()
        let sent = try Terminal.reportingFailures { try store.sentKeys() }
        var latest = LatestRows(limit: limit)
        // Damage ends the command with 1, but the events that could be read are printed first.
        var failure: (any Error)?
        do {
            try await store.forEachReadable(filter) { record in
                latest.add(QuarantineRow(record, isSent: sent.contains(record.key)), at: record.at.microseconds)
            }
        } catch {
            failure = error
        }
        try Terminal.print(lines: json ? try latest.jsonLines() : latest.table())
        if !json, latest.omitted > 0 {
            Terminal.printError("\(latest.omitted.of("earlier event")) not listed; see --limit.")
        }
        if let failure { throw failure }
    }
}

/// A row of the list.
struct QuarantineRow: Codable {
    var id: String
    var at: String
    var event: String?
    var codes: [String]
    var source: String
    var planVersion: String?
    var isSent: Bool

    init(_ record: QuarantineRecord, isSent: Bool) {
        id = record.id
        at = record.verdict.at
        event = record.eventName
        codes = record.codes
        source = record.verdict.source
        planVersion = record.verdict.planVersion
        self.isSent = isSent
    }
}

/// The latest rows, in order of time.
private struct LatestRows {
    private let limit: Int
    private var rows: [(at: Int64, row: QuarantineRow)] = []
    private var count = 0

    init(limit: Int) {
        self.limit = limit
    }

    mutating func add(_ row: QuarantineRow, at time: Int64) {
        rows.append((time, row))
        count += 1
        // Sorted only from time to time, so that sorting a long quarantine takes less time than reading it.
        if rows.count / 2 >= max(limit, 1_000) { trim() }
    }

    private mutating func trim() {
        rows.sort { ($0.at, $0.row.id) < ($1.at, $1.row.id) }
        rows.removeFirst(max(0, rows.count - limit))
    }

    /// The number of rows beyond the limit.
    var omitted: Int { max(0, count - limit) }

    /// The rows as JSON objects, one per line.
    mutating func jsonLines() throws -> [TerminalText] {
        trim()
        return try rows.map { try JSONText.line(of: $0.row) }
    }

    /// The rows as a table.
    mutating func table() -> [TerminalText] {
        trim()
        var table = TextTable(header: ["id", "at", "event", "codes", "source", "state"])
        for (_, row) in rows {
            table.add([
                "\(row.id)", "\(row.at)", "\(row.event ?? "-")", "\(row.codes.joined(separator: ","))",
                "\(row.source)", row.isSent ? "sent" : "kept",
            ])
        }
        return table.lines
    }
}
