import EventPipeline
import HTTPIngest
import NIOCore
import Testing

/// What connections, bodies and unread answers take of the memory that the server has for them.
@Suite("HTTP memory", .timeLimit(.minutes(1)))
struct MemoryBudgetTests {
    private static let connection = 128 << 10

    private static func memory(_ bytes: Int) -> TestServer.Setup {
        var setup = TestServer.Setup()
        setup.http.maximumBufferedBytes = bytes
        setup.http.eventLoopCount = 1
        return setup
    }

    @Test("every open connection is counted, and one for which there is no memory gets 503")
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
            while server.http.reservedBytes > 0 { await Task.yield() }
        }
    }

    @Test("an answer that nobody reads is counted until it has left, or its sender is gone")
    func unreadAnswers() async throws {
        let limit = 4 * Self.connection
        try await TestServer.run(Self.memory(limit)) { server in
            let body =
                "[" + Array(repeating: #"{"name":"Nothing","userId":1}"#, count: 100).joined(separator: ",") + "]"
            let request = Requests.post(body)
            let client = try await RawClient(to: server.address, readsByItself: false)
            // More answers than the buffers of both kernels hold.
            let requests = ByteBuffer(string: String(repeating: request, count: 1000))
            for _ in 0..<3 { client.channel.writeAndFlush(requests, promise: nil) }
            let other = try await RawClient(to: server.address)
            var (most, isHeld) = (0, false)
            while !isHeld {
                let before = server.http.reservedBytes
                most = max(most, before)
                // Two looks, between which the loop answered another, say that the answer is not on its way.
                #expect(try await other.exchange(Requests.plain("GET", "/livez")).status == 200)
                isHeld = before > 2 * Self.connection && server.http.reservedBytes == before
            }
            #expect(most <= limit)
            client.close()
            other.close()
            while server.http.reservedBytes > 0 { await Task.yield() }
        }
    }

    @Test("what is made of a body is counted as it grows: where there is no room it is 503, and nothing was taken")
    func growth() async throws {
        // Lines of 16 bytes give events of ten times as many.
        let body = Array(repeating: Requests.ping, count: 20_000).joined(separator: "\n")
        try await TestServer.run(Self.memory(2 * Self.connection + (1 << 20))) { server in
            try await RawClient.with(server.address) { client in
                let response = try await client.exchange(Requests.post(body, type: "application/x-ndjson"))
                #expect(response.status == 503)
                #expect(response.body.hasPrefix(#"{"error":{"code":"overloaded""#))
            }
            #expect(server.pipeline.statistics.accepted == 0)
            while server.http.reservedBytes > 0 { await Task.yield() }
            let small = try await RawClient.with(server.address) { try await $0.exchange(Requests.post()) }
            #expect(small.status == 200)
        }
    }

    @Test(
        "unless one is set, the limit of connections is what memory and descriptors allow, whichever is less",
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
