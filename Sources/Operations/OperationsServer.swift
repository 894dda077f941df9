import EventModel
package import EventPipeline
package import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle
import SluiceHTTP
import Synchronization

/// The private port: metrics, health and control for those who operate the process.
///
/// - `GET /metrics` answers with all metrics in Prometheus' text format.
/// - `GET /readyz` says whether events are accepted, why not, and what each tracker does: 200 or 503, with JSON;
///   `GET /v1/status` says the same with 200.
/// - `GET /livez` answers 200, without a token.
/// - `POST /v1/trackers/NAME/pause` and `…/resume` pause and resume a tracker; `POST /v1/intake/close` and `…/open`
///   refuse all events, and accept them again. `POST /v1/quarantine/replay` of `sluice serve` sends quarantined events again that
///   are valid now; it takes `event` and `code` in its query. Each change is logged.
/// - `GET /v1/settings` of `sluice serve` lists the settings that can be changed and the changes in effect;
///   `POST /v1/settings/NAME/set` changes one and takes `value` and `for` in its query, and `…/undo` ends a change.
/// - `POST /v1/plan/reload` reads the plan again, if the process can: 200 with what has changed, or 422 with the plan's problems.
/// - `GET /` is the dashboard, whose data `GET /v1/dashboard` has; `GET /v1/tail` shows events as they pass, as server-sent
///   events, and takes `event`, `tracker`, `verdict` and `user` in its query.
/// - `/login` and `/logout` are for browsers, which cannot send a bearer token.
///
/// With a `socketPath`, commands on the same machine use the same paths through a Unix domain socket.
///
/// Run it in a `ServiceGroup` before the pipeline in the list, so that it is shut down last and can be asked while the queues
/// are drained.
public final class OperationsServer: Service {
    private let configuration: OperationsConfiguration
    private let routes: any OperationsRouting
    private let access: AccessControl
    private let logger: Logger
    /// Takes samples for the dashboard; `nil` if there is none.
    private let sampler: HistorySampler?
    /// The address of the port, `host:port`, once it is bound; empty without a port.
    private let boundPort = Outcome<String>()
    /// The same, once the socket is bound as well.
    private let bound = Outcome<String>()

    /// Makes a server; it does not listen yet.
    ///
    /// `sources` have further metrics, such as an `IngestServer`. `registry` is the one that the pipeline's metrics were made
    /// with. `programVersion` becomes a label of `sluice_build_info`. `planReloader` reads the plan again.
    /// `clock` measures sessions.
    ///
    /// If the `controlFile` says that trackers are paused, they are paused now.
    ///
    /// - Throws: `OperationsError` if the token is missing or too short, if the address is unknown, or if the file cannot be used.
    public convenience init(
        configuration: OperationsConfiguration = OperationsConfiguration(),
        pipeline: any OperatedPipeline,
        sources: [any GaugeSource] = [],
        registry: PrometheusRegistry,
        programVersion: String,
        planReloader: (any PlanReloader)? = nil,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock()
    ) throws(OperationsError) {
        try self.init(
            configuration: configuration,
            pipeline: pipeline,
            sources: sources,
            registry: registry,
            programVersion: programVersion,
            planReloader: planReloader,
            quarantineReplay: nil,
            controlFile: ControlFile(path: configuration.controlFile),
            settingChanges: nil,
            logger: logger,
            clock: clock
        )
    }

    /// Makes a server that can also have quarantined events sent again, unless `quarantineReplay` is `nil`, and change settings,
    /// unless `settingChanges` is `nil`.
    ///
    /// `controlFile` is used in place of the file that the configuration names.
    package init(
        configuration: OperationsConfiguration,
        pipeline: any OperatedPipeline,
        sources: [any GaugeSource],
        registry: PrometheusRegistry,
        programVersion: String,
        planReloader: (any PlanReloader)?,
        quarantineReplay: (any QuarantineReplaying)?,
        controlFile: ControlFile,
        settingChanges: SettingChanges?,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock()
    ) throws(OperationsError) {
        try Self.check(configuration)
        let clock = RelativeClock(clock)
        let history = MetricHistory()
        self.configuration = configuration
        self.logger = logger
        access = AccessControl(configuration, clock: clock, logger: logger)
        routes = OperationsRoutes(
            pipeline: pipeline,
            sources: sources,
            registry: registry,
            programVersion: programVersion,
            control: ControlRoutes(
                pipeline: pipeline,
                file: controlFile,
                settingChanges: settingChanges,
                planReloader: planReloader,
                logger: logger
            ),
            quarantine: quarantineReplay.map { QuarantineRoutes(replay: $0, logger: logger) },
            history: history,
            clock: clock
        )
        sampler = HistorySampler(history: history, pipeline: pipeline, registry: registry, clock: clock)
        controlFile.pauseTrackers(of: pipeline, logger: logger)
    }

