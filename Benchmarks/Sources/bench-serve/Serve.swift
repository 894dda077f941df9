import ArgumentParser
import Logging
import Metrics
import Operations
import PlanReading
import ServiceLifecycle
import Sluice
import SluiceHTTP
import UnixSignals

/// Sluice's public port and its pipeline, wired as in `sluice serve`, with trackers for measurements.
@main
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench-serve",
        abstract: "Take events over HTTP and discard them; at the end, print how many were delivered."
    )

    @Option(help: "The port to listen on.")
    var port: Int

    @Option(help: "The folder of the tracking plan.")
    var events: String

    @Option(help: "How long a request waits for room in a full queue, in milliseconds.")
    var maxWait = 5000

    @Option(help: "A folder for a journal; without one, events live in memory.")
    var journal: String?

    @Option(help: "A write key, with limits that are never reached.")
    var key: [String] = []

    @Option(help: "A file with a certificate and its key (PEM), for HTTPS.")
    var certificate: String?

    @Flag(help: "Keep metrics, and write them out once a second.")
    var metrics = false

    @Option(help: "The port of a private port on the loopback interface, for the dashboard and the live tail.")
    var admin: Int?

    @Flag(help: "Acknowledge before the journal is synced.")
    var unsynced = false

    @Flag(help: "Let a second tracker take nothing, ever.")
    var stall = false

    func run() async throws {
        guard let plan = PlanReader().read(paths: [events]).plan else {
            throw ValidationError("The plan in \(events) has errors; see sluice lint.")
        }
        let registry = PrometheusRegistry()
        if metrics { MetricsSystem.bootstrap(registry) }
        var logger = Logger(label: "bench-serve") { StreamLogHandler.standardError(label: $0) }
        // The stalled tracker is expected here, so its warnings are not logged.
        logger.logLevel = stall ? .critical : .warning
        let discarding = DiscardTracker(name: "console")
        let trackers: [any Tracker] = stall ? [discarding, StalledTracker(name: "kafka")] : [discarding]
        let catalog = EventCatalog(plan: plan)
        let pipeline = try makePipeline(catalog, trackers, logger)
        var configuration = IngestConfiguration(port: port)
        configuration.maxWait = .milliseconds(maxWait)
        let server = IngestServer(
            configuration: configuration,
            catalog: catalog,
            pipeline: pipeline,
            keys: try makeKeys(catalog),
            tls: try certificate.map { try TLSFiles(.init(certificate: $0, privateKey: $0), logger: logger) },
            logger: logger
        )
        // Services shut down in reverse order: the port first, then the pipeline.
        let scraper = Scraper(registry: registry, sources: metrics ? [pipeline, server] : [])
        let privatePort = try admin.map { port in
            try OperationsServer(
                configuration: OperationsConfiguration(port: port),
                pipeline: pipeline,
                sources: [server],
                registry: registry,
                programVersion: "benchmark",
                logger: logger
            )
        }
        let watched: [any Service] = privatePort.map { [$0] } ?? []
        let services = ServiceGroup(
            services: watched + [pipeline, server, scraper],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        try await services.run()
        print("delivered \(discarding.delivered)")
    }

    private func makeKeys(_ catalog: EventCatalog) throws -> WriteKeys {
        let keys = WriteKeys(catalog: catalog)
        let limits = WriteKey.Limits(eventsPerSecond: 1_000_000_000, eventsPerDay: 1_000_000_000_000)
        let events = catalog.definitions.map(\.name)
        let writeKeys = key.enumerated().map { number, text in
            let value = WriteKey.Value(text: text, created: Timestamp.now())
            return WriteKey(name: "benchmark-\(number)", values: [value], events: events, limits: limits)
        }
        if !writeKeys.isEmpty { try keys.replace(with: writeKeys) }
        return keys
    }

    private func makePipeline(
        _ catalog: EventCatalog,
        _ trackers: [any Tracker],
        _ logger: Logger
    ) throws -> Pipeline {
        var configuration = journal == nil ? Pipeline.Configuration() : .journaled
        // The events are from 2010.
        configuration.eventTimes.past = .seconds(36_500 * 86_400)
        guard let journal else {
            return try Pipeline(
                catalog: catalog,
                trackers: trackers,
                configuration: configuration,
                quarantine: .discarding(logger: logger),
                logger: logger
            )
        }
        return try Pipeline(
            catalog: catalog,
            trackers: trackers,
            journal: Journal(
                folder: journal,
                configuration: JournalConfiguration(durability: unsynced ? .none : .fsync),
                now: Timestamp.now().microseconds
            ),
            configuration: configuration,
            quarantine: .discarding(logger: logger),
            logger: logger
        )
    }
}
