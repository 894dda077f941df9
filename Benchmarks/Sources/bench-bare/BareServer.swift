import NIOCore
import NIOHTTP1
import NIOPosix

/// `bench-bare PORT`: answers 200 to everything, on one event loop a core, until it is killed.
@main
struct BareServer {
    static func main() async throws {
        let port = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 0
        let group = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
        let server = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
                    try channel.pipeline.syncOperations.addHandler(BareHandler())
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .bind(host: "127.0.0.1", port: port)
            .get()
        try await server.closeFuture.get()
    }
}
