import EventPipeline
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// The shutdown of the server.
@Suite("HTTP shutdown", .timeLimit(.minutes(5)))
struct ShutdownTests {
    @Test("idle connections are closed at once, and no new ones are accepted")
    func idle() async throws {
        try await TestServer.run { server in
            let used = try await RawClient(to: server.address)
            let unused = try await RawClient(to: server.address)
            #expect(try await used.exchange(Requests.post()).status == 200)
            await server.beginShutdown()
            #expect(try await used.isAtEnd())
            #expect(try await unused.isAtEnd())
            await #expect(throws: (any Error).self) {
                try await RawClient.with(server.address) { try await $0.exchange(Requests.post()) }
            }
        }
    }

    @Test("a request in progress is received completely and answered, with Connection: close")
    func underWay() async throws {
        try await TestServer.run { server in
            let idle = try await RawClient(to: server.address)
            #expect(try await idle.exchange(Requests.post()).status == 200)
            try await RawClient.with(server.address) { client async throws in
                let head = Requests.head(fields: "Content-Length: 15\r\nExpect: 100-continue\r\n")
                #expect(try await client.exchange(head).status == 100)
                await server.beginShutdown()
                #expect(try await idle.isAtEnd())
                try await client.sendByteByByte(Requests.ping)
                let response = try await client.response()
                #expect(response.body == Requests.accepted)
                #expect(response.field("connection") == "close")
                #expect(try await client.isAtEnd())
            }
        }
    }

    @Test(
        "waiting requests, and those received after them, are answered before the pipeline closes",
        .promise("orderly-shutdown")
    )
    func waiting() async throws {
        var setup = TestServer.Setup()
        setup.http.maxWait = .seconds(60)
        setup.http.eventLoopCount = 1
        setup.queueCapacityInEvents = 1
        setup.delivers = false
        try await TestServer.run(setup) { server in
            let idle = try await RawClient(to: server.address)
            #expect(try await idle.exchange(Requests.post()).status == 200)
            try await RawClient.with(server.address) { client in
                try await client.send(Requests.post() + Requests.post() + Requests.post())
                await server.untilBatchesWait(1)
                await server.beginShutdown()
                #expect(try await idle.isAtEnd())
                server.startDelivering()
                #expect(try await client.response().field("connection") == nil)
                #expect(try await client.response().field("connection") == nil)
                // Without `Connection: close` if the shutdown reaches this connection only after the last answer.
                #expect(try await client.response().body == Requests.accepted)
                #expect(try await client.isAtEnd())
            }
            #expect(server.pipeline.statistics.accepted == 4)
        }
    }

    @Test("a request that never ends is cut off at the deadline")
    func deadline() async throws {
        var setup = TestServer.Setup()
        setup.http.drainTimeout = .milliseconds(50)
        try await TestServer.run(setup) { server in
            try await RawClient.with(server.address) { client async throws in
                let head = Requests.head(fields: "Content-Length: 15\r\nExpect: 100-continue\r\n")
                #expect(try await client.exchange(head).status == 100)
                await server.beginShutdown()
                #expect(try await client.isAtEnd())
            }
        }
    }

    @Test("a port in use and invalid settings are errors that name the reason")
    func cannotListen() async throws {
        try await TestServer.run { server in
            var setup = TestServer.Setup()
            setup.http.port = server.address.port
            await #expect { try await TestServer.run(setup) { _ in } } throws: { error in
                let error = error as? IngestError
                return error?.code == .cannotListen && error?.isRetryable == true
                    && error?.description.contains(":\(server.address.port)") == true
            }
        }
        for change: @Sendable (inout IngestConfiguration) -> Void in [
            { $0.port = 65536 }, { $0.port = -1 }, { $0.maximumBodyBytes = 0 }, { $0.eventLoopCount = 0 },
            { $0.maxWait = .seconds(-1) }, { $0.timeouts.idle = .seconds(1 << 40) }, { $0.maximumConnections = 0 },
        ] {
            var setup = TestServer.Setup()
            change(&setup.http)
            await #expect { try await TestServer.run(setup) { _ in } } throws: { error in
                (error as? IngestError)?.code == .misconfigured
            }
        }
    }

    @Test("connections that are made while the shutdown begins are closed")
    func madeDuringShutdown() async throws {
        for _ in 0..<50 {
            try await TestServer.run { server in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<10 {
                        group.addTask {
                            // Refused once the server does not listen any more.
                            guard let client = try? await RawClient(to: server.address) else { return }
                            _ = try await client.rest()
                            client.close()
                        }
                    }
                    await server.beginShutdown()
                    try await group.waitForAll()
                }
            }
        }
    }
}
