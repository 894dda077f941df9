public import EventModel
public import EventPipeline
public import EventSchema
public import EventValidation
public import Logging
public import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import Synchronization

/// The ingest handlers for a SwiftNIO server of your own: one with TLS, on a Unix domain socket, or with another bootstrap.
///
/// `IngestServer` is this endpoint with a listening socket and its own event loops. Each connection that is given to
/// `configurePipeline(of:)` speaks HTTP/1.1, and each that is given to `configureHTTP2Pipeline(of:)` HTTP/2. They get the
/// resources and limits that `IngestServer` documents; the handlers own the whole connection, so other resources need another
/// port. Handlers that transform bytes, such as `NIOSSLServerHandler`, are added to the pipeline before.
///
/// At shutdown, close the listening channel first, then call `shutDown(on:)`, then shut the event loops down. The pipeline
/// must run until then.
public final class IngestEndpoint: Sendable {
    private let configuration: IngestConfiguration
    private let now: @Sendable () -> Timestamp
    private let logger: Logger
    private let decoderLimits: NIOHTTPDecoderLimitConfiguration
    private let server: IngestContext
    private let loops: Mutex<Loops>

    /// What the event loops have, and what further ones begin with.
    private struct Loops {
        var catalog: EventCatalog
        /// The documents of `GET /v1/plan`; `nil` if they are not served.
        var plan: PlanDocuments?
        /// Made for each event loop when its first connection arrives.
        var resources: [ObjectIdentifier: NIOLoopBound<LoopResources>] = [:]
        /// Whether the event loops may have ended.
        var isShutDown = false
    }

    /// Makes an endpoint that checks events against `catalog` and submits them to `pipeline`.
    ///
    /// The `host`, `port` and `eventLoopCount` of the configuration are ignored. `now` gives events without a time their time
    /// of arrival. Without `keys`, anyone who reaches the endpoint may send. `planSchema` is as for `IngestServer`.
    ///
    /// - Throws: `misconfigured` if a setting is out of range, or the keys were made with another plan.
    public init(
        configuration: IngestConfiguration = IngestConfiguration(),
        catalog: EventCatalog,
        pipeline: Pipeline,
        keys: WriteKeys? = nil,
        planSchema: (@Sendable (_ plan: TrackingPlan) -> String)? = nil,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) throws(IngestError) {
        if let problem = configuration.problem {
            throw IngestError(code: .misconfigured, message: problem, underlying: nil)
        }
        if let keys, keys.catalog.plan != catalog.plan {
            let message = "The write keys were made with another plan."
            throw IngestError(code: .misconfigured, message: message, underlying: nil)
        }
        self.configuration = configuration
        self.now = now
        self.logger = logger
        decoderLimits = Self.decoderLimits(configuration)
        server = IngestContext(
            configuration: configuration,
            connectionLimit: Self.connectionLimit(configuration, logger),
            keys: keys ?? WriteKeys(catalog: catalog),
            pipeline: pipeline
        )
        let plan = planSchema.map { schema in
            PlanDocuments(
                plan: catalog.plan,
                maximumBytes: configuration.maximumPlanBytes,
                logger: logger,
                render: schema
            )
        }
        loops = Mutex(Loops(catalog: catalog, plan: plan))
        // Made once before there are connections: the runtime of Swift 6.3 can crash if two event loops ask at the same
        // time for a generic type that was not used before, as they do when senders reconnect to a restarted server.
        _ = Self.makeDecoder(decoderLimits)
    }

    /// Replaces the plan; call `replacePlan` of the pipeline first.
    ///
    /// When it returns, every event loop has the new plan. A body whose check has begun is checked to the end against the earlier
    /// one, and its events are accepted.
    public func replacePlan(with catalog: EventCatalog) async {
        server.keys.replacePlan(with: catalog)
        let (resources, documents) = loops.withLock { loops in
            loops.catalog = catalog
            loops.plan = loops.plan?.replacing(plan: catalog.plan)
            // A loop that has ended would never answer.
            return (loops.isShutDown ? [] : Array(loops.resources.values), loops.plan)
        }
        // All are told before one is waited for, so that two replacements reach every loop in the same order.
        let told = resources.map { loop in
            loop.eventLoop.submit { loop.value.replacePlan(with: catalog, documents: documents) }
        }
        for loop in told { try? await loop.get() }
    }

