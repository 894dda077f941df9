import EventPipeline
import Foundation
import SluiceReplay

extension ReplayReport {
    /// The report as a table.
    var table: TerminalText {
        var table = TextTable(header: ["read", "\(read)"], numbers: [1])
        table.add(["accepted", "\(accepted)"])
        if skipped > 0 { table.add(["excluded by filters", "\(skipped)"]) }
        table.add(["rejected", "\(rejected)"])
        for (code, count) in rejectedByCode.sorted(by: { $0.key < $1.key }) { table.add(["  \(code)", "\(count)"]) }
        if rejectedForgotten > 0 { table.add(["  of erased people, not quarantined", "\(rejectedForgotten)"]) }
        for tracker in trackers {
            table.add(["delivered to \(tracker.name)", "\(tracker.delivered)"])
            if tracker.alreadyStored > 0 { table.add(["  already there", "\(tracker.alreadyStored)"]) }
            if tracker.refused > 0 { table.add(["  refused", "\(tracker.refused)"]) }
            if tracker.parked > 0 { table.add(["  parked", "\(tracker.parked)"]) }
            if tracker.forgotten > 0 { table.add(["  of erased people", "\(tracker.forgotten)"]) }
            if tracker.undelivered > 0 { table.add(["  NOT delivered", "\(tracker.undelivered)"]) }
        }
        table.add(["seconds", "\(String(format: "%.2f", seconds))"])
        let sentences: [TerminalText] = notes.map { "note: \($0)" } + failures.map { "error: \($0)" }
        return (table.lines + sentences).joined(separator: "\n")
    }
}
