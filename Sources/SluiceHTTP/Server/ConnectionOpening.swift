import NIOCore
import NIOSSL
import NIOTLS

/// What precedes the requests on a new connection: a proxy's header, a TLS handshake, and the choice of the version of HTTP.
struct ConnectionOpening: Sendable {
    private let endpoint: IngestEndpoint
    private let tls: TLSFiles?
    private let proxies: [NetworkRange]
    private let expectsProxyHeader: Bool
    private let timeout: TimeAmount

    init(_ configuration: IngestConfiguration, endpoint: IngestEndpoint, tls: TLSFiles?) {
        self.endpoint = endpoint
        self.tls = tls
        proxies = configuration.proxies
        expectsProxyHeader = configuration.expectsProxyHeader
        timeout = TimeAmount(configuration.timeouts.head)
    }

    /// Adds the handlers to a new connection.
    ///
    /// - Throws: `ChannelError` if the connection has to be closed at once.
    func configure(_ channel: any Channel) throws {
        guard let address = channel.remoteAddress, proxies.contains(where: { $0.contains(address) }) else {
            let peer = channel.remoteAddress
            return try configure(channel, from: peer, counting: peer, endpoint.admit(channel, from: peer))
        }
        let admission = try endpoint.admit(channel, from: nil)
        guard expectsProxyHeader else { return try configure(channel, from: address, counting: nil, admission) }
        let deadline = OpeningDeadline(timeout: timeout)
        let decoder = ProxyHeaderDecoder { address, channel in
            channel.pipeline.syncOperations.removeHandler(deadline, promise: nil)
            let admission = admission == .serve ? try endpoint.readmit(channel, from: address) : admission
            try configure(channel, from: address, counting: address, admission)
        }
        try channel.pipeline.syncOperations.addHandlers([deadline, decoder])
    }

    /// Adds the handlers to a new connection whose admission is decided.
    ///
    /// `peer` is the sender, or a proxy that does not state for whom it sends. `address` is the one whose connections are counted,
    /// or `nil` for such a proxy.
    private func configure(
        _ channel: any Channel,
        from peer: SocketAddress?,
        counting address: SocketAddress?,
        _ admission: LiveConnections.Admission
    ) throws {
        guard let tls else { return try endpoint.addHandlers(to: channel, from: peer, admission: admission) }
        let deadline = OpeningDeadline(timeout: timeout)
        let negotiation = ApplicationProtocolNegotiationHandler { [endpoint] result, channel in
            channel.eventLoop.makeCompletedFuture {
                do {
                    if result == .negotiated("h2") {
                        try endpoint.addHTTP2Handlers(to: channel, from: peer, counting: address, admission: admission)
                    } else {
                        try endpoint.addHandlers(to: channel, from: peer, admission: admission)
                    }
                    channel.pipeline.syncOperations.removeHandler(deadline, promise: nil)
                } catch {
                    // Nothing else closes a connection whose handlers are missing.
                    channel.close(promise: nil)
                    throw error
                }
            }
        }
        let handshake = NIOSSLServerHandler(context: tls.context)
        try channel.pipeline.syncOperations.addHandlers([deadline, handshake, negotiation])
    }
}

/// Closes a connection whose opening takes too long, or has not ended when the server shuts down.
final class OpeningDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let timeout: TimeAmount
    private var timer: Scheduled<Void>?

    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}
