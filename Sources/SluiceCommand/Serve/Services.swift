import EventPipeline
import Foundation
import Logging
import Operations
import ServiceLifecycle
import SluiceHTTP
import SluiceSettings
import UnixSignals

/// What runs while `serve` does, and the order in which it ends.
struct Services {
    let pipeline: Pipeline
    let server: IngestServer
    /// `nil` if it is switched off.
    let privatePort: OperationsServer?
    /// What watches files and times; those that are not needed are `nil`.
    let others: [(any Service)?]

    /// Runs until SIGTERM, SIGINT or an error.
    func run(at address: IngestServer.Address, _ settings: Settings, _ logger: Logger) async throws {
        let deadline = ShutdownDeadline(
            // The limits of all phases, and a second for everything else.
            limit: settings.http.drainTimeout + settings.pipeline.longestShutdown + .seconds(1),
            finding: { pipeline.suddenEnd }
        )
        let systemd = SystemdNotifier(environment: ProcessInfo.processInfo.environment)
        let announcement = Announcement(
            address: address,
            isSecure: settings.tls != nil,
            systemd: systemd,
            logger: logger
        )
        // Services are shut down in reverse order: first the server stops accepting events, then the queues are drained, which the
        // private port shows.
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        if let systemd, let interval = systemd.watchdogInterval {
            services.append(.init(service: SystemdWatchdog(notifier: systemd, interval: interval, server: server)))
        }
        if let privatePort { services.append(.init(service: privatePort)) }
        // The other files and times come before the server, so that the last events are counted, too.
        let afterPorts: [any Service] = [pipeline] + others.compactMap { $0 } + [server, deadline, announcement]
        services += afterPorts.map { .init(service: AfterPorts(service: $0, privatePort: privatePort)) }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services,
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
        do {
            try await group.run()
        } catch let error as PipelineError where error.code == .journalHangs {
            // Returning would wait for the disk.
            ShutdownDeadline.endProcess(error.message)
        } catch let error as OperationsError {
            throw Wiring.failure(of: error)
        }
    }
}

/// Runs a service once the private port and the socket are bound, so that nothing begins, and no event is accepted, if they cannot be.
private struct AfterPorts: Service {
    let service: any Service
    let privatePort: OperationsServer?

    func run() async throws {
        if let privatePort, (try? await privatePort.listening()) == nil {
            // Its own `run` throws, and everything ends.
            return try await gracefulShutdown()
        }
        try await service.run()
    }
}

/// Logs the address once the service group handles signals, so that a process that waits for this line may send a signal at once.
private struct Announcement: Service {
    let address: IngestServer.Address
    let isSecure: Bool
    let systemd: SystemdNotifier?
    let logger: Logger

    func run() async throws {
        let url = "\(isSecure ? "https" : "http")://\(address)/v1/events"
        logger.info("The server accepts events.", metadata: ["url": "\(url)"])
        systemd?.send("READY=1")
        try? await gracefulShutdown()
        systemd?.send("STOPPING=1")
    }
}
