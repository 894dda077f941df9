import EventModel
import EventSchema
import EventValidation
import Logging
import SluiceSettings

/// Compares the trackers that a plan names with those that are configured.
///
/// A difference is allowed, because a plan may be shared by servers with other destinations; but it means that events do not
/// arrive where somebody may expect them, so each command that reads both reports it.
struct TrackerMatch {
    /// The trackers that events name and that are not configured, except one that exists by default, which was switched off then.
    let unconfigured: [UnconfiguredTracker]
    /// The configured trackers that no event names, except one that exists by default.
    let unused: [String]
    private let configured: [String]
    private let named: [String]

    /// Compares a plan with the names of the configured trackers.
    init(of catalog: EventCatalog, configured: [String]) {
        self.configured = configured
        named = catalog.trackerNames
        unconfigured = catalog.unconfiguredTrackers(configured: configured).filter {
            !SettingCatalog.existsByDefault($0.name)
        }
        unused = catalog.unusedTrackers(configured: configured).filter { !SettingCatalog.existsByDefault($0) }
    }

    /// Describes a tracker that events name and that is not configured, and names the configured one that may be meant.
    func description(of tracker: UnconfiguredTracker) -> String {
        let hint = suggestion(for: tracker).map { " Did you mean '\($0)'?" } ?? ""
        return Self.description(ofMissing: tracker.name, tracker.events) + hint
    }

    /// Describes a tracker that events name and that is not configured.
    static func description(ofMissing tracker: String, _ events: [String]) -> String {
        let count = events.count.of("event") + (events.count == 1 ? " names" : " name")
        return "The tracker '\(tracker)' is not configured, but \(count) it: \(events.abbreviatedList)."
    }

    /// Describes a configured tracker that no event names.
    func description(ofUnused tracker: String) -> String {
        Self.description(ofUnused: tracker, named: named)
    }

    /// Describes a tracker that none of the events names, given the names that the events do have.
    static func description(ofUnused tracker: String, named: [String]) -> String {
        let advice =
            Spelling.nearest(to: tracker, among: named).map { "Events name '\($0)'; did you mean '\(tracker)'?" }
            ?? "Add '\(tracker)' to 'registeredTrackers' of the events that it should get."
        return "No event of the plan names the tracker '\(tracker)', so it gets no events. \(advice)"
    }

    /// The configured tracker whose name is closest; `nil` if none is close.
    func suggestion(for tracker: UnconfiguredTracker) -> String? {
        Spelling.nearest(to: tracker.name, among: configured)
    }

    /// Logs each difference as a warning.
    func log(to logger: Logger) {
        for tracker in unconfigured {
            var metadata: Logger.Metadata = [
                "tracker": "\(tracker.name)", "events": "\(tracker.events.count)",
                "names": "\(tracker.events.abbreviatedList)",
            ]
            if let suggestion = suggestion(for: tracker) { metadata["suggestion"] = "\(suggestion)" }
            logger.warning("Events name a tracker that is not configured.", metadata: metadata)
        }
        for tracker in unused {
            logger.warning(
                "No event of the plan names this tracker, so it gets no events.",
                metadata: ["tracker": "\(tracker)", "named": "\(named.abbreviatedList)"]
            )
        }
    }
}
