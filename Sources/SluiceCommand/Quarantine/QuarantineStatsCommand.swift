import ArgumentParser
import EventModel
import EventQuarantine
import SluiceReplay

/// `sluice quarantine stats`: counts the records of the quarantine.
struct QuarantineStatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Count quarantined events by code, event and source."
    )

    @OptionGroup var location: QuarantineLocation
    @OptionGroup var selection: QuarantineSelection

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    func run() async throws {
        var counts = QuarantineCounts()
        let filter = try selection.filter()
        let store = try location.store()
        let sent = try Terminal.reportingFailures { try store.sentKeys() }
        // Damage ends the command with 1, but the events that could be read are counted and printed first.
        var failure: (any Error)?
        do {
            try await store.forEachReadable(filter) { record in
                counts.add(record, isSent: sent.contains(record.key))
            }
        } catch {
            failure = error
        }
        if json { try Terminal.print(JSONText.of(counts)) } else { try Terminal.print(lines: counts.table) }
        if let failure { throw failure }
    }
}

/// The number of records of each kind.
private struct QuarantineCounts: Encodable {
    private enum CodingKeys: CodingKey {
        case events, sent, byCode, byEvent, bySource
    }

    private var events = 0
    private var sent = 0
    private var times: ClosedRange<Timestamp>?
    private var byCode: [String: Int] = [:]
    private var byEvent: [String: Int] = [:]
    private var bySource: [String: Int] = [:]

    mutating func add(_ record: QuarantineRecord, isSent: Bool) {
        events += 1
        sent += isSent ? 1 : 0
        let times = times ?? record.at...record.at
        self.times = min(times.lowerBound, record.at)...max(times.upperBound, record.at)
        for code in record.codes { byCode[code, default: 0] += 1 }
        byEvent[record.eventName ?? "-", default: 0] += 1
        bySource[record.verdict.source, default: 0] += 1
    }

    /// The counts as a table.
    var table: [TerminalText] {
        var table = TextTable(header: ["", "events"], numbers: [1])
        table.add(["all", "\(events)"])
        table.add(["sent again", "\(sent)"])
        for (title, counts) in [("code", byCode), ("event", byEvent), ("source", bySource)] {
            for (name, count) in counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                table.add(["\(title) \(name)", "\(count)"])
            }
        }
        let span: [TerminalText] = times.map { ["from \($0.lowerBound) to \($0.upperBound)"] } ?? []
        return table.lines + span
    }
}
