import NIOCore

/// The streams of an HTTP/2 connection, and the deadlines of the connection itself.
///
/// It closes a connection that its sender keeps open without using it, or does not read: the streams have deadlines of their own, but
/// those cannot help if no stream begins, or if nothing can be written any more: then even the end of a stream cannot be sent. It
/// comes before `NIOHTTP2Handler`, because it watches the bytes.
///
/// After an error of the connection, it closes it once the requests that are complete have been answered.
final class HTTP2Streams: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// How long a connection that is being shut down stays open without a stream.
    private static let grace = TimeAmount.seconds(2)

    private let timeouts: IngestContext.Timeouts
    private var streams: [ObjectIdentifier: any Channel] = [:]
    private var isDraining = false
    private var isEnding = false
    private var timer: Scheduled<Void>?
    private var writeTimer: Scheduled<Void>?
    private var context: ChannelHandlerContext?

    init(timeouts: IngestContext.Timeouts) {
        self.timeouts = timeouts
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // Until the first stream begins.
        restart(timeouts.head)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        writeTimer?.cancel()
        self.context = nil
    }

    /// Notes that a stream has begun.
    func add(_ stream: any Channel) {
        streams[ObjectIdentifier(stream)] = stream
        timer?.cancel()
        stream.closeFuture.assumeIsolated().whenComplete { [self] _ in
            streams[ObjectIdentifier(stream)] = nil
            guard streams.isEmpty else { return }
            if isEnding {
                context?.channel.close(promise: nil)
            } else {
                restart(isDraining ? Self.grace : timeouts.idle)
            }
        }
    }

    /// Ends the connection after an error: requests that are complete are answered first, and the others reset.
    func end() {
        // Later, because the error may have been noticed while a frame is written.
        context?.eventLoop.assumeIsolated().execute { [self] in
            guard let channel = context?.channel, !isEnding else { return }
            isEnding = true
            guard !streams.isEmpty else { return channel.close(promise: nil) }
            for stream in streams.values { stream.pipeline.fireUserInboundEventTriggered(ConnectionEnding()) }
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        writeTimer?.cancel()
        if !context.channel.isWritable { writeTimer = close(in: timeouts.answer) }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            isDraining = true
            if streams.isEmpty { restart(Self.grace) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func restart(_ time: TimeAmount) {
        timer?.cancel()
        timer = close(in: time)
    }

    private func close(in time: TimeAmount) -> Scheduled<Void>? {
        guard let channel = context?.channel else { return nil }
        return channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}

/// An inbound event of a stream: its connection ends, and nothing more of its request will arrive.
struct ConnectionEnding {}
