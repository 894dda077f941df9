package import NIOCore
package import NIOHTTP1
import SluiceHTTP
import Synchronization

/// Closes a connection whose request does not arrive in time, whose client does not read, or whose place another one takes.
///
/// The deadlines are those of whole heads and bodies, however often a piece of them arrives. It follows the decoder in the pipeline.
package final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart

    /// How long the head of the next request may take for somebody who has not shown that they may use the port.
    private static let headTimeout = TimeAmount.seconds(5)
    /// How long the head of the next request may take for somebody who may use the port.
    private static let idleTimeout = TimeAmount.seconds(60)
    /// How long a body may take, which has a few bytes.
    private static let bodyTimeout = TimeAmount.seconds(10)
    /// How long a client may leave an answer unread.
    private static let readTimeout = TimeAmount.seconds(30)

    private let connections: GuardedConnections
    private var isAuthorized = false
    /// Whether the body of a request is arriving.
    private var isReceiving = false
    private var unansweredRequests = 0
    private var timer: Scheduled<Void>?
    private var readTimer: Scheduled<Void>?

    package init(_ connections: GuardedConnections) {
        self.connections = connections
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        connections.add(context.channel)
        close(context, in: Self.headTimeout)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            isReceiving = true
            unansweredRequests += 1
            isAuthorized = connections.authorize(context.channel, head)
            close(context, in: Self.bodyTimeout)
        case .body:
            break
        case .end:
            isReceiving = false
            update(context)
        }
        context.fireChannelRead(data)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            unansweredRequests -= 1
            if !isReceiving { update(context) }
        }
        context.write(data, promise: promise)
    }

    /// Begins to wait for the next request once all are answered; an answer may last.
    private func update(_ context: ChannelHandlerContext) {
        timer?.cancel()
        let isBusy = unansweredRequests > 0
        connections.setBusy(context.channel, isBusy)
        if !isBusy { close(context, in: isAuthorized ? Self.idleTimeout : Self.headTimeout) }
    }

    private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
        let channel = context.channel
        timer?.cancel()
        timer = channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        let channel = context.channel
        readTimer?.cancel()
        readTimer =
            channel.isWritable
            ? nil : channel.eventLoop.scheduleTask(in: Self.readTimeout) { channel.close(promise: nil) }
        context.fireChannelWritabilityChanged()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A shutdown does not wait for a client that does not read.
        if event is ChannelShouldQuiesceEvent, !context.channel.isWritable { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        readTimer?.cancel()
        context.fireChannelInactive()
    }
}

/// The places of the connections of a port; those of a socket in the file system have no limits here.
package final class GuardedConnections: Sendable {
    private struct State {
        var places: ConnectionPlaces<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let mayUse: @Sendable (_ authorization: String?, _ cookies: [String]) -> Bool
    private let state: Mutex<State>

    /// Makes places; `mayUse` says whether a request with these header fields is from somebody who may use the port.
    package init(
        limit: Int,
        mayUse: @escaping @Sendable (_ authorization: String?, _ cookies: [String]) -> Bool
    ) {
        self.mayUse = mayUse
        state = Mutex(State(places: ConnectionPlaces(limit: limit)))
    }

    /// Counts a new connection until it closes.
    fileprivate func add(_ channel: any Channel) {
        guard let address = channel.remoteAddress, let text = address.ipAddress else { return }
        let id = ObjectIdentifier(channel)
        let victim = state.withLock { state in
            state.channels[id] = channel
            return state.places.add(id, from: text, isLocal: address.isLoopback).flatMap { state.channels[$0] }
        }
        Self.close(victim)
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { state in
                state.channels[id] = nil
                state.places.remove(id)
            }
        }
    }

    /// Notes the head of a request.
    ///
    /// - Returns: Whether it is from somebody who may use the port.
    fileprivate func authorize(_ channel: any Channel, _ head: HTTPRequestHead) -> Bool {
        let isAuthorized = mayUse(head.headers.first(name: "authorization"), head.headers["cookie"])
        let id = ObjectIdentifier(channel)
        let victim = state.withLock { state in
            state.places.authorize(id, isAuthorized).flatMap { state.channels[$0] }
        }
        Self.close(victim)
        return isAuthorized
    }

    fileprivate func setBusy(_ channel: any Channel, _ isBusy: Bool) {
        state.withLock { $0.places.setBusy(ObjectIdentifier(channel), isBusy) }
    }

    private static func close(_ channel: (any Channel)?) {
        // Later, because what is being set up cannot be closed yet.
        channel?.eventLoop.execute { channel?.close(promise: nil) }
    }
}
