import ArgumentParser
import EventModel
import EventPipeline
import EventQuarantine
import Foundation
import Logging
import Metrics
import Operations
import SettingDefinitions
import SluiceHTTP
import SluiceSettings

/// `sluice serve`: accepts events over HTTP until SIGTERM or SIGINT.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Accept events over HTTP, validate them, and deliver them to their trackers.",
        discussion: """
            On SIGTERM or SIGINT it stops accepting events, drains the queues and exits with 0; it prints how \
            many events were not delivered in time. If the journal's disk does not respond, it exits with 1 and reports which \
            events have an unknown outcome.
            """
    )

    @Option(help: .setting(.httpListen, valueName: "host:port"))
    var listen: String?

    @Option(help: .setting(.httpKeys, valueName: "file"), completion: .file())
    var keys: String?

    @Flag(
        help: """
            Accept events from anyone who reaches the address, without a key and from any web page: for servers behind a \
            proxy that checks senders.
            """
    )
    var open = false

    @Option(help: .setting(.tlsCertificate, valueName: "file"), completion: .file())
    var certificate: String?

    @Option(help: .setting(.tlsPrivateKey, valueName: "file"), completion: .file())
    var privateKey: String?

    @Option(help: .setting(.httpWorkers, valueName: "number"))
    var workers: Int?

    @Option(help: .setting(.httpMaxWait, valueName: "seconds"))
    var maxWait: Int?

    @Option(help: .setting(.adminListen, valueName: "host:port"))
    var admin: String?

    @Flag(name: .customLong("no-admin"), help: "Do not open the private port; the socket for commands remains.")
    var hasNoPrivatePort = false

    @OptionGroup var journal: JournalOptions

    @Option(
        help: ArgumentHelp(
            """
            Where a tracker that is new to the journal begins: beginning, end, or a time (RFC 3339). Other trackers \
            continue at their cursors. Default: end.
            """,
            valueName: "place"
        ),
        transform: Self.journalStart
    )
    var from: JournalStart?

    @OptionGroup var plan: PlanFolder
    @OptionGroup var trackers: TrackerOptions
    @OptionGroup var options: PipelineOptions

    private static func journalStart(_ text: String) throws -> JournalStart {
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

    private func settings() async throws -> Settings {
        var stated = CommandLineSettings(plan, trackers, options, journal)
        stated.set(.httpListen, listen)
        stated.set(.httpKeys, keys)
        stated.set(.httpOpen, open ? true : nil)
        stated.set(.tlsCertificate, certificate)
        stated.set(.tlsPrivateKey, privateKey)
        stated.set(.httpWorkers, workers)
        stated.set(.httpMaxWait, maxWait)
        stated.set(.adminListen, admin)
        stated.set(.adminEnabled, hasNoPrivatePort ? false : nil)
        var settings = try Settings.load(stated, file: plan.config.path, keepsJournal: true)
        if let from {
            guard settings.journal != nil else {
                throw ValidationError("--from needs a journal, and --no-journal or journal.enabled switches it off.")
            }
            settings.pipeline.journalStart = from
        }
        if settings.process.strictTrackers { settings.pipeline.maximumStartAttempts = 1 }
        return settings
    }

    func run() async throws {
        // A closed standard output is a failure of the console tracker only.
        Terminal.ignoresBrokenPipes(true)
        // A file that exceeds the process's size limit is a failed write, and must not end the process.
        signal(SIGXFSZ, SIG_IGN)
        ProcessLimits.raiseOpenFileLimit()
        ProcessLimits.returnFreedBlocks()
        let settings = try await settings()
        // Before anything makes a metric.
        let registry = PrometheusRegistry()
        if settings.privatePort?.hasPort == true { MetricsSystem.bootstrap(registry) }
        let wiring = try Wiring(settings)
        let (keys, keyFile) = try wiring.keys()
        let tls = try wiring.tls()
        let quarantine = try wiring.quarantine()
        let pipeline = try wiring.pipeline(
            trackers: wiring.trackers(),
            quarantine: quarantine,
            journal: wiring.journal()
        )
        let receipts = try wiring.receipts(into: pipeline.tombstones)
        let server = wiring.server(of: pipeline, keys: keys, tls: tls)
        let planFiles = try wiring.planFiles(of: pipeline, and: server)
        let controlFile = try wiring.controlFile()
        let settingChanges = wiring.settingChanges(of: pipeline, in: controlFile)
        let privatePort = try wiring.privatePort(
            of: pipeline,
            and: server,
            planReloader: planFiles,
            controlFile: controlFile,
            settingChanges: settingChanges,
            registry
        )
        let address = try await Self.bind(server)
        // Without keys, the server refuses to listen where others can reach it.
        wiring.noteMissingKeys(keys)
        let services = Services(
            pipeline: pipeline,
            server: server,
            privatePort: privatePort,
            others: [keyFile, tls, planFiles, settingChanges, receipts]
        )
        try await services.run(at: address, settings, wiring.logger)
        Self.printSummary(
            of: pipeline.statistics,
            pending: settings.journal == nil ? "NOT delivered" : "left in the journal"
        )
        let lost = quarantine.statistics.lost
        if lost > 0 { Terminal.printError("\(lost.of("rejected event")) could not be kept in the quarantine.") }
    }

    private static func bind(_ server: IngestServer) async throws -> IngestServer.Address {
        do {
            return try await server.bind()
        } catch let error as IngestError where error.code == .noKeys {
            throw Terminal.failure(
                "\(error.message) Make a key with 'sluice keys new NAME', or use --open behind a proxy that checks senders."
            )
        } catch let error as IngestError where error.code == .cannotListen {
            throw Terminal.failure("\(error). Set http.listen to another address, or end the process that uses it.")
        }
    }

    private static func printSummary(of statistics: PipelineStatistics, pending: String) {
        let trackers = statistics.trackers.map { tracker in
            var text = "\(tracker.name): \(tracker.delivered) delivered"
            if tracker.refused > 0 { text += ", \(tracker.refused) refused" }
            if tracker.parked > 0 { text += ", \(tracker.parked) parked" }
            if tracker.dropped > 0 { text += ", \(tracker.dropped) dropped" }
            if tracker.pendingEvents > 0 { text += ", \(tracker.pendingEvents) \(pending)" }
            return text
        }
        let accepted = statistics.accepted.of("event")
        Terminal.printError("Stopped. \((["\(accepted) accepted"] + trackers).joined(separator: "; ")).")
    }
}
