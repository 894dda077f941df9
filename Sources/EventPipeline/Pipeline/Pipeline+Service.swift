import EventJournal
import EventModel
import EventQuarantine
public import EventValidation
public import Logging
public import TrackerKit

extension Pipeline {
    /// Creates the pipeline of a service, with what most services need.
    ///
    ///     let pipeline = try Pipeline(
    ///         catalog: ShopEvents.catalog,
    ///         trackers: [.console(), .postgres("postgres:///shop"), MyTracker()],
    ///         journal: "data/journal"
    ///     )
    ///
    /// It is a `Service`: it accepts events from now on, and delivers them while it runs. If events name a tracker that is not
    /// configured, a warning is logged.
    ///
    /// - Parameters:
    ///   - catalog: The plan, which the build plugin compiles into the program.
    ///   - trackers: At most 64, whose names are unique, ignoring case.
    ///   - journal: Where events are kept until every tracker has them; without it they are in memory only.
    ///   - quarantine: The folder for events that a tracker refused. Default: `quarantine` in the journal's folder.
    ///     Without a journal and a folder they are counted, logged and dropped.
    ///   - configuration: The limits. Default: `.journaled` with a journal.
    ///   - logger: The pipeline's logger.
    /// - Throws: `PipelineError` if there are more than 64 trackers, if two have the same name, or if a tracker's settings cannot
    ///   work; `JournalError` and `QuarantineError` if their folders cannot be used.
    public convenience init(
        catalog: EventCatalog,
        trackers: [any Tracker],
        journal: JournalDirectory? = nil,
        quarantine: String? = nil,
        configuration: Configuration? = nil,
        logger: Logger = Logger(label: "sluice")
    ) throws {
        // First, so that invalid trackers leave no folders behind.
        let trackers = try CheckedTrackers(trackers, catalog: catalog)
        let folder = quarantine ?? journal.map { $0.path + "/quarantine" }
        let kept = try folder.map { try Quarantine(folder: $0, logger: logger) } ?? .discarding(logger: logger)
        let parts = Parts(
            trackers: trackers,
            configuration: configuration ?? (journal == nil ? Configuration() : .journaled),
            quarantine: kept,
            logger: logger
        )
        if let journal {
            let configuration = journal.configuration
            let now = Timestamp.now().microseconds
            try self.init(parts, journal: Journal(folder: journal.path, configuration: configuration, now: now))
        } else {
            self.init(parts, journal: nil)
        }
        for tracker in unconfiguredTrackers {
            let names = tracker.events.prefix(10).joined(separator: ", ") + (tracker.events.count > 10 ? ", …" : "")
            logger.warning(
                "Events name a tracker that is not configured.",
                metadata: ["tracker": "\(tracker.name)", "events": "\(tracker.events.count)", "names": "\(names)"]
            )
        }
        for name in catalog.unusedTrackers(configured: trackers.names) {
            logger.warning(
                "No event of the plan names this tracker, so it gets no events.",
                metadata: ["tracker": "\(name)"]
            )
        }
    }
}
