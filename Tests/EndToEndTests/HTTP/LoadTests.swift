import EventPipeline
import ServerTestSupport
import SluiceHTTP
import Testing

/// The limits as load generators and slow clients meet them, while an honest sender goes on sending.
@Suite("Load", .timeLimit(.minutes(5)))
struct LoadTests {
    /// Runs `load` while an honest sender, which was connected before, sends one event after another; each must be accepted.
    ///
    /// - Returns: What `load` returned, and the number of accepted events that the honest sender did not send.
    private static func run<Result: Sendable>(
        _ change: (inout IngestConfiguration) -> Void = { _ in },
        load: @escaping @Sendable (TestServer, TestFolder) async throws -> Result
    ) async throws -> (result: Result, accepted: Int) {
        let folder = try TestFolder()
        var setup = TestServer.Setup()
        change(&setup.http)
        return try await TestServer.run(setup) { server in
            let isOver = Flag()
            async let sent = Self.sendHonestly(to: server, until: isOver)
            // The honest sender is connected first.
            while server.pipeline.statistics.accepted == 0 { try await waitBriefly() }
            let result: Result
            do {
                result = try await load(server, folder)
            } catch {
                isOver.set()
                throw error
            }
            isOver.set()
            let honest = try await sent
            return (result, Int(server.pipeline.statistics.accepted) - honest)
        }
    }

    /// Sends one event after another over a connection that is kept, and returns how many.
    private static func sendHonestly(to server: TestServer, until isOver: Flag) async throws -> Int {
        var client = try await RawClient(to: server.address)
        var sent = 0
        while !isOver.isSet {
            let response = try await client.exchange(Requests.post())
            #expect(response.status == 200)
            sent += 1
            guard response.field("connection") == "close" else { continue }
            client.close()
            client = try await RawClient(to: server.address)
        }
        client.close()
        return sent
    }

    @Test("each request that wrk believes was answered with 2xx was accepted, however short its connections are")
    func nothingLost() async throws {
        for requests in [100_000, 10] {
            let (count, accepted) = try await Self.run({ $0.maximumRequestsPerConnection = requests }) {
                try await LoadTool.wrk($0, connections: 64, in: $1)
            }
            #expect(count.succeeded > 0)
            #expect(count.refused == 0)
            // wrk ends without waiting for the answers to its last requests, one for each connection.
            #expect((count.succeeded...count.succeeded + 64).contains(accepted))
        }
    }

    @Test("with more connections than allowed, some are refused with 503, and the others lose nothing")
    func tooManyConnections() async throws {
        let limit: (inout IngestConfiguration) -> Void = {
            $0.maximumConnections = 16
            $0.maximumConnectionsPerAddress = 16
        }
        let (count, accepted) = try await Self.run(limit) { try await LoadTool.wrk($0, connections: 64, in: $1) }
        #expect(count.succeeded > 0)
        #expect(count.refused > 0)
        #expect((count.succeeded...count.succeeded + 64).contains(accepted))
    }

    @Test("with more requests at a time than a connection may have, those that h2load believes succeeded were accepted")
    func tooManyStreams() async throws {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        var setup = TestServer.Setup()
        setup.tls = certificate.paths
        setup.http.http2.maximumStreams = 10
        try await TestServer.run(setup) { server in
            let load = try LoadTool.h2load(server, ["-n", "2000", "-c", "4", "-m", "100"], in: folder)
            let answered = try await LoadTool.answers(of: load)
            // The limit is announced, and h2load heeds it.
            #expect(answered == 2000)
            #expect(server.pipeline.statistics.accepted == 2000)
        }
    }

    @Test(
        "slow clients lose all their connections, and nobody else does",
        arguments: [["-H"], ["-B", "-s", "1000"], ["-X"]]
    )
    func slowClients(kind: [String]) async throws {
        let limits: (inout IngestConfiguration) -> Void = {
            $0.timeouts.head = .seconds(2)
            $0.timeouts.body = .seconds(2)
            $0.timeouts.idle = .seconds(2)
        }
        let (output, accepted) = try await Self.run(limits) { server, folder in
            let tool = try LoadTool.slow(server, kind, in: folder)
            _ = try await tool.waitForEnd()
            return tool.output?.text ?? ""
        }
        #expect(output.contains("No open connections left"), "\(output)")
        #expect(accepted == 0)
    }
}
