public import EventModel
public import EventPipeline
public import EventSchema
public import EventValidation
public import Logging
package import NIOCore
import NIOPosix
public import ServiceLifecycle
import Synchronization

/// An HTTP server that accepts events and has health checks.
///
/// - `POST /v1/events` accepts one event, a JSON array of events, or NDJSON, and answers with a verdict for each event. 200
///   means that the pipeline has the events counted as `accepted`; 422 that no event was valid, or that a strict request had an
///   invalid one; 503 that nothing was accepted;
///   504 that the outcome is unknown, because the journal's disk does not answer.
/// - `POST /v1/validate` answers as `/v1/events` would, and stores nothing.
/// - The paths of the clients of Segment, RudderStack and PostHog accept their events, and `/v1/events` CloudEvents, too.
/// - `GET /v1/plan` answers with the JSON Schema of what the sender may send, if the server was made with a `planSchema`.
/// - `GET /livez` answers 200. `GET /readyz` answers 200 while events are accepted, and otherwise 503; the reasons, which
///   it does not tell, are in `Pipeline.unreadyReasons`. An unavailable destination is not a reason: its events wait.
///
/// Run it in a `ServiceGroup` after the pipeline in the list, so that it is shut down first. At a graceful shutdown it stops
/// listening, answers what was received, closes the connections, and returns when all are closed or `drainTimeout` is over.
public final class IngestServer: Service {
    /// The address of a server.
    public struct Address: Sendable, Hashable, CustomStringConvertible {
        /// The numeric address.
        public let host: String
        /// The port; never 0.
        public let port: Int

        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// `host:port`, with brackets around an IPv6 address.
        public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    private struct Listener {
        let group: MultiThreadedEventLoopGroup
        let channel: any Channel
        let address: Address
        let endpoint: IngestEndpoint
    }

    private let configuration: IngestConfiguration
    private let pipeline: Pipeline
    private let keys: WriteKeys
    private let tls: TLSFiles?
    private let planSchema: (@Sendable (_ plan: TrackingPlan) -> String)?
    private let now: @Sendable () -> Timestamp
    private let logger: Logger
    private let listener = Mutex<Listener?>(nil)
    private let catalog: Mutex<EventCatalog>

    /// Makes a server that checks events against `catalog` and submits them to `pipeline`; it does not listen yet.
    ///
    /// Without keys the server listens only on loopback addresses, unless the configuration says `isOpen`. With `tls` it speaks
    /// HTTPS only. `now` gives events without a time their time of arrival.
    ///
    /// `planSchema` renders the JSON Schema of a plan that has only the events that a key may send. It is called on
    /// a thread other than the event loops, for one set of events at a time, and its results are kept, up to
    /// `maximumPlanBytes`. Without it, `/v1/plan` is an unknown path.
    public init(
        configuration: IngestConfiguration,
        catalog: EventCatalog,
        pipeline: Pipeline,
        keys: WriteKeys? = nil,
        tls: TLSFiles? = nil,
        planSchema: (@Sendable (_ plan: TrackingPlan) -> String)? = nil,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.configuration = configuration
        self.catalog = Mutex(catalog)
        self.pipeline = pipeline
        self.keys = keys ?? WriteKeys(catalog: catalog)
        self.tls = tls
        self.planSchema = planSchema
        self.logger = logger
        self.now = now
    }

    /// Takes the port, and returns the address.
    ///
    /// Connections wait until `run` is called, so nothing is answered before the rest of a process is ready. Call it at most once, and
    /// `run` afterwards, which also stops the server. If it was not called, `run` calls it.
    ///
    /// - Throws: `IngestError`.
    @discardableResult
    public func bind() async throws -> Address {
        let endpoint = try IngestEndpoint(
            configuration: configuration,
            catalog: catalog.withLock { $0 },
            pipeline: pipeline,
            keys: keys,
            planSchema: planSchema,
            logger: logger,
            now: now
        )
        let socketAddress = try resolve()
        guard !keys.isOpen || configuration.isOpen || socketAddress.isLoopback else {
            let message =
                "Without write keys the server listens only on a loopback address, and \(configuration.host) is not one."
            throw IngestError(code: .noKeys, message: message, underlying: nil)
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.eventLoopCount ?? System.coreCount)
        do {
            let listener = try await listen(at: socketAddress, on: group, endpoint)
            self.listener.withLock { $0 = listener }
            return listener.address
        } catch {
            try? await group.shutdownGracefully()
            throw cannotListen(error)
        }
    }

