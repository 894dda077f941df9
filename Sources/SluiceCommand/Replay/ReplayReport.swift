import EventPipeline
import Foundation

/// The result of a replay.
struct ReplayReport {
    var read = 0
    var accepted = 0
    var rejected = 0
    /// The number of events that filters excluded.
    var skipped = 0
    /// The number of events for each code of a violation; an event may have several.
    var rejectedByCode: [String: Int] = [:]
    var trackers: [TrackerStatistics] = []
    /// A sentence for each input in which there was something other than events.
    var notes: [String] = []
    /// A sentence for each input or part of it that could not be read or delivered.
    var failures: [String] = []
    var duration = Duration.zero

    /// The exit status: 1 if something was not read or delivered, 2 if events were rejected, and otherwise 0.
    var exitCode: Int32 {
        if !failures.isEmpty || trackers.contains(where: { $0.enqueued > $0.delivered }) { return 1 }
        return rejected > 0 ? 2 : 0
    }

    var seconds: Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    /// The output of `--json`.
    struct Summary: Encodable {
        var read: Int
        var accepted: Int
        var rejected: Int
        var skipped: Int
        var rejectedByCode: [String: Int]
        var delivered: [String: Int]
        var alreadyThere: [String: Int]
        var refused: [String: Int]
        var parked: [String: Int]
        var undelivered: [String: Int]
        var notes: [String]
        var failures: [String]
        var seconds: Double
    }

    var summary: Summary {
        Summary(
            read: read,
            accepted: accepted,
            rejected: rejected,
            skipped: skipped,
            rejectedByCode: rejectedByCode,
            delivered: Dictionary(uniqueKeysWithValues: trackers.map { ($0.name, $0.delivered) }),
            alreadyThere: Dictionary(uniqueKeysWithValues: trackers.map { ($0.name, $0.alreadyStored) }),
            refused: Dictionary(uniqueKeysWithValues: trackers.map { ($0.name, $0.refused) }),
            parked: Dictionary(uniqueKeysWithValues: trackers.map { ($0.name, $0.parked) }),
            undelivered: Dictionary(uniqueKeysWithValues: trackers.map { ($0.name, $0.undelivered) }),
            notes: notes,
            failures: failures,
            seconds: (seconds * 1000).rounded() / 1000
        )
    }

    /// The report as a table.
    var table: TerminalText {
        var table = TextTable(header: ["read", "\(read)"], numbers: [1])
        table.add(["accepted", "\(accepted)"])
        if skipped > 0 { table.add(["excluded by filters", "\(skipped)"]) }
        table.add(["rejected", "\(rejected)"])
        for (code, count) in rejectedByCode.sorted(by: { $0.key < $1.key }) { table.add(["  \(code)", "\(count)"]) }
        for tracker in trackers {
            table.add(["delivered to \(tracker.name)", "\(tracker.delivered)"])
            if tracker.alreadyStored > 0 { table.add(["  already there", "\(tracker.alreadyStored)"]) }
            if tracker.refused > 0 { table.add(["  refused", "\(tracker.refused)"]) }
            if tracker.parked > 0 { table.add(["  parked", "\(tracker.parked)"]) }
            if tracker.undelivered > 0 { table.add(["  NOT delivered", "\(tracker.undelivered)"]) }
        }
        table.add(["seconds", "\(String(format: "%.2f", seconds))"])
        let sentences: [TerminalText] = notes.map { "note: \($0)" } + failures.map { "error: \($0)" }
        return (table.lines + sentences).joined(separator: "\n")
    }
}

extension TrackerStatistics {
    /// Events that are neither delivered nor in the quarantine.
    fileprivate var undelivered: Int { enqueued - delivered - refused - parked }
}
