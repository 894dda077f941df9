import EventPipeline
import SluiceHTTP
import Testing

/// HTTP/2 that breaks the rules, sent frame by frame.
@Suite("HTTP/2 abuse", .timeLimit(.minutes(5)))
struct HTTP2AbuseTests {
    @Test(
        "a sender that breaks the rules of HTTP/2 loses its stream or its connection, and others are served",
        arguments: [
            ("rapid-reset", "closed"), ("endless-header", "closed"), ("pings", "closed"), ("closed-window", "reset"),
            ("many-streams", "closed"),
            ("data-without-stream", "closed"), ("upper-case-name", "reset"), ("transfer-encoding", "reset"),
            ("wrong-length", "reset"), ("no-preface", "closed"),
        ]
    )
    func abuse(scenario: String, outcome: String) async throws {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        var setup = TestServer.Setup()
        setup.tls = certificate.paths
        setup.http.timeouts.answer = .milliseconds(200)
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
}
