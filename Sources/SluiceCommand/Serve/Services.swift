import EventPipeline
import Foundation
import Logging
import Operations
import ServiceLifecycle
import SluiceHTTP
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
            privatePort: privatePort,
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
        services.append(.init(service: pipeline))
        // Before the server, so that the last events are counted, too.
        services += others.compactMap { $0 }.map { .init(service: $0) }
        services += [.init(service: server), .init(service: deadline), .init(service: announcement)]
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
        } catch let error as OperationsError where error.code == .cannotListen {
            throw Terminal.failure("\(error) Set admin.listen to another address, or use --no-admin.")
        } catch let error as OperationsError {
            throw Terminal.failure("\(error)")
        }
    }
}

/// Logs the address once the service group handles signals and the private port listens, so that a process that waits for this line
/// may send a signal or ask for metrics at once.
private struct Announcement: Service {
    let address: IngestServer.Address
    let isSecure: Bool
    let privatePort: OperationsServer?
    let systemd: SystemdNotifier?
    let logger: Logger

    func run() async throws {
        // If it cannot listen, its own `run` throws, and everything ends.
        if let privatePort, (try? await privatePort.listening()) == nil { return try await gracefulShutdown() }
        let url = "\(isSecure ? "https" : "http")://\(address)/v1/events"
        logger.info("The server accepts events.", metadata: ["url": "\(url)"])
        systemd?.send("READY=1")
        try? await gracefulShutdown()
        systemd?.send("STOPPING=1")
    }
}
