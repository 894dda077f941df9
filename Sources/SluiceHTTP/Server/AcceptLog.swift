import EventModel
import EventPipeline
package import Logging
package import NIOCore

/// Logs that connections cannot be accepted, for example because the process may open no further files, and that they can be again.
///
/// It is the first handler of a listening socket. Its events happen on the socket's event loop.
package final class AcceptLog: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = any Channel

    private let logger: Logger
    private let clock: RelativeClock
    private var failures = FailureEpisode()

    package init(logger: Logger, clock: some Clock<Duration> = ContinuousClock()) {
        self.logger = logger
        self.clock = RelativeClock(clock)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if failures.isFailing, let summary = failures.ended(now: clock.now()) {
            logger.info("Connections are accepted again.", metadata: metadata(of: summary, context))
        }
        context.fireChannelRead(data)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let summary = failures.failed(now: clock.now()) {
            logger.error(
                "Connections cannot be accepted; the server will try again.",
                metadata: metadata(of: summary, context).merging(["error": "\(error)"]) { $1 }
            )
        }
        context.fireErrorCaught(error)
    }

    private func metadata(of summary: FailureEpisode.Summary, _ context: ChannelHandlerContext) -> Logger.Metadata {
        let address = context.channel.localAddress.map { "\($0)" } ?? ""
        return summary.metadata.merging(["address": "\(address)"]) { $1 }
    }
}
