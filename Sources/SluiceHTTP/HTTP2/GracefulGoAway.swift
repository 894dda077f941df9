import NIOCore
import NIOHTTP2

/// Sends the first `GOAWAY` of a graceful shutdown around `NIOHTTP2Handler`.
///
/// `NIOHTTP2ServerConnectionManagementHandler` shuts a connection down in the steps of RFC 9113, section 6.8: a first `GOAWAY`
/// with the greatest number of a stream asks the sender to begin no more requests, and the final one follows after a round trip,
/// so that requests that are already on their way are served. But once `NIOHTTP2Handler` has sent a `GOAWAY`, it takes the
/// connection as closed as soon as no request is in progress, and answers the requests that arrive then with an error of the
/// connection. So the first `GOAWAY` is turned into an event, which `FrameGuard` encodes.
final class GracefulGoAway: ChannelOutboundHandler {
    typealias OutboundIn = HTTP2Frame

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .goAway(lastStreamID: .maxID, errorCode: .noError, opaqueData: nil) = unwrapOutboundIn(data).payload
        else { return context.write(data, promise: promise) }
        context.triggerUserOutboundEvent(FirstGoAway(), promise: promise)
    }

    /// Flushes the final `GOAWAY`, which would be lost if it was written during a read.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        context.flush()
        context.close(mode: mode, promise: promise)
    }
}
