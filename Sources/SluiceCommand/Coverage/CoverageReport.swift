import EventSchema
import EventValidation
import PlanTools
import TrackerKit

/// What `sluice coverage` found; `--json` prints it as it is.
struct CoverageReport: Encodable {
    struct Event: Encodable {
        var event: String
        var type: String
        var isDeprecated: Bool
        var path: String
        var line: Int
        var column: Int
    }

    struct Tracker: Encodable {
        var tracker: String
        var events: [String]
    }

    /// How many events the plan has.
    var events: Int
    /// The events that no code sends.
    var neverSent: [Event]
    /// The trackers that events name and nobody configured.
    var unconfiguredTrackers: [Tracker]
    /// The trackers that somebody configured and no event names.
    var unusedTrackers: [String]
    /// How many files were looked into.
    var files: Int
    var skipped: [SourceFiles.Passed]
    var unreadable: [SourceFiles.Passed]

    init(_ catalog: EventCatalog, sent: Set<Int>, configured: [String], _ files: SourceFiles) {
        let definitions = catalog.definitions
        events = definitions.count
        neverSent = definitions.indices.filter { !sent.contains($0) }.map { index in
            let event = definitions[index]
            return Event(
                event: event.name,
                type: EventUses.type(of: event),
                isDeprecated: event.deprecated != nil,
                path: event.location.file,
                line: event.location.line,
                column: event.location.column
            )
        }
        unconfiguredTrackers = catalog.unconfiguredTrackers(configured: configured).map {
            Tracker(tracker: $0.tracker, events: $0.events)
        }
        unusedTrackers = catalog.unusedTrackers(configured: configured)
        self.files = files.count
        skipped = files.skipped
        unreadable = files.unreadable
    }

    /// Whether there is something to be done about.
    func hasFindings(strictTrackers: Bool) -> Bool {
        let hasTrackers = !unconfiguredTrackers.isEmpty || !unusedTrackers.isEmpty
        return neverSent.contains { !$0.isDeprecated } || (strictTrackers && hasTrackers)
    }

    /// A line for each finding, as `sluice lint` prints problems.
    var lines: [String] {
        neverSent.map { event in
            let place = "\(event.path):\(event.line):\(event.column)"
            return event.isDeprecated
                ? "\(place): note: no code sends '\(event.event)' (\(event.type)) any more; it can go [deprecated]"
                : "\(place): warning: no code sends '\(event.event)' (\(event.type)) [never-sent]"
        }
            + unconfiguredTrackers.map { tracker in
                let names = tracker.events.prefix(10).joined(separator: ", ") + (tracker.events.count > 10 ? ", …" : "")
                let count = tracker.events.count == 1 ? "1 event names" : "\(tracker.events.count) events name"
                return "warning: nobody configured the tracker '\(tracker.tracker)', which \(count): \(names) "
                    + "[unconfigured-tracker]"
            }
            + unusedTrackers.map { "warning: no event names the tracker '\($0)', which is configured [unused-tracker]" }
    }

    private func sumOfSkipped(_ reason: String) -> String? {
        let count = skipped.count { $0.reason == reason }
        return count > 0 ? "note: \(count) file\(count == 1 ? " is" : "s are") \(reason), and skipped" : nil
    }

    /// What else is to be known, for standard error: files that were passed over, and the sum.
    var notes: [String] {
        let usual = [SourceFiles.noText, SourceFiles.generated]
        let sent = events - neverSent.count
        return unreadable.map { "error: \($0.path): \($0.reason)" }
            + skipped.filter { !usual.contains($0.reason) }.map { "note: \($0.path) was skipped: \($0.reason)" }
            + usual.compactMap(sumOfSkipped)
            + ["\(sent) of \(events) events are sent; \(files) file\(files == 1 ? "" : "s") read"]
    }
}