    /// Adds the handlers to a new connection; call it in the `childChannelInitializer`, on the channel's event loop.
    ///
    /// It also sets the channel options that the handlers rely on: half-closure, one message per read, and the write buffer's
    /// water marks.
    ///
    /// - Throws: `ChannelError.ioOnClosedChannel` if the connection has to be closed at once, because the endpoint is shutting
    ///   down or has too many connections to answer with 503.
    public func configurePipeline(of channel: any Channel) throws {
        let peer = channel.remoteAddress
        try addHandlers(to: channel, from: peer, admission: admit(channel, from: peer))
    }

    /// Adds the handlers to a connection that has agreed on HTTP/2; call it on the channel's event loop.
    ///
    /// - Throws: `ChannelError.ioOnClosedChannel` if the connection has to be closed at once, because the endpoint is shutting
    ///   down or has too many connections.
    public func configureHTTP2Pipeline(of channel: any Channel) throws {
        let peer = channel.remoteAddress
        try addHTTP2Handlers(to: channel, from: peer, counting: peer, admission: admit(channel, from: peer))
    }

    /// Decides about a new connection from an address; `nil` if the connections of its sender are not counted.
    func admit(_ channel: any Channel, from address: SocketAddress?) throws -> LiveConnections.Admission {
        channel.eventLoop.preconditionInEventLoop()
        let admission = server.connections.admit(channel, from: address)
        guard admission != .drop else { throw ChannelError.ioOnClosedChannel }
        return admission
    }

    /// Decides again about a connection of a proxy, which has stated the sender's address.
    func readmit(_ channel: any Channel, from address: SocketAddress?) throws -> LiveConnections.Admission {
        let admission = server.connections.readmit(channel, from: address)
        guard admission != .drop else { throw ChannelError.ioOnClosedChannel }
        return admission
    }

    /// Adds the handlers for HTTP/1.
    func addHandlers(
        to channel: any Channel,
        from peer: SocketAddress?,
        admission: LiveConnections.Admission
    ) throws {
        try setOptions(of: channel)
        let peer = self.peer(from: peer, isEncrypted: isEncrypted(channel), connectionKey(of: channel))
        let handler = connectionHandler(.http1, for: channel, from: peer, admission)
        try channel.pipeline.syncOperations.addHandlers([Self.makeDecoder(decoderLimits), handler])
    }

