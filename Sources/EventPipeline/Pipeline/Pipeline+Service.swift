public import EventJournal
import EventModel
import EventQuarantine
import EventValidation
public import Logging
import TrackerKit

/// Where a pipeline keeps its journal, and how.
///
/// A string literal is a folder with the default configuration.
public struct JournalDirectory: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The folder; made where it is not there.
    public var path: String
    /// How the journal is written, and how large it may become.
    public var configuration: JournalConfiguration

    /// Names a folder.
    public init(path: String, configuration: JournalConfiguration = JournalConfiguration()) {
        self.path = path
        self.configuration = configuration
    }

    /// Names a folder, with the default configuration.
    public init(stringLiteral path: String) {
        self.init(path: path)
    }

    /// A folder of the file system, which one pipeline at a time may use.
    public static func directory(
        _ path: String,
        _ configuration: JournalConfiguration = JournalConfiguration()
    ) -> JournalDirectory {
        JournalDirectory(path: path, configuration: configuration)
    }
}

extension Pipeline {
    /// Makes the pipeline of a service, with the parts that most services want.
    ///
    ///     let pipeline = try Pipeline(
    ///         catalog: ShopEvents.catalog,
    ///         trackers: [.console(), .postgres("postgres://localhost/shop"), MyTracker()],
    ///         journal: "data/journal"
    ///     )
    ///
    /// It is a `Service`: events are taken from now on, and delivered while it runs. Events that name a tracker which is not
    /// there are worth a warning in the log.
    ///
    /// - Parameters:
    ///   - catalog: The plan, which the build plugin compiles in.
    ///   - trackers: At most 64, with names that differ in more than case.
    ///   - journal: Where events are kept until every tracker has them; without it they are in memory only.
    ///   - quarantine: The folder for events that a tracker refused. Default: `quarantine` in the journal's folder.
    ///     Without a journal and a folder they are counted, logged, and gone.
    ///   - configuration: The limits. Default: `.journaled` with a journal.
    ///   - logger: Where the pipeline's log goes.
    /// - Throws: `PipelineError` where there are more trackers, or two of one name, and where a tracker's settings cannot
    ///   work; `JournalError` and `QuarantineError` where their folders cannot be used.
    public convenience init(
        catalog: EventCatalog,
        trackers: [any Tracker],
        journal: JournalDirectory? = nil,
        quarantine: String? = nil,
        configuration: Configuration? = nil,
        logger: Logger = Logger(label: "sluice")
    ) throws {
        // Before folders are made for trackers that there cannot be.
        let trackers = try CheckedTrackers(trackers, catalog: catalog)
        let folder = quarantine ?? journal.map { $0.path + "/quarantine" }
        let kept = try folder.map { try Quarantine(folder: $0, logger: logger) } ?? .discarding(logger: logger)
        if let journal {
            try self.init(
                catalog: catalog,
                trackers: trackers,
                journal: Journal(
                    folder: journal.path,
                    configuration: journal.configuration,
                    now: Timestamp.now().microseconds
                ),
                configuration: configuration ?? .journaled,
                quarantine: kept,
                logger: logger
            )
        } else {
            self.init(
                catalog: catalog,
                trackers: trackers,
                configuration: configuration ?? Configuration(),
                journal: nil,
                quarantine: kept,
                logger: logger
            )
        }
        for (tracker, events) in unconfiguredTrackers {
            let names = events.prefix(10).joined(separator: ", ") + (events.count > 10 ? ", …" : "")
            logger.warning("There is no tracker '\(tracker)', which \(events.count) events name: \(names).")
        }
    }
}
