import NIOCore
import NIOHTTP2

/// Closes an HTTP/2 connection whose sender has broken the protocol or exceeded a limit; `NIOHTTP2Handler` has sent the reason.
final class HTTP2ErrorHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The error of a stream ends that stream only.
        guard !(error is NIOHTTP2Errors.StreamError) else { return }
        context.close(promise: nil)
    }
}
