import Foundation

/// Typed events that are tracked one at a time, each synced to the journal before the next.
struct TrackJournalRow: Row {
    let name = "track-journal"
    let what = "one task that awaits `track` for each typed event, synced to the journal before it returns"

    private static let events = 2000

    func measure(at site: Site) throws -> Measurement {
        let folder = site.scratch + "/track-journal"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var probe = SyncProbe(at: site)
        var measurement = try Measurement(
            of: self,
            unit: "events/s",
            rounds: site.rounds,
            with: [.ceiling("append and fdatasync", target: 0.4) { try probe.appendsASecond(count: Self.events) }]
        ) {
            try? FileManager.default.removeItem(atPath: folder)
            return try figure(Child.run("\(site.programs)/bench-track", ["journal", String(Self.events), folder]))
        }
        measurement.details = [probe.detail]
        measurement.notes = [
            "\(Self.events) events a round; the ceiling is a loop in one thread with about as many bytes"
        ]
        return measurement
    }
}
