import EventPipeline
import Foundation
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// HTTPS and HTTP/2, as `curl` and `openssl` see them.
@Suite("TLS and HTTP/2", .timeLimit(.minutes(5)))
struct TLSTests {
    private struct Result {
        let status: Int
        let version: String
        let body: String
    }

    /// Runs a server with a new certificate.
    private static func run(
        _ change: (inout TestServer.Setup) -> Void = { _ in },
        _ body: @Sendable (TestServer, TestCertificate, TestFolder) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        var setup = TestServer.Setup()
        setup.tls = certificate.paths
        change(&setup)
        try await TestServer.run(setup) { try await body($0, certificate, folder) }
    }

    private static func curl(
        _ server: TestServer,
        _ certificate: TestCertificate,
        _ path: String,
        _ arguments: [String]
    ) async throws -> Result {
        let result = try await Command.run(
            "curl",
            ["-s", "--cacert", certificate.certificate, "-w", "\n%{http_code} %{http_version}"] + arguments
                + ["https://\(server.address)\(path)"]
        )
        let parts = result.text.split(separator: "\n", omittingEmptySubsequences: false)
        let last = (parts.last ?? "").split(separator: " ")
        return Result(
            status: last.first.flatMap { Int($0) } ?? 0,
            version: last.count > 1 ? String(last[1]) : "",
            body: parts.dropLast().joined(separator: "\n")
        )
    }

