import NIOCore
import NIOHTTP2

/// Watches the frames of an HTTP/2 connection in both directions, and ends it if its sender floods it.
///
/// It comes before `NIOHTTP2Handler`, which does not count every type of frame, closes all streams at once if there are too many of
/// those that it counts, and reports the error of a stream in the same way as that of the connection. Only the `GOAWAY` that it
/// writes tells the two apart. That frame does not state the last stream that may have been processed; here it gets its number, so
/// that clients may send later requests again.
///
/// Once the end has begun, what arrives is discarded, but not the frames before the one that began it. `HTTP2Streams` lets the complete
/// requests be answered and closes the connection.
final class FrameGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let streams: HTTP2Streams
    private var allowance: FrameAllowance
    private var received = FrameHeaderReader(skippedBytes: FrameHeaderReader.prefaceBytes)
    private var sent = FrameHeaderReader(skippedBytes: 0)
    private var lastStream: UInt32 = 0
    private var hasEnded = false

    init(streams: HTTP2Streams, limits: IngestConfiguration.HTTP2) {
        self.streams = streams
        allowance = FrameAllowance(
            maximumStreams: limits.maximumStreams,
            maximumResets: limits.maximumResets,
            now: .now()
        )
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasEnded else { return }
        var bytes = unwrapInboundIn(data)
        let now = NIODeadline.now()
        while let frame = received.next(in: &bytes) {
            // The numbers of clients' streams are odd.
            let beginsRequest = frame.kind == FrameHeader.headers && frame.stream > lastStream && frame.stream % 2 == 1
            guard allowance.receive(frame, beginsRequest: beginsRequest, now: now) else {
                let earlier = unwrapInboundIn(data).readableBytes - bytes.readableBytes - FrameHeader.bytes
                forward(unwrapInboundIn(data), prefix: earlier, context)
                if !hasEnded { endFlood(context) }
                return
            }
            if beginsRequest { lastStream = frame.stream }
        }
        context.fireChannelRead(data)
    }

    /// Hands on the beginning of what was read; nothing if it is negative, because the next frame began in an earlier read.
    private func forward(_ bytes: ByteBuffer, prefix count: Int, _ context: ChannelHandlerContext) {
        guard count > 0, let prefix = bytes.getSlice(at: bytes.readerIndex, length: count) else { return }
        context.fireChannelRead(NIOAny(prefix))
    }

    /// `NIOHTTP2Handler` writes whole frames, except that the payload of `DATA` follows by itself.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var bytes = unwrapOutboundIn(data)
        guard let frame = sent.next(in: &bytes) else { return context.write(data, promise: promise) }
        let payload = bytes
        // Skips the payload; there is no second frame.
        _ = sent.next(in: &bytes)
        switch frame.kind {
        case FrameHeader.goAway where HTTP2ErrorCode(in: payload, at: 4) != .noError:
            guard !hasEnded else { break }
            return end(HTTP2ErrorCode(in: payload, at: 4), context, promise)
        case FrameHeader.reset where HTTP2ErrorCode(in: payload, at: 0).isViolation:
            context.write(data, promise: promise)
            if !hasEnded, !allowance.violate(now: .now()) { endFlood(context) }
            return
        case FrameHeader.data:
            allowance.answer(bytes: frame.length)
        default:
            break
        }
        context.write(data, promise: promise)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is FirstGoAway else { return context.triggerUserOutboundEvent(event, promise: promise) }
        context.writeAndFlush(NIOAny(Self.goAway(lastStream: .max >> 1, .noError)), promise: promise)
    }

    private func endFlood(_ context: ChannelHandlerContext) {
        end(.enhanceYourCalm, context, nil)
        context.flush()
    }

    private func end(_ code: HTTP2ErrorCode, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        hasEnded = true
        context.write(NIOAny(Self.goAway(lastStream: lastStream, code)), promise: promise)
        streams.end()
    }

    private static func goAway(lastStream: UInt32, _ code: HTTP2ErrorCode) -> ByteBuffer {
        // The length of the payload, the type, no flags, and stream 0.
        var frame = ByteBuffer(bytes: [0, 0, 8, FrameHeader.goAway, 0, 0, 0, 0, 0])
        frame.writeMultipleIntegers(lastStream, UInt32(code.networkCode))
        return frame
    }
}

/// An outbound event: the first `GOAWAY` of a graceful shutdown; see `GracefulGoAway`.
struct FirstGoAway {}

extension HTTP2ErrorCode {
    /// Takes the code from the payload of a frame, which a buffer begins with.
    fileprivate init(in payload: ByteBuffer, at offset: Int) {
        let code: UInt32? = payload.getInteger(at: payload.readerIndex + offset)
        self.init(networkCode: code.map(Int.init) ?? 0)
    }

    /// Whether the server resets a stream with it because its sender has violated the protocol.
    fileprivate var isViolation: Bool { self != .noError && self != .cancel && self != .refusedStream }
}
