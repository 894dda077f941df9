package import EventModel
package import EventPipeline
package import EventQuarantine
package import EventSchema
package import EventValidation
package import Foundation
package import Logging
import ServiceLifecycle
package import SluiceHTTP
import SluiceTesting
import Synchronization
package import TrackerKit

/// A real server on a free port, with a real pipeline.
package struct TestServer: Sendable {
    /// The configuration of the server and its pipeline.
    package struct Setup: Sendable {
        package var http: IngestConfiguration
        /// The plan, whose events name the tracker `collecting`.
        package var plan: TrackingPlan
        /// The write keys; `nil` if anyone may send.
        package var keys: [WriteKey]?
        /// The server's certificate; `nil` for plain HTTP.
        package var tls: TLSFiles.Paths?
        /// Renders the plan's schema; `nil` if the server does not serve it.
        package var planSchema: (@Sendable (TrackingPlan) -> String)?
        /// Whether events are delivered; if not, the only queue fills up, and then every request waits.
        package var delivers: Bool
        package var queueCapacityInEvents: Int
        /// The times that events may have, relative to the arrival of all events, 2020-09-13T12:26:40Z.
        ///
        /// Default: all, so that only a test of the limits depends on them.
        package var eventTimes = TestServer.allTimes
        /// Creates a pipeline other than the default.
        package var makePipeline: (@Sendable (EventCatalog, _ folder: URL, Quarantine, Logger) throws -> Pipeline)?

        package init(
            http: IngestConfiguration? = nil,
            plan: TrackingPlan = TestServer.plan,
            keys: [WriteKey]? = nil,
            tls: TLSFiles.Paths? = nil,
            delivers: Bool = true,
            queueCapacityInEvents: Int = 100_000
        ) {
            self.http = http ?? Setup.patient
            self.plan = plan
            self.keys = keys
            self.tls = tls
            self.delivers = delivers
            self.queueCapacityInEvents = queueCapacityInEvents
        }

        /// Without a deadline that an honest sender on a busy machine could miss; a test of a deadline sets it.
        private static let patient: IngestConfiguration = {
            var configuration = IngestConfiguration(port: 0)
            configuration.timeouts.head = .seconds(3600)
            configuration.timeouts.body = .seconds(3600)
            configuration.timeouts.bodyPause = .seconds(3600)
            configuration.timeouts.check = .seconds(3600)
            configuration.timeouts.idle = .seconds(3600)
            configuration.timeouts.answer = .seconds(3600)
            return configuration
        }()
    }

    package let address: IngestServer.Address
    package let http: IngestServer
    package let pipeline: Pipeline
    package let tls: TLSFiles?
    /// The write keys, which a test may replace.
    package let keys: WriteKeys
    package let quarantineFolder: URL
    private let quarantine: Quarantine
    /// The canonical lines that the tracker received.
    package let delivered: CollectingTracker
    private let services: ServiceGroup
    private let deliveries: GatedService

    /// Runs a server, then `body`, then shuts the server down gracefully, as SIGTERM does.
    package static func run<Result: Sendable>(
        _ setup: Setup = Setup(),
        _ body: @Sendable (TestServer) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-http-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await TestServer(setup, folder: folder)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.services.run() }
            do {
                let result = try await body(server)
                await server.services.triggerGracefulShutdown()
                try await group.waitForAll()
                return result
            } catch {
                await server.services.triggerGracefulShutdown()
                throw error
            }
        }
    }

    private init(_ setup: Setup, folder: URL) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let catalog = EventCatalog(plan: setup.plan)
        delivered = CollectingTracker()
        quarantineFolder = folder.appending(path: "rejected")
        quarantine = try Quarantine(folder: quarantineFolder.path, logger: logger)
        var configuration = Pipeline.Configuration(
            queue: .init(capacityInEvents: setup.queueCapacityInEvents),
            delivery: .init(linger: .zero)
        )
        configuration.eventTimes = setup.eventTimes
        if let makePipeline = setup.makePipeline {
            pipeline = try makePipeline(catalog, folder, quarantine, logger)
        } else {
            pipeline = try Pipeline(
                catalog: catalog,
                trackers: [delivered],
                configuration: configuration,
                quarantine: quarantine,
                logger: logger
            )
        }
        keys = WriteKeys(catalog: catalog)
        if let initial = setup.keys { try keys.replace(with: initial) }
        tls = try setup.tls.map { try TLSFiles($0, logger: logger) }
        http = IngestServer(
            configuration: setup.http,
            catalog: catalog,
            pipeline: pipeline,
            keys: keys,
            tls: tls,
            planSchema: setup.planSchema,
            logger: logger,
            now: { Timestamp(microseconds: 1_600_000_000_000_000) }
        )
        address = try await http.bind()
        deliveries = GatedService(pipeline: pipeline, isOpen: setup.delivers)
        // Services are shut down in reverse order.
        services = ServiceGroup(services: [deliveries, http], logger: logger)
    }

    /// The limits with which an event may have every time.
    package static let allTimes = {
        let longest = Duration.seconds(10_000 * 366 * 86_400)
        return TimeWindow(past: longest, ahead: longest)
    }()

    /// Starts the deliveries.
    package func startDelivering() {
        deliveries.open()
    }

    /// Begins the shutdown without waiting for it.
    package func beginShutdown() async {
        await services.triggerGracefulShutdown()
    }

    /// The lines of the quarantine, after all pending ones are written.
    package func quarantined() async throws -> [String] {
        await quarantine.drain()
        return try QuarantineContents.lines(in: quarantineFolder.path)
    }

    package static let plan = TrackingPlan(events: [
        EventDefinition(
            key: "Ping",
            trackers: ["collecting"],
            properties: [
                PropertyDefinition(
                    name: "n",
                    type: .integer,
                    isRequired: false,
                    location: PlanLocation(file: "test.plist", line: 2, column: 3)
                )
            ],
            location: PlanLocation(file: "test.plist", line: 1, column: 1)
        )
    ])
}

/// Collects the lines that it receives.
package final class CollectingTracker: Tracker {
    package let name = "collecting"
    private let received = Mutex<[String]>([])

    package init() {}

    /// The lines received so far.
    package var lines: [String] { received.withLock { $0 } }

    package func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let lines = delivery.map(\.json)
        received.withLock { $0 += lines }
        return .delivered
    }
}

/// Runs the pipeline, immediately or when `open` is called.
private final class GatedService: Service {
    private let pipeline: Pipeline
    private let opened: AsyncStream<Void>
    private let opening: AsyncStream<Void>.Continuation

    init(pipeline: Pipeline, isOpen: Bool) {
        self.pipeline = pipeline
        (opened, opening) = AsyncStream<Void>.makeStream()
        if isOpen { opening.finish() }
    }

    func open() {
        opening.finish()
    }

    func run() async throws {
        await withGracefulShutdownHandler {
            for await _ in opened {}
        } onGracefulShutdown: {
            self.opening.finish()
        }
        try await pipeline.run()
    }
}
