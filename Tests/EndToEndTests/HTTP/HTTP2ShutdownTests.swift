import EventPipeline
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// The graceful shutdown of HTTP/2 connections.
@Suite("HTTP/2 shutdown", .timeLimit(.minutes(5)))
struct HTTP2ShutdownTests {
    /// Runs a server with a certificate.
    private static func run(_ body: @Sendable (TestServer, TestCertificate, TestFolder) async throws -> Void)
        async throws
    {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        var setup = TestServer.Setup()
        setup.tls = certificate.paths
        try await TestServer.run(setup) { try await body($0, certificate, folder) }
    }

    @Test(
        "a request that was on its way when the shutdown began is answered before the connection ends",
        .promise("orderly-shutdown")
    )
    func requestOnItsWay() async throws {
        try await Self.run { server, certificate, folder in
            let arguments = [String(server.address.port), certificate.certificate]
            let client = try ClientScript.start("http2_shutdown", arguments, in: folder)
            let output = try #require(client.output)
            _ = try await output.line(containing: "ready")
            await server.beginShutdown()
            #expect(try await client.waitForEnd() == .exit(0), "\(client.errors.text)")
            #expect(
                output.lines == ["ready", "goaway 2147483647 0", "answer \(Requests.accepted)", "goaway 3 0", "closed"]
            )
            #expect(server.pipeline.statistics.accepted == 2)
        }
    }

    @Test(
        "a shutdown under load ends no request that has begun, and accepts exactly the events that it answers with 2xx",
        .promise("orderly-shutdown"),
        arguments: 0..<5
    )
    func underLoad(round: Int) async throws {
        try await Self.run { server, certificate, folder in
            // One connection: of several, one could still be in its handshake, and would be closed without an answer.
            let load = try LoadTool.h2load(server, ["-n", "10000000", "-c", "1", "-m", "80"], in: folder)
            while server.pipeline.statistics.accepted < 200 { try await waitBriefly() }
            await server.beginShutdown()
            let answered = try await LoadTool.answers(of: load)
            #expect(answered == server.pipeline.statistics.accepted)
        }
    }
}
