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
    private let connections = ConnectionsByAddress(limit: 32)
    private let state: Mutex<State>

    /// What the lock guards: whether everything listens, and who waits for that.
    private struct State {
        /// Removes the socket, once it is published.
        var removeSocket: @Sendable () -> Void = {}
        /// How many of the port and the socket do not listen yet.
        var missing: Int
        /// Whether the server is ending; then a socket that cannot be published is not logged.
        var isOver = false
        var address = ""
        var outcome: Result<String, any Error>?
        var waiting: [CheckedContinuation<String, any Error>] = []
    }

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
        state = Mutex(State(missing: (configuration.hasPort ? 1 : 0) + (configuration.socketPath == nil ? 0 : 1)))
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
        state = Mutex(State(missing: (configuration.hasPort ? 1 : 0) + (configuration.socketPath == nil ? 0 : 1)))
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

    /// Waits until the port and the socket listen, and returns the port's address, `host:port`; it is empty without a port.
    ///
    /// - Throws: `OperationsError` if it cannot listen, or if there is no socket and `requiresSocket` is true.
    public func listening() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiting.append(continuation) }
                return state.outcome
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }

    /// Serves until a graceful shutdown or cancellation.
    ///
    /// - Throws: `OperationsError` if it cannot listen, or if there is no socket and `requiresSocket` is true.
    public func run() async throws {
        do throws(OperationsError) {
            let socket = try makeSocket()
            defer {
                state.withLock { $0.isOver = true }
                socket?.removeFolder()
                state.withLock(\.removeSocket)()
            }
            var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
            if let sampler { services.append(.init(service: sampler)) }
            // If the port cannot listen, the socket is shut down as well.
            if configuration.hasPort {
                services.insert(.init(service: port, failureTerminationBehavior: .gracefullyShutdownGroup), at: 0)
            }
            if let socket { services.append(.init(service: application(of: socket))) }
            do {
                try await ServiceGroup(configuration: .init(services: services, logger: quietLogger)).run()
            } catch {
                throw Self.cannotListen(configuration, error)
            }
        } catch {
            finish(.failure(error))
            throw error
        }
        finish(.failure(CancellationError()))
    }

    /// Prepares the socket for commands; `nil` if there is none.
    private func makeSocket() throws(OperationsError) -> ControlSocket? {
        guard let path = configuration.socketPath else { return nil }
        do throws(OperationsError) {
            return try ControlSocket(path: path)
        } catch {
            if configuration.requiresSocket { throw error }
            logNoSocket(error)
            listens(at: nil)
            return nil
        }
    }

    private func logNoSocket(_ error: OperationsError) {
        guard !state.withLock(\.isOver) else { return }
        logger.error(
            "The socket for commands cannot be used; commands need the private port, if there is one.",
            metadata: ["error": "\(error)"]
        )
    }

    /// Notes that the port, or the socket without an address, listens.
    private func listens(at address: String?) {
        let complete = state.withLock { state in
            state.missing -= 1
            if let address { state.address = address }
            return state.missing == 0 ? state.address : nil
        }
        if let complete { finish(.success(complete)) }
    }

    /// Tells those who wait whether the server listens; only the first outcome counts.
    private func finish(_ outcome: Result<String, any Error>) {
        let waiting = state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(with: outcome) }
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
        routes.router(access: access, door: "private port").buildResponder()
    }

    private var port: some ApplicationProtocol {
        application(
            at: .hostname(configuration.host, port: configuration.port),
            responder: responder
        ) { [self] channel in
            let address = Self.describe(channel.localAddress)
            logger.info("The private port listens.", metadata: ["address": "\(address)"])
            listens(at: address)
        }
    }

    private func application(of socket: ControlSocket) -> some ApplicationProtocol {
        application(
            at: .unixDomainSocket(path: socket.temporaryPath),
            responder: routes.router(access: nil, door: "socket").buildResponder()
        ) { [self] _ in
            do throws(OperationsError) {
                let remove = try socket.publish()
                state.withLock { $0.removeSocket = remove }
            } catch {
                logNoSocket(error)
            }
            listens(at: nil)
        }
    }

    private func application(
        at address: BindAddress,
        responder: some HTTPResponder<OperationsContext>,
        onServerRunning: @escaping @Sendable (any Channel) async -> Void
    ) -> some ApplicationProtocol {
        let (connections, logger) = (connections, logger)
        return Application(
            responder: responder,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [ConnectionGuard(connections)],
                    idleTimeout: .seconds(60),
                    httpDecoderConfiguration: Self.headerLimits
                )
            ),
            configuration: ApplicationConfiguration(
                address: address,
                availableConnectionsDelegate: .maximum(configuration.maximumConnections, logger: quietLogger)
            ),
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
