import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

/// Turns the frames of an HTTP/2 stream into the parts of a request, as NIO's decoder does with the bytes of HTTP/1.1.
///
/// `NIOHTTP2Handler` has checked the order of the frames, the header block and the length of the body. Frames that go out pass
/// unchanged.
final class StreamRequestDecoder: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTPServerRequestPart

    private let limits: NIOHTTPDecoderLimitConfiguration
    private var hasHead = false

    init(limits: NIOHTTPDecoderLimitConfiguration) {
        self.limits = limits
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let frame):
            // A second header block contains trailer fields, which mean nothing here.
            if !hasHead {
                hasHead = true
                guard let head = head(of: frame.headers) else {
                    return context.fireErrorCaught(HTTPParserError.headerOverflow)
                }
                context.fireChannelRead(wrapInboundOut(.head(head)))
            }
            if frame.endStream { context.fireChannelRead(wrapInboundOut(.end(nil))) }
        case .data(let frame):
            guard case .byteBuffer(let bytes) = frame.data else { return }
            if bytes.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(.body(bytes))) }
            if frame.endStream { context.fireChannelRead(wrapInboundOut(.end(nil))) }
        default:
            break
        }
    }

    /// The request's header; `nil` if it has too many fields or bytes.
    private func head(of block: HPACKHeaders) -> HTTPRequestHead? {
        var head = HTTPRequestHead(version: .http2, method: .POST, uri: "")
        var bytes = 0
        var fields = 0
        var authority: String?
        for (name, value, _) in block {
            bytes += name.utf8.count + value.utf8.count
            switch name {
            case ":method": head.method = HTTPMethod(rawValue: value)
            case ":path": head.uri = value
            case ":authority": authority = value
            case _ where name.utf8.first == UInt8(ascii: ":"): break
            default:
                fields += 1
                head.headers.add(name: name, value: value)
            }
        }
        guard bytes <= limits.maxHeaderListSize, fields <= limits.maxHeaderFieldCount else { return nil }
        // A `host` field may stand beside the authority if both are the same (RFC 9113, section 8.3.1).
        if let authority, head.headers["host"] != [authority] { head.headers.add(name: "host", value: authority) }
        return head
    }
}
