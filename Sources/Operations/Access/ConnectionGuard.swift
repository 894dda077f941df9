import NIOCore
import SluiceHTTP
import Synchronization

/// Closes a connection that is one too many from its address, that does not send the head of a request in time, or whose client
/// does not read.
///
/// It is in the pipeline behind the decoder. A connection that has sent a head may be idle as long as every other.
final class ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private static let timeout = TimeAmount.seconds(5)
    /// How long a client may leave an answer unread.
    private static let readTimeout = TimeAmount.seconds(30)

    private let connections: ConnectionsByAddress
    private var timer: Scheduled<Void>?
    private var readTimer: Scheduled<Void>?

    init(_ connections: ConnectionsByAddress) {
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        let isAdmitted = connections.admit(channel)
        // What is being set up cannot be closed yet.
        timer = channel.eventLoop.scheduleTask(in: isAdmitted ? Self.timeout : .zero) { channel.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The first part of a request is its head.
        timer?.cancel()
        context.fireChannelRead(data)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let channel = context.channel
        readTimer?.cancel()
        readTimer =
            channel.isWritable
            ? nil : channel.eventLoop.scheduleTask(in: Self.readTimeout) { channel.close(promise: nil) }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A shutdown does not wait for a client that does not read.
        if event is ChannelShouldQuiesceEvent, !context.channel.isWritable { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        readTimer?.cancel()
        context.fireChannelInactive()
    }
}

/// How many connections there are from each address; those of a socket in the file system do not count.
final class ConnectionsByAddress: Sendable {
    private let limit: Int
    private let counts = Mutex<[String: Int]>([:])

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether there may be another connection from the address of this one, which is counted then until it closes.
    func admit(_ channel: any Channel) -> Bool {
        guard let address = channel.remoteAddress?.ipAddress else { return true }
        let isAdmitted = counts.withLock { counts in
            guard counts[address, default: 0] < limit else { return false }
            counts[address, default: 0] += 1
            return true
        }
        guard isAdmitted else { return false }
        channel.closeFuture.whenComplete { [self] _ in
            counts.withLock { counts in
                guard let count = counts[address] else { return }
                counts[address] = count > 1 ? count - 1 : nil
            }
        }
        return true
    }
}
