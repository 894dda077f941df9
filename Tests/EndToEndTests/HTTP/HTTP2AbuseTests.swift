import EventPipeline
import Foundation
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// HTTP/2 that breaks the rules, sent frame by frame.
@Suite("HTTP/2 abuse", .timeLimit(.minutes(5)))
struct HTTP2AbuseTests {
    @Test(
        "a sender that violates HTTP/2 loses its stream or its connection, and others are served",
        arguments: [
            ("rapid-reset", "closed"), ("endless-header", "closed"), ("pings", "closed"), ("closed-window", "reset"),
            ("many-streams", "reset"),
            ("data-without-stream", "closed"), ("upper-case-name", "reset"), ("transfer-encoding", "reset"),
            ("wrong-length", "reset"), ("no-preface", "closed"), ("silent", "closed"), ("half-header", "closed"),
        ]
    )
    func abuse(scenario: String, outcome: String) async throws {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        var setup = TestServer.Setup()
        setup.tls = certificate.paths
        setup.http.timeouts.answer = .milliseconds(200)
        setup.http.timeouts.head = .seconds(5)
        try await TestServer.run(setup) { server in
            let arguments = [scenario, String(server.address.port), certificate.certificate]
            let output = try await ClientScript.run("http2_abuse", arguments, in: folder)
            #expect(output == [outcome])
            let other = try await Command.run(
                "curl",
                [
                    "-s", "--http2", "--cacert", certificate.certificate, "-H", "Content-Type: application/json",
                    "-d", Requests.ping, "https://\(server.address)/v1/events",
                ]
            )
            #expect(other.text == Requests.accepted)
            #expect(server.pipeline.statistics.accepted == 1)
        }
    }

    @Test(
        "a request that is complete before a flood is answered, and GOAWAY states no later one",
        .promise("malformed-http")
    )
    func requestBeforeFlood() async throws {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        var setup = TestServer.Setup()
        setup.tls = certificate.paths
        try await TestServer.run(setup) { server in
            let arguments = ["request-before-flood", String(server.address.port), certificate.certificate]
            let output = try await ClientScript.run("http2_abuse", arguments, in: folder)
            #expect(output == ["answer, last stream 1"])
            #expect(server.pipeline.statistics.accepted == 1)
        }
    }

    @Test("streams count like connections: one address cannot take the memory of all")
    func streams() async throws {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        var setup = TestServer.Setup()
        setup.tls = certificate.paths
        setup.http.maximumConnectionsPerAddress = 3
        try await TestServer.run(setup) { server in
            // Streams of one connection that stay open, because their bodies do not end.
            let arguments = ["many-streams", String(server.address.port), certificate.certificate]
            let output = try await ClientScript.run("http2_abuse", arguments, in: folder)
            #expect(output == ["reset"] || output == ["closed"])
            while server.http.reservedBytes > 0 { try Task.checkCancellation() }
        }
    }

    @Test("a connection beyond the limit of its address that speaks HTTP/2 is closed at once")
    func refused() async throws {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        var setup = TestServer.Setup()
        setup.tls = certificate.paths
        setup.http.maximumConnectionsPerAddress = 1
        try await TestServer.run(setup) { server in
            let first = try await RawClient(to: server.address)
            let arguments = ["silent", String(server.address.port), certificate.certificate]
            #expect(try await ClientScript.run("http2_abuse", arguments, in: folder) == ["closed"])
            first.close()
        }
    }

    @Test("a sender that reads nothing loses its connection, and its memory is free again")
    func unread() async throws {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        var setup = TestServer.Setup()
        setup.tls = certificate.paths
        setup.http.timeouts.answer = .milliseconds(500)
        try await TestServer.run(setup) { server in
            let arguments = ["unread", String(server.address.port), certificate.certificate]
            let script = RepositoryFile.url("Tests/Support/Clients/http2_abuse.py").path
            let client = try SluiceProcess(
                [script] + arguments,
                executable: try ClientScript.program("python3"),
                in: folder,
                input: .pipe(Pipe())
            )
            defer { client.send(SIGKILL) }
            _ = try await client.output?.line(containing: "sending")
            while server.http.reservedBytes == 0 { try Task.checkCancellation() }
            while server.http.reservedBytes > 0 { try Task.checkCancellation() }
        }
    }
}