    /// Replaces the plan; call `replacePlan` of the pipeline first, and `bind` before.
    ///
    /// When it returns, every event loop has the new plan. A body whose check has begun is checked to the end against the earlier
    /// one, and its events are accepted.
    public func replacePlan(with catalog: EventCatalog) async {
        self.catalog.withLock { $0 = catalog }
        await listener.withLock { $0?.endpoint }?.replacePlan(with: catalog)
    }

    private func resolve() throws(IngestError) -> SocketAddress {
        do {
            return try SocketAddress.makeAddressResolvingHost(configuration.host, port: configuration.port)
        } catch {
            throw cannotListen(error)
        }
    }

    private func cannotListen(_ error: any Error) -> IngestError {
        let place = "\(configuration.host):\(configuration.port)"
        return IngestError(code: .cannotListen, message: "Cannot listen on \(place).", underlying: error)
    }

    /// Waits until the connections that the listener accepted last are closed.
    ///
    /// Each is set up on an event loop of its own, returns to that of the listener, and, because the listener is closed, is closed on its
    /// own. One that came later than the end of the event loops would stay open.
    private static func closeLastConnections(on group: any EventLoopGroup) async {
        for _ in 0..<3 {
            for eventLoop in group.makeIterator() { try? await eventLoop.submit {}.get() }
        }
    }

    /// Serves until a graceful shutdown or cancellation, then drains the connections.
    ///
    /// - Throws: `IngestError` if the server cannot listen.
    public func run() async throws {
        if listener.withLock({ $0 == nil }) { try await bind() }
        guard let listener = listener.withLock({ $0 }) else { return }
        // It fails only if the channel is closed, and then `closeFuture` succeeds.
        try? await listener.channel.setOption(.autoRead, value: true).get()
        logger.info("The server listens.", metadata: ["address": "\(listener.address)"])
        await withTaskCancellationOrGracefulShutdownHandler {
            // It fails only if the channel fails, and then the channel is closed.
            try? await listener.channel.closeFuture.get()
        } onCancelOrGracefulShutdown: {
            listener.channel.close(promise: nil)
        }
        await listener.endpoint.shutDown(on: listener.group.next())
        await Self.closeLastConnections(on: listener.group)
        let turns = await turnStatistics()
        logger.info("The server is closed.", metadata: Self.metadata(of: turns, listener.address))
        try await listener.group.shutdownGracefully()
    }

    /// Records the metrics that are known only when somebody asks; nothing before the server listens.
    ///
    /// Call it before the metrics are exported. `Operations` does so for each request for `/metrics`.
    public func recordGauges() {
        listener.withLock { $0?.endpoint }?.recordGauges()
    }

    /// How much of `maximumBufferedBytes` is in use.
    package var reservedBytes: Int { listener.withLock { $0?.endpoint.reservedBytes ?? 0 } }

    /// The statistics of all event loops' turns so far.
    package func turnStatistics() async -> TurnStatistics {
        guard let listener = listener.withLock({ $0 }) else { return TurnStatistics() }
        return await listener.endpoint.turnStatistics()
    }

    private static func metadata(of turns: TurnStatistics, _ address: Address) -> Logger.Metadata {
        let stretch = turns.longestStretch / .milliseconds(1)
        return [
            "address": "\(address)", "turns": "\(turns.turns)", "bodiesSetAside": "\(turns.setAside)",
            "longestStretchMilliseconds": "\((stretch * 100).rounded() / 100)",
        ]
    }

    private func listen(
        at socketAddress: SocketAddress,
        on group: MultiThreadedEventLoopGroup,
        _ endpoint: IngestEndpoint
    ) async throws -> Listener {
        let opening = ConnectionOpening(configuration, endpoint: endpoint, tls: tls)
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Until `run`.
            .serverChannelOption(.autoRead, value: false)
            // Running out of file descriptors pauses accepting, and does not end it.
            .serverChannelInitializer { [logger] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([AcceptLog(logger: logger), AcceptBackoffHandler()])
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try opening.configure(channel) }
            }
            .bind(to: socketAddress)
            .get()
        let address = channel.localAddress
        return Listener(
            group: group,
            channel: channel,
            address: Address(host: address?.ipAddress ?? configuration.host, port: address?.port ?? configuration.port),
            endpoint: endpoint
        )
    }
}

extension SocketAddress {
    /// Whether only processes of this machine can connect to the address, as to a Unix domain socket, which has no IP address.
    package var isLoopback: Bool {
        guard let host = ipAddress else { return true }
        return host.hasPrefix("127.") || host.hasPrefix("::ffff:127.") || host == "::1"
    }
}
