import ArgumentParser
import Configuration
import EventModel
import EventPipeline
import Foundation
import Logging
import ServiceLifecycle
import SluiceHTTP
import UnixSignals

/// `sluice serve`: takes events over HTTP until it is told to stop.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Accept events over HTTP, validate them, and deliver them to their trackers.",
        discussion: """
            On SIGTERM or SIGINT it stops accepting events, drains the queues and exits with 0; its last line counts what \
            was not delivered in time. If the journal's disk does not answer, it exits with 1 and says what is unknown.
            """
    )

    @Option(help: ArgumentHelp("Where to listen.", valueName: "host:port"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "How long a request waits for room, or for the disk, before the answer is 503 or 504.",
            valueName: "seconds"
        )
    )
    var maxWait: Int?

    @Option(
        help: ArgumentHelp("Where accepted events are kept until every tracker has them.", valueName: "dir"),
        completion: .directory
    )
    var journal: String?

    @Flag(
        name: .customLong("no-journal"),
        help: "Keep accepted events in memory only: those that are not delivered are lost when the process is killed."
    )
    var hasNoJournal = false

    @Option(
        help: ArgumentHelp(
            """
            Where a tracker that is new to the journal begins: beginning, end, or a time (RFC 3339). Others continue at \
            their cursors.
            """,
            valueName: "place"
        ),
        transform: Self.start
    )
    var from: JournalStart?

    @OptionGroup var options: PipelineOptions

    private static func start(_ text: String) throws -> JournalStart {
        switch text {
        case "beginning": return .beginning
        case "end": return .end
        default:
            guard let time = Timestamp(text) else {
                throw ValidationError("--from takes beginning, end or an RFC 3339 time, not '\(text)'.")
            }
            return .time(time)
        }
    }

    func validate() throws {
        if hasNoJournal, journal != nil { throw ValidationError("--journal and --no-journal exclude each other.") }
    }

    private var values: [SettingKey: ConfigValue] {
        var values = options.values
        if let listen { values[.httpListen] = ConfigValue(.string(listen), isSecret: false) }
        if let maxWait { values[.httpMaxWaitSeconds] = ConfigValue(.int(maxWait), isSecret: false) }
        if let journal {
            values[.journalFolder] = ConfigValue(.string(journal), isSecret: false)
            values[.journalEnabled] = ConfigValue(.bool(true), isSecret: false)
        }
        if hasNoJournal { values[.journalEnabled] = ConfigValue(.bool(false), isSecret: false) }
        return values
    }

    func run() async throws {
        // A reader of our output that goes away is one tracker's trouble.
        Terminal.ignoresBrokenPipes(true)
        // A file that may not grow is a failed write, and no end of the process.
        signal(SIGXFSZ, SIG_IGN)
        OpenFiles.raiseLimit()
        LargeBlocks.giveBack()
        var settings = try await Settings.load(values, file: options.plan.config, keepsJournal: true)
        if let from {
            guard settings.journal != nil else { throw ValidationError("--from takes a journal; see --no-journal.") }
            settings.pipeline.journalStart = from
        }
        if settings.strictTrackers { settings.pipeline.maximumStartAttempts = 1 }
        let wiring = try Wiring(settings)
        let quarantine = try wiring.quarantine()
        let pipeline = try wiring.pipeline(
            trackers: wiring.trackers(),
            quarantine: quarantine,
            journal: wiring.journal()
        )
        let server = HTTPIngestServer(
            configuration: settings.http,
            catalog: wiring.catalog,
            pipeline: pipeline,
            logger: wiring.logger
        )
        let address = try await server.bind()
        try await Self.run(pipeline, server, at: address, settings, wiring.logger)
        Self.say(pipeline.statistics, pending: settings.journal == nil ? "NOT delivered" : "left in the journal")
        let lost = quarantine.statistics.lost
        if lost > 0 { Terminal.printError("\(lost) rejected events could not be kept in the quarantine.") }
    }

    private static func run(
        _ pipeline: Pipeline,
        _ server: HTTPIngestServer,
        at address: HTTPIngestServer.Address,
        _ settings: Settings,
        _ logger: Logger
    ) async throws {
        let deadline = ShutdownDeadline(
            // An orderly end takes no longer; the second is for everything else.
            limit: settings.http.drainTimeout + settings.pipeline.longestShutdown + .seconds(1),
            finding: { pipeline.suddenEnd }
        )
        // Services end in the reverse of this order: first the door is closed, then the queues are drained.
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: pipeline), .init(service: server), .init(service: deadline),
                    .init(service: Announcement(address: address, logger: logger)),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
        do {
            try await group.run()
        } catch let error as PipelineError where error.code == .journalHangs {
            // Whatever is left would wait for the disk, too.
            ShutdownDeadline.endProcess(error.message)
        }
    }

    private static func say(_ statistics: PipelineStatistics, pending: String) {
        let trackers = statistics.trackers.map { tracker in
            var text = "\(tracker.name): \(tracker.delivered) delivered"
            if tracker.refused > 0 { text += ", \(tracker.refused) refused" }
            if tracker.parked > 0 { text += ", \(tracker.parked) parked" }
            if tracker.dropped > 0 { text += ", \(tracker.dropped) dropped" }
            if tracker.pendingEvents > 0 { text += ", \(tracker.pendingEvents) \(pending)" }
            return text
        }
        Terminal.printError("Stopped. \(statistics.accepted) events accepted; \(trackers.joined(separator: "; ")).")
    }
}

/// Says where events are taken, once the service group handles signals: who waits for that line may send one at once.
private struct Announcement: Service {
    let address: HTTPIngestServer.Address
    let logger: Logger

    func run() async throws {
        logger.info("Taking events at http://\(address)/v1/events")
        try? await gracefulShutdown()
    }
}
