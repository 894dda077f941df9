import ArgumentParser
import EventModel
import EventPipeline
import EventQuarantine
import EventSchema
import EventValidation
import Foundation
import Loader
import Logging
import Metrics
import Operations
import ServiceLifecycle
import SettingDefinitions
import SluiceSettings
import TrackerKit
import UnixSignals

/// `sluice load`: loads events from a Kafka topic into their trackers until SIGTERM or SIGINT.
struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Load events from Kafka into their trackers, as one of several processes that share a topic.",
        discussion: """
            Reads the topic that `sluice serve --relay` writes, checks each record against the plan, and delivers it to the trackers \
            that its event names. Processes with the same --group share the partitions, and each tracker has a consumer group of its \
            own, so that one that fails delays nobody else.

            PostgreSQL stores the offset in the transaction that loads the rows, so each record counts once, whatever crashes. Other \
            trackers get each record at least once. Records that do not follow the plan, or that PostgreSQL refuses, are kept in its \
            table _sluice_refused; those of other trackers in the quarantine.

            If Kafka no longer has the next records, because retention has removed them or because the topic was recreated, the \
            partition is halted until the loader is restarted with --accept-loss.
            """,
        subcommands: [LoadStatusCommand.self]
    )

    @OptionGroup var options: LoadOptions
    @OptionGroup var plan: PlanFolder
    @OptionGroup var trackers: TrackerOptions

    @Option(help: .setting(.loadInstance, valueName: "name"))
    var instance: String?

    @Option(help: .setting(.adminListen, valueName: "host:port"))
    var admin: String?

    @Flag(name: .customLong("no-admin"), help: "Do not open the private port.")
    var hasNoPrivatePort = false

    @Option(
        help: ArgumentHelp(
            """
            Where to begin with partitions that this loader has not loaded yet: beginning, or a time (RFC 3339) at or after which \
            records were written. Default: beginning.
            """,
            valueName: "place"
        ),
        transform: Self.start
    )
    var since: LoaderConfiguration.Start?

    @Flag(help: "Where Kafka lacks the next record, continue at the first one that exists; store or log the loss.")
    var acceptLoss = false

    private static func start(_ text: String) throws -> LoaderConfiguration.Start {
        if text == "beginning" { return .beginning }
        guard let time = Timestamp(text) else {
            throw ValidationError("--since takes beginning or an RFC 3339 time, not '\(text)'.")
        }
        return .since(time)
    }

    func run() async throws {
        // A closed standard output is a failure of the console tracker only.
        Terminal.ignoresBrokenPipes(true)
        ProcessLimits.keepFreedBlocks()
        var stated = CommandLineSettings(options, plan, trackers)
        stated.set(.loadInstance, instance)
        stated.set(.adminListen, admin)
        stated.set(.adminEnabled, hasNoPrivatePort ? false : nil)
        // A loader delivers to the events' own trackers.
        let settings = try Settings.load(stated, file: plan.config.path, usesRelay: false)
        var configuration = try LoadOptions.configuration(settings)
        configuration.start = since ?? .beginning
        configuration.limits.acceptsLoss = acceptLoss
        // Before anything makes a metric.
        let registry = PrometheusRegistry()
        if settings.privatePort?.hasPort == true { MetricsSystem.bootstrap(registry) }
        let wiring = try Wiring(settings)
        if let problem = wiring.problem(with: wiring.catalog) { throw Terminal.failure("\(problem)") }
        let trackers = try options.trackers(wiring)
        for tracker in trackers {
            configuration.deliveryByTracker[tracker.name.lowercased()] = settings.pipeline.delivery(of: tracker.name)
        }
        for case let tracker as any TimedTracker in trackers {
            configuration.limits.stuckAfter = max(configuration.limits.stuckAfter, tracker.longestLoad)
        }
        // With --to, the others were left out on purpose.
        if options.to.isEmpty { try wiring.reportMissingTrackers(configured: wiring.settings.trackers.map(\.name)) }
        // A tracker that stores positions keeps what it refuses itself.
        let needsQuarantine = trackers.contains { !($0 is any PartitionTracker) }
        let loader = try Loader(
            configuration,
            trackers: trackers,
            catalog: wiring.catalog,
            quarantine: needsQuarantine ? try wiring.quarantine() : Quarantine.discarding(logger: wiring.logger),
            logger: wiring.logger
        )
        let receipts = try wiring.receipts(into: loader.tombstones)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                // Shut down in reverse order, so that the end can be watched.
                services: (try privatePort(of: loader, wiring, registry).map { [.init(service: $0)] } ?? [])
                    + (receipts.map { [.init(service: $0)] } ?? [])
                    + [.init(service: LoadService(loader: loader))],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: wiring.logger
            )
        )
        do {
            try await group.run()
        } catch let error as OperationsError {
            throw Wiring.failure(of: error)
        }
        let counts = loader.members.map { member in
            let (loaded, refused) = member.status.counts
            return "\(member.status.tracker): \(loaded) loaded" + (refused > 0 ? ", \(refused) refused" : "")
        }
        Terminal.printError("Stopped. \(counts.joined(separator: "; ")).")
    }
}

extension LoadCommand {
    /// Creates the private port; `nil` if it is switched off.
    ///
    /// - Throws: exit status 1, with the reason printed, if it cannot be used as the settings say.
    private func privatePort(
        of loader: Loader,
        _ wiring: Wiring,
        _ registry: PrometheusRegistry
    ) throws -> OperationsServer? {
        guard let configuration = wiring.settings.privatePort else { return nil }
        do throws(OperationsError) {
            return try OperationsServer(
                configuration: configuration,
                process: LoadProcess(loader: loader),
                registry: registry,
                programVersion: RootCommand.version,
                plan: PlanSummary(
                    version: wiring.catalog.plan.version,
                    events: wiring.catalog.definitions.count,
                    digest: wiring.catalog.planDigest
                ),
                logger: wiring.logger
            )
        } catch {
            throw Wiring.failure(of: error)
        }
    }
}

/// A loader, as the private port shows it.
private struct LoadProcess: ReportingProcess {
    let loader: Loader

    private var now: Int64 { Timestamp.now().microseconds / 1000 }

    var unreadyReasons: [String] { loader.status(now: now).problems }

    var report: any Encodable & Sendable { loader.status(now: now) }

    func recordGauges() {
        for member in loader.members { member.status.recordGauges(millisecondsSince1970: now) }
    }
}

/// Runs a loader until a graceful shutdown.
private struct LoadService: Service {
    let loader: Loader

    func run() async throws {
        try await cancelWhenGracefulShutdown { try await loader.run() }
    }
}
