import EventPipeline
import Foundation
import ServerTestSupport
import SluiceHTTP
import Testing

/// The number of connections that one key may have.
@Suite("Connections of a key", .timeLimit(.minutes(5)))
struct KeyConnectionTests {
    private static func setup(limits: WriteKey.Limits = WriteKey.Limits()) -> TestServer.Setup {
        let keys = [KeyedExchange.key("web", limits: limits), KeyedExchange.key("app")]
        var setup = TestServer.Setup(plan: KeyedExchange.plan, keys: keys)
        setup.http.maximumConnectionsPerKey = 1
        return setup
    }

    private static func post(_ key: String) -> String { Requests.post(fields: "Authorization: Bearer \(key)-key\r\n") }

    private static func expectRefusal(of request: String, by server: TestServer) async throws {
        try await RawClient.with(server.address) { client in
            let response = try await client.exchange(request)
            #expect(response.status == 503)
            #expect(response.body.contains("too-many-connections-for-key"))
            #expect(response.field("retry-after") == "1")
            #expect(try await client.isAtEnd())
        }
    }

    @Test("connections of one key beyond their limit are 503, until one of them closes or changes its key")
    func limit() async throws {
        try await TestServer.run(Self.setup()) { server in
            let first = try await RawClient(to: server.address)
            #expect(try await first.exchange(Self.post("web")).status == 200)
            #expect(try await first.exchange(Self.post("web")).status == 200)
            try await Self.expectRefusal(of: Self.post("web"), by: server)
            #expect(try await first.exchange(Self.post("app")).status == 200)
            try await Self.expectRefusal(of: Self.post("app"), by: server)
            let second = try await RawClient(to: server.address)
            #expect(try await second.exchange(Self.post("web")).status == 200)
            first.close()
            var status = 503
            while status == 503 {
                status = try await RawClient.with(server.address) { try await $0.exchange(Self.post("app")).status }
            }
            #expect(status == 200)
            #expect(try await second.exchange(Self.post("web")).status == 200)
            second.close()
            #expect(server.pipeline.statistics.accepted == 6)
        }
    }

    @Test("a connection counts for a key in the body, too, and while the key has sent too much")
    func everyRequest() async throws {
        let limits = WriteKey.Limits(eventsPerSecond: 1, burst: 1)
        let body = #"{"batch":[{"type":"track","event":"Ping"}],"writeKey":"web-key"}"#
        let inBody = KeyedExchange.Request(path: "/v1/batch", body: body).text
        for (request, status) in [(Self.post("web"), 200), (inBody, 200)] {
            try await TestServer.run(Self.setup(limits: limits)) { server in
                let client = try await RawClient(to: server.address)
                #expect(try await client.exchange(request).status == status)
                #expect(try await client.exchange(Self.post("web")).status == 429)
                try await Self.expectRefusal(of: request, by: server)
                client.close()
            }
        }
    }

    @Test("HTTP/2 streams count for their key like connections, until they close")
    func streams() async throws {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        var setup = Self.setup()
        setup.tls = certificate.paths
        setup.http.maximumConnectionsPerKey = 4
        try await TestServer.run(setup) { server in
            let arguments = [
                String(server.address.port), certificate.certificate, "/v1/events?key=web-key", "4",
            ]
            let input = Pipe()
            let client = try ClientScript.start("http2_streams", arguments, in: folder, input: .pipe(input))
            // The connection and three streams are within the limit.
            let refusal = try await client.output?.line(containing: "answer")
            #expect(refusal?.hasPrefix("answer 7 ") == true)
            #expect(refusal?.contains("too-many-connections-for-key") == true)
            let other = try await ClientScript.run("http2_streams", arguments.dropLast() + ["1"], in: folder)
            #expect(other.first?.contains("too-many-connections-for-key") == true)
            try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
            #expect(try await client.waitForEnd() == .exit(0))
            #expect(client.output?.lines.last == "closed")
            #expect(server.pipeline.statistics.accepted == 3)
        }
    }

    @Test("a connection of HTTP/2 counts once for all its requests, besides their streams, and ends after a refusal")
    func http2() async throws {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        var setup = Self.setup()
        setup.tls = certificate.paths
        // One more for the stream of the request.
        setup.http.maximumConnectionsPerKey = 2
        try await TestServer.run(setup) { server in
            let arguments = [String(server.address.port), certificate.certificate, "/v1/events?key=web-key"]
            let first = try ClientScript.start("http2_shutdown", arguments, in: folder)
            _ = try await first.output?.line(containing: "ready")
            let lines = try await ClientScript.run("http2_shutdown", arguments, in: folder)
            #expect(lines.count == 5)
            #expect(lines.dropFirst(2).first?.contains("too-many-connections-for-key") == true)
            #expect(lines.last == "closed")
            await server.beginShutdown()
            #expect(try await first.waitForEnd() == .exit(0))
            // Both requests of the first connection, and none of the second.
            #expect(server.pipeline.statistics.accepted == 2)
        }
    }
}