    @Test("HTTP/1.1 and HTTP/2 over TLS have the same answers", arguments: [("--http1.1", "1.1"), ("--http2", "2")])
    func answers(option: String, version: String) async throws {
        let many = (0..<65).flatMap { ["-H", "X-\($0): 1"] }
        try await Self.run { server, certificate, folder in
            let large = folder.url.appending(path: "large").path
            try Data(repeating: 32, count: (8 << 20) + 1).write(to: URL(filePath: large))
            let cases: [(String, [String], Int, String)] = [
                ("/v1/events", ["-d", Requests.ping], 200, Requests.accepted),
                ("/v1/events", ["-d", "[\(Requests.ping),\(Requests.ping)]"], 200, #"{"accepted":2,"rejected":[]}"#),
                ("/v1/events", ["-d", #"{"name":"Unknown"}"#], 422, #"{"accepted":0,"rejected":[{"index":0"#),
                ("/v1/events", ["-d", "not json"], 400, #"{"error":{"code":"malformed-json""#),
                ("/v1/events", ["-H", "Expect: 100-continue", "-d", Requests.ping], 200, Requests.accepted),
                ("/v1/events", ["--data-binary", "@\(large)"], 413, #"{"error":{"code":"too-large""#),
                ("/v1/events", ["-X", "POST", "-T", large], 413, #"{"error":{"code":"too-large""#),
                ("/v1/events", ["-d", Requests.ping] + many, 431, #"{"error":{"code":"header-too-large""#),
                ("/v1/track", ["-d", #"{"type":"track","event":"Ping","userId":"u"}"#], 200, #"{"success":true"#),
                ("/v1/elsewhere", ["-d", "{}"], 404, #"{"error":{"code":"not-found""#),
                ("/readyz", [], 200, #"{"status":"ok"}"#),
            ]
            for (path, arguments, status, body) in cases {
                let fields = ["-H", "Content-Type: application/json", option]
                let result = try await Self.curl(server, certificate, path, fields + arguments)
                #expect(result.status == status, "\(path) \(arguments.prefix(4))")
                #expect(result.version == version)
                #expect(result.body.hasPrefix(body), "\(result.body)")
            }
            #expect(server.pipeline.statistics.accepted == 5)
        }
    }

    @Test("a header of HTTP/2 beyond the limit closes the connection, and the next sender is served")
    func longHeader() async throws {
        try await Self.run { server, certificate, _ async throws in
            let long = "X: " + String(repeating: "x", count: 20_000)
            let refused = try await Self.curl(server, certificate, "/readyz", ["--http2", "-H", long])
            #expect(refused.status == 0)
            #expect(try await Self.curl(server, certificate, "/readyz", ["--http2"]).status == 200)
        }
    }

    @Test("requests of one HTTP/2 connection at the same time are all answered")
    func manyStreams() async throws {
        try await Self.run { server, certificate, _ async throws in
            let urls = "https://\(server.address)/v1/events?[1-100]"
            let result = try await Command.run(
                "curl",
                [
                    "-s", "-Z", "--http2", "--cacert", certificate.certificate, "-H", "Content-Type: application/json",
                    "-d", Requests.ping, "-w", "%{http_code}\n", "-o", "/dev/null", urls,
                ]
            )
            #expect(result.text.split(separator: "\n").filter { $0 == "200" }.count == 100)
            #expect(server.pipeline.statistics.accepted == 100)
        }
    }

    @Test("TLS 1.2 and 1.3 are spoken, and older versions are refused")
    func versions() async throws {
        try await Self.run { server, _, _ async throws in
            for (option, isSpoken) in [("-tls1", false), ("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)] {
                let result = try await Command.run(
                    "openssl",
                    ["s_client", "-connect", "\(server.address)", option, "-cipher", "ALL:@SECLEVEL=0"]
                )
                #expect((result.status == 0) == isSpoken, "\(option)")
            }
            // Neither without forward secrecy, nor without authenticated encryption.
            for cipher in ["AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA", "NULL", "ECDHE-ECDSA-CHACHA20-POLY1305"] {
                let result = try await Command.run(
                    "openssl",
                    ["s_client", "-connect", "\(server.address)", "-tls1_2", "-cipher", "\(cipher):@SECLEVEL=0"]
                )
                #expect((result.status == 0) == cipher.hasSuffix("POLY1305"), "\(cipher)")
            }
        }
    }

    @Test("with authorities for clients, only a client with a certificate from one of them is served")
    func clientCertificates() async throws {
        let folder = try TestFolder()
        let client = try await TestCertificate("client", in: folder)
        try await Self.run({ $0.tls?.clientAuthorities = client.certificate }) { server, certificate, _ async throws in
            let known = ["--cert", client.certificate, "--key", client.privateKey]
            #expect(try await Self.curl(server, certificate, "/livez", known).status == 200)
            #expect(try await Self.curl(server, certificate, "/livez", []).status == 0)
            let stranger = ["--cert", certificate.certificate, "--key", certificate.privateKey]
            #expect(try await Self.curl(server, certificate, "/livez", stranger).status == 0)
        }
    }

    @Test(
        "a new certificate is used as soon as both files are new, and until then the previous one",
        .promise("replaced-secrets")
    )
    func reload() async throws {
        try await Self.run { server, first, folder async throws in
            let tls = try #require(server.tls)
            let second = try await TestCertificate("second", in: folder)
            func replace(_ file: String, with other: String) throws {
                try Data(contentsOf: URL(filePath: other)).write(to: URL(filePath: file), options: .atomic)
                tls.look()
            }
            let kept = first.certificate + ".kept"
            try FileManager.default.copyItem(atPath: first.certificate, toPath: kept)
            try replace(first.certificate, with: second.certificate)
            let result = try await Command.run("curl", ["-s", "--cacert", kept, "https://\(server.address)/readyz"])
            #expect(result.status == 0)
            try replace(first.privateKey, with: second.privateKey)
            #expect(try await Self.curl(server, second, "/readyz", []).status == 200)
        }
    }

    @Test("a handshake that does not come is cut after the time for a header")
    func silentHandshake() async throws {
        try await Self.run({ $0.http.timeouts.head = .milliseconds(50) }) { server, _, _ async throws in
            try await RawClient.with(server.address) { client async throws in
                #expect(try await client.isAtEnd())
            }
        }
    }

    @Test("a handshake in progress does not delay the shutdown")
    func shutdown() async throws {
        try await Self.run { server, _, _ async throws in
            let client = try await RawClient(to: server.address)
            // The server has accepted the connection once it has answered the next one.
            try await RawClient.with(server.address) { next in
                try await next.finishSending()
                #expect(try await next.isAtEnd())
            }
            await server.beginShutdown()
            #expect(try await client.isAtEnd())
        }
    }
}
