import EventPipeline
import NIOCore
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// The memory budget of connections, bodies and unread responses.
@Suite("HTTP memory", .timeLimit(.minutes(5)))
struct MemoryBudgetTests {
    private static let connection = 128 << 10

    private static func memory(_ bytes: Int) -> TestServer.Setup {
        var setup = TestServer.Setup()
        setup.http.maximumBufferedBytes = bytes
        setup.http.eventLoopCount = 1
        return setup
    }

    @Test(
        "every open connection counts against the memory budget, and one that exceeds it gets 503",
        .promise("memory-limits")
    )
    func connections() async throws {
        var setup = Self.memory(3 * Self.connection)
        setup.http.maximumConnections = 100
        try await TestServer.run(setup) { server in
            var clients: [RawClient] = []
            for number in 1...3 {
                let client = try await RawClient(to: server.address)
                #expect(try await client.exchange(Requests.post()).status == 200)
                #expect(server.http.reservedBytes == number * Self.connection)
                clients.append(client)
            }
            try await RawClient.with(server.address) { client in
                let response = try await client.response()
                #expect(response.status == 503)
                #expect(response.body.contains("too-many-connections"))
            }
            for client in clients { client.close() }
            try await Self.waitUntilReleased(by: server)
        }
    }

    /// Waits until nothing is reserved any more.
    private static func waitUntilReleased(by server: TestServer) async throws {
        while server.http.reservedBytes > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Requests `/livez` until neither the bodies' turns nor the reserved memory change in between.
    ///
    /// The only event loop handles every connection between two of these requests.
    private static func waitUntilStill(_ server: TestServer, _ client: RawClient) async throws -> (Int, bytes: Int) {
        var (last, looks) = ((turns: -1, bytes: 0), 0)
        while looks < 10 {
            try Task.checkCancellation()
            #expect(try await client.exchange(Requests.plain("GET", "/livez")).status == 200)
            let now = (turns: await server.http.turnStatistics().turns, bytes: server.http.reservedBytes)
            looks = now == last && now.bytes > 2 * connection ? looks + 1 : 0
            last = now
        }
        return last
    }

    @Test(
        "an unread response counts until it is sent, and no further request of its sender is handled meanwhile",
        .promise("memory-limits")
    )
    func unreadAnswers() async throws {
        try await TestServer.run(Self.memory(8 * Self.connection)) { server in
            let rejected = Array(repeating: #"{"name":"Nothing","userId":1}"#, count: 100).joined(separator: ",")
            let request = Requests.post("[" + rejected + "]")
            let (client, other) = (
                try await RawClient(to: server.address, readsByItself: false), try await RawClient(to: server.address)
            )
            // More responses than the buffers of both kernels hold.
            let (count, requests) = (3000, ByteBuffer(string: String(repeating: request, count: 1000)))
            for _ in 0..<count / 1000 { client.channel.writeAndFlush(requests, promise: nil) }
            let (turns, bytes) = try await Self.waitUntilStill(server, other)
            #expect(turns < count)
            let counted = bytes - 2 * Self.connection
            try await client.channel.setOption(.autoRead, value: true).get()
            let answer = try await client.response()
            let answerBytes = answer.header.utf8.count + answer.body.utf8.count
            // The limit on unread responses, plus the response that exceeded it, one in progress, and one that was read.
            #expect(counted >= answerBytes && counted <= 32 << 10 + 2 * answerBytes + 64 << 10)
            for _ in 1..<count { #expect(try await client.response().status == 422) }
            #expect(try await other.exchange(Requests.plain("GET", "/livez")).status == 200)
            #expect(server.http.reservedBytes == 2 * Self.connection)
            client.close()
            other.close()
            try await Self.waitUntilReleased(by: server)
        }
    }

    @Test("an unread response no longer counts once its sender has disconnected", .promise("memory-limits"))
    func unreadAnswerOfLeaver() async throws {
        try await TestServer.run(Self.memory(8 * Self.connection)) { server in
            let rejected = Array(repeating: #"{"name":"Nothing","userId":1}"#, count: 100).joined(separator: ",")
            let request = Requests.post("[" + rejected + "]")
            let (client, other) = (
                try await RawClient(to: server.address, readsByItself: false), try await RawClient(to: server.address)
            )
            let requests = ByteBuffer(string: String(repeating: request, count: 1000))
            for _ in 0..<3 { client.channel.writeAndFlush(requests, promise: nil) }
            _ = try await Self.waitUntilStill(server, other)
            client.close()
            other.close()
            try await Self.waitUntilReleased(by: server)
        }
    }

    @Test(
        "a body's memory counts as the body grows: beyond the limit it is 503, and nothing is accepted",
        .promise("memory-limits")
    )
    func growth() async throws {
        // Lines of 16 bytes become events of ten times the size.
        let body = Array(repeating: Requests.ping, count: 20_000).joined(separator: "\n")
        try await TestServer.run(Self.memory(2 * Self.connection + (1 << 20))) { server in
            try await RawClient.with(server.address) { client in
                let response = try await client.exchange(Requests.post(body, type: "application/x-ndjson"))
                #expect(response.status == 503)
                #expect(response.body.hasPrefix(#"{"error":{"code":"overloaded""#))
            }
            #expect(server.pipeline.statistics.accepted == 0)
            try await Self.waitUntilReleased(by: server)
            let small = try await RawClient.with(server.address) { try await $0.exchange(Requests.post()) }
            #expect(small.status == 200)
        }
    }

    @Test(
        "the default limit on connections is the lesser of what memory and file descriptors allow",
        .promise("memory-limits"),
        arguments: [
            (nil, 1_048_576, 192 << 20, 1024), (nil, 1024, 192 << 20, 640), (nil, 1_048_576, 1 << 30, 5461),
            (nil, 384, 192 << 20, 1), (nil, 100, 192 << 20, 1), (7, 100, 192 << 20, 7), (5000, 1024, 192 << 20, 5000),
        ] as [(Int?, Int, Int, Int)]
    )
    func limit(stated: Int?, descriptors: Int, memory: Int, expected: Int) {
        let limit = ConnectionLimit(stated: stated, descriptors: descriptors, memory: memory)
        #expect(limit.connections == expected)
        #expect(limit.allowedByDescriptors == descriptors - 384)
    }
}
