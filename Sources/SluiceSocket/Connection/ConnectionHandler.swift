import NIOCore
import NIOTLS

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The last handler of a connection to a receiver: it notes when the connection can be used and why it ended, and drops what arrives.
///
/// Nothing that a receiver sends has a meaning. It is read all the same, because otherwise the end of the connection would not be
/// seen, and because closing a socket with unread bytes resets the connection, with which a receiver can lose what it has not read.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let isSecured: Bool
    /// Succeeds once events can be sent.
    private let ready: EventLoopPromise<Void>
    /// Is called once if the connection breaks after events were acknowledged, which the receiver may not have read.
    private let onLoss: @Sendable () -> Void
    private var context: ChannelHandlerContext?
    private var failure: (any Error)?
    private var hasAcknowledged = false
    private var hasReportedLoss = false

    init(isSecured: Bool, ready: EventLoopPromise<Void>, onLoss: @escaping @Sendable () -> Void) {
        self.isSecured = isSecured
        self.ready = ready
        self.onLoss = onLoss
    }

    // MARK: Questions

    /// Whether the connection can be used, as far as this side knows.
    ///
    /// The event loop reads what has arrived before it runs tasks, so an end that has arrived is known to a task.
    var isOpen: Bool { failure == nil && context?.channel.isActive == true }

    /// The number of bytes that the receiver's kernel has not acknowledged.
    ///
    /// - Throws: Why the connection has ended.
    func unacknowledgedBytes() throws -> Int {
        guard let context, isOpen else { throw failure ?? ChannelError.eof }
        let count = try context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { SendQueue.unacknowledgedBytes(of: $0) }
        guard let count = count ?? nil else {
            // The kernel knows that the connection is reset, and the event loop does not yet.
            let error = IOError(errnoCode: ECONNRESET, reason: "the connection is reset")
            note(error)
            throw error
        }
        if count == 0 { hasAcknowledged = true }
        return count
    }

    /// Notes why the connection cannot be used any more.
    func note(_ error: any Error) {
        failure = failure ?? error
        guard let error = error as? IOError, SocketErrors.isBreak(error), hasAcknowledged, !hasReportedLoss else {
            return
        }
        hasReportedLoss = true
        onLoss()
    }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func channelActive(context: ChannelHandlerContext) {
        if !isSecured { ready.succeed(()) }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { ready.succeed(()) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        note(error)
        ready.fail(error)
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        ready.fail(failure ?? ChannelError.eof)
    }
}