    /// Makes a server for a process without a pipeline: `/metrics`, `/readyz`, `/livez` and `/v1/status`.
    package init(
        configuration: OperationsConfiguration,
        process: any ReportingProcess,
        registry: PrometheusRegistry,
        programVersion: String,
        plan: PlanSummary,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock()
    ) throws(OperationsError) {
        try Self.check(configuration)
        let clock = RelativeClock(clock)
        self.configuration = configuration
        self.logger = logger
        access = AccessControl(configuration, clock: clock, logger: logger)
        // The registry keeps their values, which do not change while the process runs.
        _ = VersionMetrics(registry, program: programVersion, plan: plan)
        routes = ProcessRoutes(process: process, registry: registry, clock: clock)
        sampler = nil
    }

    private static func check(_ configuration: OperationsConfiguration) throws(OperationsError) {
        guard configuration.hasPort else {
            guard configuration.socketPath == nil else { return }
            let message = "There is neither a port nor a socket to listen on."
            throw OperationsError(code: .cannotListen, message: message, underlying: nil)
        }
        if let token = configuration.token {
            guard token.utf8.count < OperationsConfiguration.minimumTokenBytes else { return }
            let message = "The private port's token has fewer than \(OperationsConfiguration.minimumTokenBytes) bytes."
            throw OperationsError(code: .shortToken, message: message, underlying: nil)
        }
        let address: SocketAddress
        do {
            address = try SocketAddress.makeAddressResolvingHost(configuration.host, port: configuration.port)
        } catch {
            throw cannotListen(configuration, error)
        }
        guard address.isLoopback else {
            let place = "a loopback address, and \(configuration.host) is not one."
            let message = "Without a token the private port listens only on \(place)"
            throw OperationsError(code: .noToken, message: message, underlying: nil)
        }
    }

    private static func cannotListen(_ configuration: OperationsConfiguration, _ error: any Error) -> OperationsError {
        guard configuration.hasPort else {
            let message = "The socket '\(configuration.socketPath ?? "")' cannot be used."
            return OperationsError(code: .unusableFile, message: message, underlying: error)
        }
        let place = "\(configuration.host):\(configuration.port)"
        return OperationsError(
            code: .cannotListen,
            message: "The private port cannot listen on \(place).",
            underlying: error
        )
    }

    /// Waits until the port and the socket are bound, and returns the port's address, `host:port`; it is empty without a port.
    ///
    /// Neither answers a request before.
    ///
    /// - Throws: `OperationsError` if it cannot listen, or if there is no socket and `requiresSocket` is true.
    public func listening() async throws -> String { try await bound.value() }

    /// Serves until a graceful shutdown or cancellation.
    ///
    /// - Throws: `OperationsError` if it cannot listen, or if there is no socket and `requiresSocket` is true.
    public func run() async throws {
        do throws(OperationsError) {
            let socket = try makeSocket()
            let removeSocket = Mutex<@Sendable () -> Void> {}
            defer {
                socket?.removeFolder()
                removeSocket.withLock { $0 }()
            }
            try await run(services(socket) { remove in removeSocket.withLock { $0 = remove } })
        } catch {
            boundPort.finish(.failure(error))
            bound.finish(.failure(error))
            throw error
        }
    }

    private func run(_ services: [ServiceGroupConfiguration.ServiceConfiguration]) async throws(OperationsError) {
        do {
            try await ServiceGroup(configuration: .init(services: services, logger: quietLogger)).run()
        } catch let error as OperationsError {
            throw error
        } catch is CancellationError {
            // It was shut down before it was bound.
        } catch {
            throw Self.cannotListen(configuration, error)
        }
    }

    /// Prepares the socket for commands; `nil` if there is none.
    private func makeSocket() throws(OperationsError) -> ControlSocket? {
        guard let path = configuration.socketPath else { return nil }
        do throws(OperationsError) {
            return try ControlSocket(path: path)
        } catch {
            if configuration.requiresSocket { throw error }
            logNoSocket(error)
            return nil
        }
    }

