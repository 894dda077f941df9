import EventModel
import HTTPTypes
package import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle
import SluiceHTTP
import Synchronization

/// The private port: metrics and health for those who operate the process.
///
/// - `GET /metrics` answers with all metrics in Prometheus' text format.
/// - `GET /readyz` says whether events are accepted, why not, and what each tracker does: 200 or 503, with JSON.
/// - `GET /livez` answers 200, without a token.
/// - `/login` and `/logout` are for browsers, which cannot send a bearer token.
///
/// Run it in a `ServiceGroup` before the pipeline in the list, so that it is shut down last and can be asked while the queues are
/// drained.
public final class OperationsServer: Service {
    private let configuration: OperationsConfiguration
    private let pipeline: any ObservedPipeline
    private let sources: [any GaugeSource]
    private let registry: PrometheusRegistry
    private let processMetrics: ProcessMetrics
    private let access: AccessControl
    private let clock: RelativeClock
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        var outcome: Result<String, any Error>?
        var waiting: [CheckedContinuation<String, any Error>] = []
    }

    /// Makes a server; it does not listen yet.
    ///
    /// `sources` have further metrics, such as an `IngestServer`. `registry` is the one that the pipeline's metrics were made with.
    /// `programVersion` becomes a label of `sluice_build_info`. `clock` measures sessions.
    ///
    /// - Throws: `OperationsError` if the token is missing or too short, or if the address is unknown.
    public init(
        configuration: OperationsConfiguration = OperationsConfiguration(),
        pipeline: any ObservedPipeline,
        sources: [any GaugeSource] = [],
        registry: PrometheusRegistry,
        programVersion: String,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock()
    ) throws(OperationsError) {
        try Self.check(configuration)
        self.configuration = configuration
        self.pipeline = pipeline
        self.sources = sources
        self.registry = registry
        self.clock = RelativeClock(clock)
        self.logger = logger
        processMetrics = ProcessMetrics(registry, startedAt: .now())
        access = AccessControl(configuration, clock: self.clock)
        _ = VersionMetrics(registry, program: programVersion, plan: pipeline.plan)
    }

    private static func check(_ configuration: OperationsConfiguration) throws(OperationsError) {
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
            let message =
                "Without a token the private port listens only on a loopback address, and \(configuration.host) is none."
            throw OperationsError(code: .noToken, message: message, underlying: nil)
        }
    }

    private static func cannotListen(_ configuration: OperationsConfiguration, _ error: any Error) -> OperationsError {
        let place = "\(configuration.host):\(configuration.port)"
        return OperationsError(
            code: .cannotListen,
            message: "The private port cannot listen on \(place).",
            underlying: error
        )
    }

    /// Waits until the server listens, and returns its address, `host:port`.
    ///
    /// - Throws: `OperationsError` if it cannot listen.
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
    /// - Throws: `OperationsError` if it cannot listen.
    public func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            try await application(on: group).run()
        } catch {
            let error = Self.cannotListen(configuration, error)
            finish(.failure(error))
            try? await group.shutdownGracefully()
            throw error
        }
        finish(.failure(CancellationError()))
        try await group.shutdownGracefully()
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

    private func application(on group: MultiThreadedEventLoopGroup) -> some ApplicationProtocol {
        // Hummingbird's own messages are about its inside; this server logs what an operator needs to know.
        var quiet = logger
        quiet.logLevel = max(.warning, logger.logLevel)
        return Application(
            responder: responder,
            server: .http1(
                configuration: .init(idleTimeout: .seconds(60), httpDecoderConfiguration: Self.headerLimits)
            ),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: .maximum(configuration.maximumConnections, logger: quiet)
            ),
            onServerRunning: { [self] channel in
                let address = Self.describe(channel.localAddress)
                logger.info("The private port listens.", metadata: ["address": "\(address)"])
                finish(.success(address))
            },
            eventLoopGroupProvider: .shared(group),
            logger: quiet
        )
    }

    private static let headerLimits = HTTP1Channel.Configuration.DecoderConfiguration(
        maxHeaderFieldSize: 16 << 10,
        maxHeaderListSize: 16 << 10,
        maxHeaderFieldCount: 64
    )

    private static func describe(_ address: SocketAddress?) -> String {
        guard let host = address?.ipAddress, let port = address?.port else { return "" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Answers requests.
    package var responder: some HTTPResponder<OperationsContext> {
        let router = Router(context: OperationsContext.self, options: .autoGenerateHeadEndpoints)
        router.addMiddleware { AccessMiddleware(access: access) }
        router.get("/") { [access] _, _ in Self.overview(hasLogin: access.needsToken) }
        router.get("/metrics") { [self] _, _ in
            recordGauges()
            return Response.text(registry.text, contentType: PrometheusText.contentType)
        }
        router.get("/livez") { _, _ in Response.text(#"{"status":"ok"}"# + "\n", contentType: "application/json") }
        router.get("/readyz") { [pipeline] _, _ in
            let report = HealthReport(pipeline)
            return Response.text(
                try report.text,
                status: report.isReady ? .ok : .serviceUnavailable,
                contentType: "application/json"
            )
        }
        LoginPages(access, clock: clock).add(to: router)
        return router.buildResponder()
    }

    private func recordGauges() {
        pipeline.recordGauges()
        for source in sources { source.recordGauges() }
        processMetrics.record()
    }

    private static func overview(hasLogin: Bool) -> Response {
        let logout = #"<form method="post" action="/logout"><button>Log out</button></form>"#
        let links = """
            <ul>
            <li><a href="/metrics">Metrics</a>
            <li><a href="/readyz">Health of the pipeline and its trackers</a>
            </ul>
            """
        return .page("Sluice", hasLogin ? links + "\n" + logout : links)
    }
}

/// A request on the private port; its body has at most 4 KiB.
package struct OperationsContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    package var maxUploadSize: Int { 4 << 10 }

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }
}
