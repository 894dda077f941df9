import NIOCore

/// Closes an HTTP/2 connection that its sender keeps open without using it, or does not read.
///
/// The streams have deadlines of their own, but those cannot help if no stream begins, or if nothing can be written any more: then even
/// the end of a stream cannot be sent. It comes before `NIOHTTP2Handler`, because it watches the bytes.
final class HTTP2Deadlines: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// How long a connection that is being shut down stays open without a stream.
    private static let grace = TimeAmount.seconds(2)

    private let timeouts: IngestContext.Timeouts
    private var openStreams = 0
    private var isDraining = false
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
    func streamOpened() {
        openStreams += 1
        timer?.cancel()
    }

    /// Notes that a stream has ended.
    func streamClosed() {
        openStreams -= 1
        if openStreams == 0 { restart(isDraining ? Self.grace : timeouts.idle) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        writeTimer?.cancel()
        if !context.channel.isWritable { writeTimer = close(in: timeouts.answer) }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            isDraining = true
            if openStreams == 0 { restart(Self.grace) }
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
