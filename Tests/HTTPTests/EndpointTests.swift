import EventModel
import EventPipeline
import EventValidation
import Logging
import NIOCore
import NIOPosix
import ServerTestSupport
import SluiceHTTP
import Testing

/// The ingest handlers in a SwiftNIO server other than `IngestServer`.
@Suite("HTTP endpoint", .timeLimit(.minutes(5)))
struct EndpointTests {
    @Test("a user's own bootstrap can mount the endpoint after a handler that transforms bytes")
    func mounted() async throws {
        try await TestServer.run { server in
            try await Self.withBootstrap(server.pipeline) { address, _ in
                try await RawClient.with(address) { client async throws in
                    for _ in 0..<2 {
                        let response = try await client.exchange(Inverting.invert(Requests.post()))
                        #expect(response.status == 200)
                        #expect(response.body == Requests.accepted)
                    }
                    #expect(try await client.exchange(Inverting.invert(Requests.plain("GET", "/readyz"))).status == 200)
                }
            }
            #expect(server.pipeline.statistics.accepted == 2)
        }
    }

    @Test("a mounted endpoint answers what it received before it shuts down, and accepts no connections afterwards")
    func shutDown() async throws {
        try await TestServer.run { server in
            try await Self.withBootstrap(server.pipeline) { address, endpoint in
                let idle = try await RawClient(to: address)
                #expect(try await idle.exchange(Inverting.invert(Requests.post())).status == 200)
                await endpoint.shutDown(on: MultiThreadedEventLoopGroup.singleton.next())
                #expect(try await idle.isAtEnd())
                let late = try await RawClient(to: address)
                #expect(try await late.isAtEnd())
                #expect(endpoint.reservedBytes == 0)
            }
        }
    }

    @Test("an endpoint refuses settings that are out of range")
    func settings() async throws {
        try await TestServer.run { server in
            var configuration = IngestConfiguration()
            configuration.maximumBodyBytes = 0
            let error = #expect(throws: IngestError.self) { try Self.endpoint(configuration, server.pipeline) }
            #expect(error?.code == .misconfigured)
        }
    }

    private static func endpoint(
        _ configuration: IngestConfiguration,
        _ pipeline: Pipeline
    ) throws -> IngestEndpoint {
        try IngestEndpoint(
            configuration: configuration,
            catalog: EventCatalog(plan: TestServer.plan),
            pipeline: pipeline,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    private static func withBootstrap(
        _ pipeline: Pipeline,
        _ body: (IngestServer.Address, IngestEndpoint) async throws -> Void
    ) async throws {
        let endpoint = try Self.endpoint(IngestConfiguration(), pipeline)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Inverting())
                    try endpoint.configurePipeline(of: channel)
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        let port = try #require(channel.localAddress?.port)
        do {
            try await body(IngestServer.Address(host: "127.0.0.1", port: port), endpoint)
            try await channel.close()
        } catch {
            try await channel.close()
            throw error
        }
    }
}

/// A stand-in for TLS that inverts the case of received letters.
private final class Inverting: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let received = String(buffer: unwrapInboundIn(data))
        context.fireChannelRead(wrapInboundOut(ByteBuffer(string: Self.invert(received))))
    }

    static func invert(_ text: String) -> String {
        String(text.map { $0.isUppercase ? Character($0.lowercased()) : Character($0.uppercased()) })
    }
}
