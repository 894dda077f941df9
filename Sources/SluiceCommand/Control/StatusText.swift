import EventModel
import Operations

/// A status for a person.
struct StatusText {
    private let status: StatusReport
    private let rates: Rates?

    /// How many events were accepted and rejected each second, and how many each tracker delivered.
    struct Rates {
        var accepted = 0.0
        var rejected = 0.0
        var delivered: [String: Double] = [:]
    }

    /// Creates the text of a status; `rates` is `nil` if they are not measured.
    init(_ status: StatusReport, rates: Rates? = nil) {
        self.status = status
        self.rates = rates
    }

    /// How many kinds of rejected events are listed.
    private static let maximumRejections = 5

    var lines: [TerminalText] { head + [""] + trackers + problems + rejections }

    private var head: [TerminalText] {
        let plan = status.plan.version.map { "plan \($0), " } ?? "plan of "
        var lines: [TerminalText] = [
            "Sluice \(status.version), \(plan)\(status.plan.events.of("event"))",
            status.isReady
                ? "ready: accepts events"
                : "NOT READY: \(status.reasons.joined(separator: ", "))",
            "\(status.accepted.of("event")) accepted\(rates.map { ", \(Self.rate($0.accepted))" } ?? "")",
        ]
        if let rejected = status.rejected {
            lines.append("\(rejected.of("event")) rejected\(rates.map { ", \(Self.rate($0.rejected))" } ?? "")")
        }
        if status.unrouted > 0 {
            lines.append("\(status.unrouted.of("event")) NOT DELIVERED, because none of their trackers is configured")
        }
        if let journal = status.journal {
            let room = journal.roomBytes == .max ? "" : ", room for \(Self.size(journal.roomBytes))"
            lines.append("journal: \(Self.size(journal.bytes)) in \(journal.segments.of("segment"))\(room)")
        } else {
            lines.append("no journal: accepted events are in memory")
        }
        if let problem = status.plan.problem { lines.append("the plan's files are not in use: \(problem)") }
        for change in status.changedSettings {
            let asker = change.user.map { "by \($0), " } ?? ""
            lines.append(
                "changed: \(change.key) is \(change.value) until \(change.until) (\(asker)through the \(change.through))"
            )
        }
        if status.waitingBatches > 0 { lines.append("\(status.waitingBatches) batches wait for room in a queue") }
        return lines
    }

    private var trackers: [TerminalText] {
        guard !status.trackers.isEmpty else { return ["no tracker is configured"] }
        let hasRates = rates != nil
        var header: [TerminalText] = ["TRACKER", "STATUS", "LAG", "AGE", "DELIVERED", "REFUSED", "PARKED", "DROPPED"]
        if hasRates { header.append("EVENTS/S") }
        var table = TextTable(header: header, numbers: [2, 3, 4, 5, 6, 7, 8])
        for tracker in status.trackers {
            var row: [TerminalText] = [
                "\(tracker.name)", "\(tracker.status)", "\(tracker.lagIsUpperBound ? "≤" : "")\(tracker.lagEvents)",
                tracker.lagSeconds.map { "\(Self.duration($0))" } ?? "-",
                "\(tracker.delivered)", "\(tracker.refused)", "\(tracker.parked)", "\(tracker.dropped)",
            ]
            if let rates { row.append("\(Int((rates.delivered[tracker.name] ?? 0).rounded()))") }
            table.add(row)
        }
        return table.lines
    }

    private var problems: [TerminalText] {
        var lines: [TerminalText] = []
        for tracker in status.trackers {
            if let reason = tracker.reason { lines += ["", "\(tracker.name): \(reason)"] }
            for (event, reason) in tracker.brokenEvents.sorted(by: { $0.key < $1.key }) {
                lines += ["", "\(tracker.name) parks '\(event)': \(reason)"]
            }
        }
        return lines
    }

    private var rejections: [TerminalText] {
        guard let kinds = status.rejections, !kinds.isEmpty else { return [] }
        var table = TextTable(header: ["REJECTED", "CODE", "EVENT", "FROM"], numbers: [0])
        for kind in kinds.prefix(Self.maximumRejections) {
            table.add([
                "\(kind.count)", "\(kind.code)", TerminalText(escaping: kind.event ?? "(unknown event)"),
                TerminalText(escaping: kind.sender),
            ])
        }
        let rest: [TerminalText] =
            kinds.count > Self.maximumRejections ? ["and others; see 'sluice quarantine stats'"] : []
        return [""] + table.lines + rest
    }

    private static func rate(_ rate: Double) -> String { "\(Int(rate.rounded())) events/s" }

    /// A size with one digit after the point: `1.5 GiB`.
    static func size(_ bytes: Int) -> String {
        var (value, unit) = (Double(bytes), 0)
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
        while value >= 1024, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return unit == 0 ? "\(bytes) bytes" : "\((value * 10).rounded() / 10) \(units[unit])"
    }

    /// A duration in its two largest units: `2h 5m`, `3m 10s`, `4.2s`.
    static func duration(_ seconds: Double) -> String {
        if seconds < 60 { return "\((seconds * 10).rounded() / 10)s" }
        let whole = Int(clamping: Int64(seconds))
        if whole < 3600 { return "\(whole / 60)m \(whole % 60)s" }
        if whole < 86_400 { return "\(whole / 3600)h \(whole % 3600 / 60)m" }
        return "\(whole / 86_400)d \(whole % 86_400 / 3600)h"
    }
}