    /// Adds the handlers for HTTP/2.
    func addHTTP2Handlers(
        to channel: any Channel,
        from peer: SocketAddress?,
        counting address: SocketAddress?,
        admission: LiveConnections.Admission
    ) throws {
        // A response would need the first stream, and the sender tries again anyway.
        guard admission == .serve else { throw ChannelError.ioOnClosedChannel }
        let manager = NIOHTTP2ServerConnectionManagementHandler(
            eventLoop: channel.eventLoop,
            configuration: .init(maxIdleTime: server.timeouts.idle, maxAge: nil, maxGraceTime: nil, keepalive: nil)
        )
        let key = NIOLoopBound(connectionKey(of: channel), eventLoop: channel.eventLoop)
        let isEncrypted = isEncrypted(channel)
        let streams = HTTP2Streams(timeouts: server.timeouts)
        let boundStreams = NIOLoopBound(streams, eventLoop: channel.eventLoop)
        let frames = FrameGuard(streams: streams, limits: configuration.http2)
        try channel.pipeline.syncOperations.addHandlers([streams, frames])
        _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
            mode: .server,
            connectionConfiguration: configuration.http2Connection,
            streamConfiguration: configuration.http2Stream,
            streamDelegate: manager.http2StreamDelegate
        ) { [self] stream in
            stream.eventLoop.makeCompletedFuture {
                boundStreams.value.add(stream)
                let peer = self.peer(from: peer, isEncrypted: isEncrypted, connectionKey(of: stream, within: key.value))
                try addHandlers(toStream: stream, from: peer, counting: address)
            }
        }
        try channel.pipeline.syncOperations.addHandlers([GracefulGoAway(), manager, HTTP2ErrorHandler()])
    }

    private func addHandlers(
        toStream stream: any Channel,
        from peer: Peer,
        counting address: SocketAddress?
    ) throws {
        let admission = server.connections.admit(stream: stream, from: address)
        guard admission != .drop else { throw ChannelError.ioOnClosedChannel }
        let handler = connectionHandler(.http2, for: stream, from: peer, admission)
        try stream.pipeline.syncOperations.addHandlers([StreamRequestDecoder(limits: decoderLimits), handler])
    }

    private func connectionHandler(
        _ version: ConnectionVersion,
        for channel: any Channel,
        from peer: Peer,
        _ admission: LiveConnections.Admission
    ) -> ConnectionHandler {
        let loop = resources(of: channel.eventLoop)
        return ConnectionHandler(version, from: peer, admission, loop: loop, eventLoop: channel.eventLoop)
    }

    private func peer(from address: SocketAddress?, isEncrypted: Bool, _ key: ConnectionKey) -> Peer {
        Peer(ClientAddress(peer: address, proxies: server.proxies), isEncrypted: isEncrypted, key: key)
    }

    private func isEncrypted(_ channel: any Channel) -> Bool {
        (try? channel.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)) != nil
    }

    /// The key that a new connection or stream counts for, until it closes.
    private func connectionKey(of channel: any Channel, within connection: ConnectionKey? = nil) -> ConnectionKey {
        let key = ConnectionKey(limit: server.maximumConnectionsPerKey, within: connection)
        channel.closeFuture.assumeIsolated().whenComplete { _ in key.release() }
        return key
    }

    /// Answers what was received, closes the connections, and returns when all are closed.
    ///
    /// Connections that are still open after `drainTimeout` are cut, and logged. New connections are refused from now on. Call
    /// it at most once; `eventLoop` runs the timeout.
    public func shutDown(on eventLoop: any EventLoop) async {
        let timeout = TimeAmount(configuration.drainTimeout)
        let cut = await server.connections.drain(on: eventLoop, timeout: timeout)
        loops.withLock { $0.isShutDown = true }
        if cut > 0 {
            logger.warning(
                "The drain timeout ended, and connections with unfinished requests were closed.",
                metadata: ["connections": "\(cut)"]
            )
        }
    }

    /// Records the metrics that are known only when somebody asks: connections and memory.
    ///
    /// Call it before the metrics are exported. `Operations` does so for each request for `/metrics`.
    public func recordGauges() {
        server.metrics.record(connections: server.connections.count, bufferedBytes: server.budget.reservedBytes)
    }

    /// How much of `maximumBufferedBytes` is in use.
    package var reservedBytes: Int { server.budget.reservedBytes }

    /// The statistics of all event loops' turns so far.
    package func turnStatistics() async -> TurnStatistics {
        var statistics = TurnStatistics()
        for loop in loops.withLock({ Array($0.resources.values) }) {
            // Fails only after the loop has ended.
            if let other = try? await loop.eventLoop.submit({ loop.value.statistics }).get() {
                statistics.merge(other)
            }
        }
        return statistics
    }

    private func resources(of eventLoop: any EventLoop) -> LoopResources {
        // Made within the lock, so that two loops do not make theirs at the same time; see `init`.
        let bound = loops.withLock { [configuration, server, now] loops in
            if let bound = loops.resources[ObjectIdentifier(eventLoop)] { return bound }
            let resources = LoopResources(
                catalog: loops.catalog,
                plan: loops.plan,
                configuration: configuration,
                server: server,
                eventLoop: eventLoop,
                now: now
            )
            resources.measureDelay()
            let bound = NIOLoopBound(resources, eventLoop: eventLoop)
            loops.resources[ObjectIdentifier(eventLoop)] = bound
            return bound
        }
        return bound.value
    }

    private func setOptions(of channel: any Channel) throws {
        guard let options = channel.syncOptions else { throw ChannelError.operationUnsupported }
        // A sender may close its side once it has sent everything, and still reads the responses.
        try options.setOption(.allowRemoteHalfClosure, value: true)
        try options.setOption(.maxMessagesPerRead, value: 1)
        // A connection with more unread responses than the high mark is not read from.
        let marks = ChannelOptions.Types.WriteBufferWaterMark(
            low: MemoryBudget.unreadAnswerBytes / 2,
            high: MemoryBudget.unreadAnswerBytes
        )
        try options.setOption(.writeBufferWaterMark, value: marks)
    }

    /// Derives the limit on connections, and logs it.
    private static func connectionLimit(_ configuration: IngestConfiguration, _ logger: Logger) -> Int {
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
            logger.info("The number of connections is limited.", metadata: metadata)
        }
        return limit.connections
    }

    private static func decoderLimits(_ configuration: IngestConfiguration) -> NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = configuration.maximumHeaderBytes
        limits.maxHeaderListSize = configuration.maximumHeaderBytes
        limits.maxHeaderFieldCount = configuration.maximumHeaderFields
        return limits
    }

    private static func makeDecoder(
        _ limits: NIOHTTPDecoderLimitConfiguration
    ) -> ByteToMessageHandler<HTTPRequestDecoder> {
        ByteToMessageHandler(
            HTTPRequestDecoder(limitConfiguration: limits),
            // The decoder holds back the beginning of at most one header, even after a refused upgrade.
            maximumBufferSize: 1 << 20
        )
    }
}
