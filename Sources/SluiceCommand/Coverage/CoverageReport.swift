import EventModel
import EventSchema
import EventValidation
import PlanTools
import TrackerKit

/// The result of `sluice coverage`; `--json` prints it as it is.
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

    /// The number of events in the plan.
    var events: Int
    /// The events that no code sends.
    var neverSent: [Event]
    /// The trackers that events name and that are not configured.
    var unconfiguredTrackers: [Tracker]
    /// The configured trackers that no event names.
    var unusedTrackers: [String]
    /// The number of files that were searched.
    var files: Int
    var skipped: [SourceFiles.Skipped]
    var unreadable: [SourceFiles.Skipped]

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
            Tracker(tracker: $0.name, events: $0.events)
        }
        unusedTrackers = catalog.unusedTrackers(configured: configured)
        self.files = files.count
        skipped = files.skipped
        unreadable = files.unreadable
    }

    /// Whether something needs to be done.
    func hasFindings(strictTrackers: Bool) -> Bool {
        let hasTrackers = !unconfiguredTrackers.isEmpty || !unusedTrackers.isEmpty
        return neverSent.contains { !$0.isDeprecated } || (strictTrackers && hasTrackers)
    }

    /// A line for each finding, in the format of `sluice lint`.
    var lines: [String] {
        neverSent.map { event in
            let place = "\(event.path):\(event.line):\(event.column)"
            return event.isDeprecated
                ? "\(place): note: no code sends '\(event.event)' (\(event.type)) any more; it can be removed [deprecated]"
                : "\(place): warning: no code sends '\(event.event)' (\(event.type)) [never-sent]"
        }
            + unconfiguredTrackers.map {
                "warning: \(TrackerMatch.description(ofMissing: $0.tracker, $0.events)) [unconfigured-tracker]"
            }
            + unusedTrackers.map {
                "warning: The tracker '\($0)' is configured, but no event names it. [unused-tracker]"
            }
    }

    private func countOfSkipped(_ reason: String) -> String? {
        let count = skipped.count { $0.reason == reason }
        return count > 0 ? "note: skipped \(count.of("file")): \(reason)" : nil
    }

    /// The skipped files and the totals, for standard error.
    var notes: [String] {
        let common = [SourceFiles.binary, SourceFiles.generated]
        let sent = events - neverSent.count
        return unreadable.map { "error: \($0.path): \($0.reason)" }
            + skipped.filter { !common.contains($0.reason) }.map { "note: skipped \($0.path): \($0.reason)" }
            + common.compactMap(countOfSkipped)
            + ["\(sent) of \(events) events are sent; \(files.of("file")) read"]
    }
}