    private func logNoSocket(_ error: OperationsError) {
        logger.error(
            "The socket for commands cannot be used; commands need the private port, if there is one.",
            metadata: ["error": "\(error)"]
        )
    }
}

// MARK: - The two servers

extension OperationsServer {
    private static let headerLimits = HTTP1Channel.Configuration.DecoderConfiguration(
        maxHeaderFieldSize: 16 << 10,
        maxHeaderListSize: 16 << 10,
        maxHeaderFieldCount: 64
    )

    /// Answers the requests of the port.
    package var responder: some HTTPResponder<OperationsContext> {
        routes.router(access: access, entryPoint: "private port").buildResponder()
    }

    /// What runs: the port, and then the socket, so that a port that cannot be bound is the only error.
    private func services(
        _ socket: ControlSocket?,
        onPublish: @escaping @Sendable (_ remove: @escaping @Sendable () -> Void) -> Void
    ) -> [ServiceGroupConfiguration.ServiceConfiguration] {
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        if configuration.hasPort {
            let port = Binding(application: port(hasSocket: socket != nil), outcomes: [boundPort, bound])
            // If the port cannot listen, the socket is shut down as well.
            services.append(.init(service: port, failureTerminationBehavior: .gracefullyShutdownGroup))
        } else {
            boundPort.finish(.success(""))
            if socket == nil { bound.finish(.success("")) }
        }
        if let sampler { services.append(.init(service: sampler)) }
        services.append(.init(service: BindingCheck(outcome: bound)))
        if let socket {
            let application = application(of: socket, onPublish: onPublish)
            services.append(.init(service: Binding(application: application, outcomes: [bound], after: boundPort)))
        }
        return services
    }

    private func port(hasSocket: Bool) -> some ApplicationProtocol {
        application(
            at: .hostname(configuration.host, port: configuration.port),
            responder: responder,
            connections: GuardedConnections(limit: configuration.maximumConnections, mayUse: access.knows)
        ) { [self] channel in
            let address = Self.describe(channel.localAddress)
            boundPort.finish(.success(address))
            if !hasSocket { listens(at: address) }
            // Requests wait until this returns.
            _ = try? await bound.value()
        }
    }

    /// Notes that the port and the socket are bound.
    private func listens(at address: String) {
        if configuration.hasPort {
            logger.info("The private port listens.", metadata: ["address": "\(address)"])
        }
        bound.finish(.success(address))
    }

    private func application(
        of socket: ControlSocket,
        onPublish: @escaping @Sendable (_ remove: @escaping @Sendable () -> Void) -> Void
    ) -> some ApplicationProtocol {
        application(
            at: .unixDomainSocket(path: socket.temporaryPath),
            responder: routes.router(access: nil, entryPoint: "socket").buildResponder(),
            connections: GuardedConnections(limit: configuration.maximumConnections) { _, _ in true }
        ) { [self] _ in
            do throws(OperationsError) {
                onPublish(try socket.publish())
            } catch {
                if configuration.requiresSocket { return bound.finish(.failure(error)) }
                logNoSocket(error)
            }
            if let address = try? await boundPort.value() { listens(at: address) }
        }
    }

    private func application(
        at address: BindAddress,
        responder: some HTTPResponder<OperationsContext>,
        connections: GuardedConnections,
        onServerRunning: @escaping @Sendable (any Channel) async -> Void
    ) -> some ApplicationProtocol {
        let logger = logger
        return Application(
            responder: responder,
            server: HTTPServerBuilder { responder in
                let configuration = HTTP1Channel.Configuration(httpDecoderConfiguration: Self.headerLimits)
                return GuardedChannel(
                    base: HTTP1Channel(responder: responder, configuration: configuration),
                    connections: connections
                )
            },
            configuration: ApplicationConfiguration(address: address),
            onServerRunning: { channel in
                // Running out of file descriptors pauses accepting, and does not make it spin.
                try? await channel.eventLoop.submit {
                    let handlers: [any ChannelHandler] = [AcceptLog(logger: logger), AcceptBackoffHandler()]
                    try channel.pipeline.syncOperations.addHandlers(handlers, position: .first)
                }.get()
                await onServerRunning(channel)
            },
            logger: quietLogger
        )
    }

    /// Hummingbird's own messages are about its inside; this server logs what an operator needs to know.
    private var quietLogger: Logger {
        var logger = logger
        logger.logLevel = max(.warning, logger.logLevel)
        return logger
    }

    private static func describe(_ address: SocketAddress?) -> String {
        guard let host = address?.ipAddress, let port = address?.port else { return "" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
