import NIOCore
import NIOHTTP1
import NIOPosix

/// `bench-bare PORT LOOPS`: answers every request with 200, on LOOPS event loops, until it is killed.
@main
struct BareServer {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        guard arguments.count == 2, arguments[1] > 0 else { throw BenchmarkError("usage: bench-bare PORT LOOPS") }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: arguments[1])
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
            .bind(host: "127.0.0.1", port: arguments[0])
            .get()
        try await server.closeFuture.get()
    }
}

/// Why the measurement failed.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
