public import EventModel
public import EventPipeline
public import EventValidation
public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
public import ServiceLifecycle
import Synchronization

/// The public port: takes events over HTTP, and tells whether the service lives and is ready.
///
/// - `POST /v1/events` takes one event, a JSON array of events, or NDJSON; each event gets its verdict. 200 means that
///   the events counted as `accepted` are with the pipeline; 422 that none was valid; 503 that nothing was taken; 504 that
///   nobody can say, because the journal's disk does not answer.
/// - `GET /livez` answers 200. `GET /readyz` answers 200 while events are taken, and otherwise 503 with the codes of
///   `Pipeline.unreadyReasons`. A destination that is unavailable is not a reason: its events wait.
///
/// Run it in a `ServiceGroup` before the pipeline's own shutdown: at a graceful shutdown it closes the door, answers
/// what has been received, closes the connections, and returns when all are closed or `drainTimeout` is over.
public final class HTTPIngestServer: Service {
    /// Where the server listens.
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
        let shared: IngestContext
        let loops: [NIOLoopBound<LoopResources>]
    }

    private let configuration: HTTPIngestConfiguration
    private let catalog: EventCatalog
    private let pipeline: Pipeline
    private let now: @Sendable () -> Timestamp
    private let logger: Logger
    private let listener = Mutex<Listener?>(nil)

    /// Prepares a server that hands what it accepts to `pipeline`; it does not listen yet.
    ///
    /// Events are checked against `catalog`, and `now` tells their time of arrival.
    public init(
        configuration: HTTPIngestConfiguration,
        catalog: EventCatalog,
        pipeline: Pipeline,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.configuration = configuration
        self.catalog = catalog
        self.pipeline = pipeline
        self.logger = logger
        self.now = now
    }

    /// Begins to listen and to answer, and tells where.
    ///
    /// To be called once at most, and `run` after it, which alone ends what this begins. Without it, `run` does the same
    /// itself.
    ///
    /// - Throws: `HTTPIngestError`.
    @discardableResult
    public func bind() async throws -> Address {
        if let problem = configuration.problem {
            throw HTTPIngestError(code: .misconfigured, message: problem, underlying: nil)
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.eventLoopCount ?? System.coreCount)
        do {
            let listener = try await listen(on: group)
            self.listener.withLock { $0 = listener }
            logger.info("listening", metadata: ["address": "\(listener.address)"])
            return listener.address
        } catch {
            try? await group.shutdownGracefully()
            let place = "\(configuration.host):\(configuration.port)"
            throw HTTPIngestError(code: .cannotListen, message: "Cannot listen on \(place).", underlying: error)
        }
    }

    /// Serves until a graceful shutdown or cancellation, then drains as told above.
    ///
    /// - Throws: `HTTPIngestError` where the port cannot be opened.
    public func run() async throws {
        if listener.withLock({ $0 == nil }) { try await bind() }
        guard let listener = listener.withLock({ $0 }) else { return }
        await withTaskCancellationOrGracefulShutdownHandler {
            // Fails only together with the channel, which is what is waited for.
            try? await listener.channel.closeFuture.get()
        } onCancelOrGracefulShutdown: {
            listener.channel.close(promise: nil)
        }
        let timeout = TimeAmount(configuration.drainTimeout)
        let cut = await listener.shared.connections.drain(on: listener.group.next(), timeout: timeout)
        if cut > 0 {
            logger.warning("connections cut at the end of the drain timeout", metadata: ["connections": "\(cut)"])
        }
        let turns = await turnStatistics()
        logger.info("closed", metadata: Self.metadata(of: turns, listener.address))
        try await listener.group.shutdownGracefully()
    }

    /// How much of `maximumBufferedBytes` is in use.
    package var reservedBytes: Int { listener.withLock { $0?.shared.budget.reservedBytes ?? 0 } }

    /// What the turns of all event loops took so far.
    package func turnStatistics() async -> TurnStatistics {
        guard let listener = listener.withLock({ $0 }) else { return TurnStatistics() }
        var statistics = TurnStatistics()
        for loop in listener.loops {
            // Fails only when the loop has ended, and nobody is left to ask then.
            if let other = try? await loop.eventLoop.submit({ loop.value.statistics }).get() {
                statistics.merge(other)
            }
        }
        return statistics
    }

    private static func metadata(of turns: TurnStatistics, _ address: Address) -> Logger.Metadata {
        let stretch = turns.longestStretch / .milliseconds(1)
        return [
            "address": "\(address)", "turns": "\(turns.turns)", "bodiesSetAside": "\(turns.setAside)",
            "longestStretchMilliseconds": "\((stretch * 100).rounded() / 100)",
        ]
    }

    /// Derives the limit of connections, and says what it is.
    private func connectionLimit() -> Int {
        let descriptors = ConnectionLimit.descriptors
        let limit = ConnectionLimit(
            stated: configuration.maximumConnections,
            descriptors: descriptors,
            memory: configuration.maximumBufferedBytes
        )
        let metadata: Logger.Metadata = [
            "connections": "\(limit.connections)", "descriptors": "\(descriptors)",
            "reservedDescriptors": "\(ConnectionLimit.reservedDescriptors)",
            "memoryBytes": "\(configuration.maximumBufferedBytes)",
        ]
        if limit.connections > limit.allowedByDescriptors {
            logger.warning(
                "The process may open too few files for its connections; raise the limit (ulimit -n).",
                metadata: metadata
            )
        } else {
            logger.info("limit of connections", metadata: metadata)
        }
        return limit.connections
    }

    private func listen(on group: MultiThreadedEventLoopGroup) async throws -> Listener {
        let shared = IngestContext(
            configuration: configuration,
            connectionLimit: connectionLimit(),
            pipeline: pipeline
        )
        // Made once before there are connections: the runtime of Swift 6.3 can crash when two event loops ask for a
        // generic type that nobody has asked for before, as they do when senders come back to a server that restarts.
        _ = Self.makeDecoder(decoderLimits)
        let resources = try await resources(of: group)
        let channel = try await bootstrap(on: group, shared, resources)
            .bind(host: configuration.host, port: configuration.port)
            .get()
        let address = channel.localAddress
        return Listener(
            group: group,
            channel: channel,
            address: Address(host: address?.ipAddress ?? configuration.host, port: address?.port ?? configuration.port),
            shared: shared,
            loops: Array(resources.values)
        )
    }

    private func resources(
        of group: MultiThreadedEventLoopGroup
    ) async throws -> [ObjectIdentifier: NIOLoopBound<LoopResources>] {
        let (catalog, configuration, now) = (catalog, configuration, now)
        var resources: [ObjectIdentifier: NIOLoopBound<LoopResources>] = [:]
        for loop in group.makeIterator() {
            resources[ObjectIdentifier(loop)] = try await loop.submit {
                let resources = LoopResources(
                    catalog: catalog,
                    configuration: configuration,
                    eventLoop: loop,
                    now: now
                )
                return NIOLoopBound(resources, eventLoop: loop)
            }.get()
        }
        return resources
    }

    private func bootstrap(
        on group: MultiThreadedEventLoopGroup,
        _ shared: IngestContext,
        _ resources: [ObjectIdentifier: NIOLoopBound<LoopResources>]
    ) -> ServerBootstrap {
        let decoderLimits = decoderLimits
        return ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Running out of file descriptors is a pause in accepting, not its end.
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.writeBufferWaterMark, value: Self.writeBufferWaterMark)
            // A sender may close its side once it has sent all, and still wants its answers.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try Self.prepare(channel, shared, resources, decoderLimits)
                }
            }
    }

    private static func prepare(
        _ channel: any Channel,
        _ shared: IngestContext,
        _ resources: [ObjectIdentifier: NIOLoopBound<LoopResources>],
        _ limits: NIOHTTPDecoderLimitConfiguration
    ) throws {
        let admission = shared.connections.admit(channel)
        guard admission != .drop, let loop = resources[ObjectIdentifier(channel.eventLoop)]?.value else {
            throw ChannelError.ioOnClosedChannel
        }
        let handler = ConnectionHandler(
            shared: shared,
            loop: loop,
            admission: admission,
            eventLoop: channel.eventLoop
        )
        try channel.pipeline.syncOperations.addHandlers([makeDecoder(limits), handler])
    }

    /// With more unread answers than the upper mark, a connection is not served.
    private static var writeBufferWaterMark: ChannelOptions.Types.WriteBufferWaterMark {
        .init(low: MemoryBudget.unreadAnswerBytes / 2, high: MemoryBudget.unreadAnswerBytes)
    }

    private var decoderLimits: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = configuration.maximumHeaderBytes
        limits.maxHeaderListSize = configuration.maximumHeaderBytes
        limits.maxHeaderFieldCount = configuration.maximumHeaderFields
        return limits
    }

    private static func makeDecoder(_ limits: NIOHTTPDecoderLimitConfiguration) -> ByteToMessageHandler<
        HTTPRequestDecoder
    > {
        ByteToMessageHandler(
            HTTPRequestDecoder(limitConfiguration: limits),
            // What it holds back is the beginning of one header, whatever a refused upgrade makes it forget.
            maximumBufferSize: 1 << 20
        )
    }
}
