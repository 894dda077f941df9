import NIOCore
import SluiceHTTP
import Synchronization

/// Closes a connection that is one too many from its address, or that does not send the head of a request in time.
///
/// It is in the pipeline behind the decoder. A connection that has sent a head may be idle as long as every other.
final class ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private static let timeout = TimeAmount.seconds(5)

    private let connections: ConnectionsByAddress
    private var timer: Scheduled<Void>?

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

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
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
