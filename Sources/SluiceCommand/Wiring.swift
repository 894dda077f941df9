import ArgumentParser
import EventJournal
import EventModel
import EventPipeline
import EventQuarantine
import EventSchema
import EventValidation
import Foundation
import Logging
import SluiceConsole
import SluiceKafka
import SluicePostgres
import TrackerKit

/// The one place where settings become parts and parts are put together.
struct Wiring {
    let settings: Settings
    let catalog: EventCatalog
    let logger: Logger

    /// Reads the plan; its problems are printed, and its errors end the command with 1.
    init(_ settings: Settings) throws {
        self.init(settings, plan: try PlanFolder.plan(at: settings.eventsDirectory))
    }

    /// Takes a plan that was read; `logsOnly` is a level below which nothing is logged, whatever the settings say.
    init(_ settings: Settings, plan: TrackingPlan, logsOnly: Logger.Level? = nil) {
        self.settings = settings
        catalog = EventCatalog(plan: plan)
        var logger = Logger(label: "sluice", factory: { TerminalLogHandler(label: $0) })
        logger.logLevel = max(settings.logLevel, logsOnly ?? settings.logLevel)
        self.logger = logger
    }

    /// Whether a tracker that cannot start ends the command; then a part of it that cannot does so, too.
    private var requiresStart: Bool { settings.pipeline.maximumStartAttempts != nil }

    /// The configured trackers; only those of `names`, compared without regard to case, where any are named.
    func trackers(only names: [String] = []) throws -> [any Tracker] {
        var trackers: [any Tracker] = []
        if let format = settings.consoleFormat {
            trackers.append(ConsoleTracker(ConsoleConfiguration(format: format)))
        }
        if let postgres = settings.postgres {
            let configuration = PostgresConfiguration(
                connection: postgres.connection,
                schema: postgres.schema,
                requiresEveryTable: requiresStart
            )
            trackers.append(PostgresTracker(configuration, logger: logger))
        }
        if let kafka = settings.kafka {
            let configuration = KafkaConfiguration(
                brokers: kafka.brokers,
                topic: kafka.topic,
                source: kafka.source,
                requiresEveryTopic: requiresStart,
                properties: kafka.properties
            )
            trackers.append(KafkaTracker(configuration, logger: logger))
        }
        guard !names.isEmpty else { return trackers }
        let wanted = Set(names.map { $0.lowercased() })
        let configured = Set(trackers.map { $0.name.lowercased() })
        if let missing = wanted.subtracting(configured).sorted().first {
            let known = configured.isEmpty ? "none" : configured.sorted().joined(separator: ", ")
            throw ValidationError("No tracker '\(missing)' is configured; there are: \(known).")
        }
        return trackers.filter { wanted.contains($0.name.lowercased()) }
    }

    /// Everything behind the door.
    ///
    /// `namesAll` says that an event short of a tracker is worth a warning, or an end: not so where trackers were left
    /// out on purpose.
    func pipeline(
        trackers: [any Tracker],
        quarantine: Quarantine,
        journal: Journal? = nil,
        namesAll: Bool = true
    ) throws -> Pipeline {
        let pipeline: Pipeline
        if let journal {
            pipeline = try Pipeline(
                catalog: catalog,
                trackers: trackers,
                journal: journal,
                configuration: settings.pipeline,
                quarantine: quarantine,
                logger: logger
            )
        } else {
            pipeline = try Pipeline(
                catalog: catalog,
                trackers: trackers,
                configuration: settings.pipeline,
                quarantine: quarantine,
                logger: logger
            )
        }
        if namesAll { try checkTrackers(besides: trackers.map(\.name)) }
        return pipeline
    }

    /// The journal, where one is configured.
    func journal() throws -> Journal? {
        guard let journal = settings.journal else { return nil }
        return try Journal(
            folder: journal.folder,
            configuration: journal.configuration,
            now: Timestamp.now().microseconds
        )
    }

    /// Where rejected events are kept.
    func quarantine() throws -> Quarantine {
        try Quarantine(
            folder: settings.quarantineFolder,
            capacityInBytes: settings.quarantineCapacityInBytes,
            logger: logger
        )
    }

    /// Trackers that events name and nobody configured; the console that was switched off is not missed.
    func missingTrackers(besides configured: [String]) -> [(tracker: String, events: [String])] {
        catalog.unconfiguredTrackers(configured: configured).filter {
            settings.consoleFormat != nil || $0.tracker.lowercased() != ConsoleConfiguration.defaultName
        }
    }

    /// Says that events are short of a tracker.
    static func sentence(on tracker: String, _ events: [String]) -> String {
        let names = events.prefix(10).joined(separator: ", ") + (events.count > 10 ? ", …" : "")
        return "Nobody configured the tracker '\(tracker)', which \(events.count) events name: \(names)."
    }

    /// Warns of events that are short of a tracker.
    private func checkTrackers(besides configured: [String]) throws {
        let missing = missingTrackers(besides: configured)
        for (tracker, events) in missing {
            let message = Self.sentence(on: tracker, events)
            if settings.strictTrackers {
                Terminal.printError("error: \(message)")
            } else {
                logger.warning("\(message)")
            }
        }
        if settings.strictTrackers, !missing.isEmpty { throw ExitCode(1) }
    }
}
