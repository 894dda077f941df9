import NIOCore
import NIOHTTP2

/// Closes an HTTP/2 connection whose socket or TLS has failed.
///
/// The errors of `NIOHTTP2Handler` need nothing here: it has reset the stream, or written a `GOAWAY`, after which `FrameGuard`
/// ends the connection.
final class HTTP2ErrorHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !(error is any NIOHTTP2Error) else { return }
        context.close(promise: nil)
    }
}
