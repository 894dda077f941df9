import Foundation

/// Typed events that several tasks track at once, each waiting until its event is synced to the journal.
struct TrackJournalRow: Row {
    /// The number of tasks.
    fileprivate let tasks: Int
    fileprivate let target: Double

    static let all = [
        TrackJournalRow(tasks: 1, target: 0.4),
        TrackJournalRow(tasks: 8, target: 2),
        TrackJournalRow(tasks: 64, target: 8),
        TrackJournalRow(tasks: 512, target: 16),
    ]

    var name: String { tasks == 1 ? "track-journal" : "track-journal-\(tasks)" }

    var what: String {
        let who = tasks == 1 ? "one task that awaits" : "\(tasks) tasks that each await"
        return "\(who) `track` for each typed event, synced to the journal before it returns"
    }

    private static let events = 2000

    func measure(at site: Site) throws -> Measurement {
        var probe = SyncProbe(at: site)
        let reference: Reference =
            if tasks == 1 {
                .ceiling("append and fdatasync", target: target) { try probe.appendsASecond(count: Self.events) }
            } else {
                .itself("one task", target: target) {
                    try probe.sample()
                    return try rate(of: 1, at: site)
                }
            }
        var measurement = try Measurement(
            of: self,
            unit: "events/s",
            rounds: site.rounds,
            with: [reference]
        ) {
            try rate(of: tasks, at: site)
        }
        measurement.details = [probe.detail]
        measurement.notes = ["\(Self.events(of: tasks)) events a round"]
        if tasks == 1 { measurement.notes.append("the ceiling is a loop in one thread with about as many bytes") }
        return measurement
    }

    private static func events(of tasks: Int) -> Int { events * min(tasks, 50) }

    private func rate(of tasks: Int, at site: Site) throws -> Double {
        let folder = site.scratch + "/track-journal"
        try? FileManager.default.removeItem(atPath: folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let arguments = ["journal", String(Self.events(of: tasks)), folder, String(tasks)]
        return try figure(Child.run("\(site.programs)/bench-track", arguments))
    }
}
