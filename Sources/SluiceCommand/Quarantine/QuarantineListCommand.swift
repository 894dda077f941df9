import ArgumentParser
import EventJournal
import EventModel

/// `sluice quarantine list`: a line for each rejected event.
struct QuarantineListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List rejected events, the latest last.",
        discussion: "The state is `sent` for those that `sluice replay quarantine` has sent on."
    )

    @OptionGroup var location: QuarantineLocation
    @OptionGroup var selection: QuarantineSelection

    @Option(help: ArgumentHelp("Only the latest so many.", valueName: "number"))
    var limit = 100

    @Flag(help: "Print one JSON object an event instead.")
    var json = false

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit takes a number of at least 1.") }
    }

    func run() async throws {
        let folder = try await location.folder()
        let filter = try selection.filter()
        let sent = try JournalCommand.attempt { try SentRecords(ofQuarantine: folder, changes: false).ids }
        var latest = LatestRows(limit: limit)
        // What is damaged ends the command with 1, and what could be read comes out before.
        let reading = Result {
            try QuarantineCommand.forEach(in: folder, filter) { record in
                latest.add(QuarantineRow(record, isSent: sent.contains(record.key)), at: record.at.microseconds)
            }
        }
        try Terminal.print(lines: json ? try latest.jsonLines() : latest.table())
        if !json, latest.omitted > 0 {
            Terminal.printError("\(latest.omitted) earlier ones are not listed; see --limit.")
        }
        try reading.get()
    }
}

/// What the list says of a record.
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

/// The latest rows of any number, in order.
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
        // Sorted now and then only, so that a long quarantine takes no more time than reading it.
        if rows.count / 2 >= max(limit, 1_000) { trim() }
    }

    private mutating func trim() {
        rows.sort { ($0.at, $0.row.id) < ($1.at, $1.row.id) }
        rows.removeFirst(max(0, rows.count - limit))
    }

    /// How many there are beyond the limit.
    var omitted: Int { max(0, count - limit) }

    /// An object for each row.
    mutating func jsonLines() throws -> [TerminalText] {
        trim()
        return try rows.map { try JSONText.line(of: $0.row) }
    }

    /// The same for people.
    mutating func table() -> [TerminalText] {
        trim()
        var table = TextTable(header: ["id", "at", "event", "codes", "source", "state"], numbers: [])
        for (_, row) in rows {
            table.add([
                "\(row.id)", "\(row.at)", "\(row.event ?? "-")", "\(row.codes.joined(separator: ","))",
                "\(row.source)", row.isSent ? "sent" : "kept",
            ])
        }
        return table.lines
    }
}
