import Foundation
import ServerTestSupport
import SluiceHTTP
import Testing

/// The public port as seen by `curl`, an independent client.
@Suite("HTTP with curl", .timeLimit(.minutes(5)))
struct CurlTests {
    @Test(
        "curl gets the documented status and response for each kind of request",
        arguments: [
            (["-d", #"{"name":"Ping"}"#], 200, #"{"accepted":1,"rejected":[]}"#),
            (["-d", #"[{"name":"Ping"},{"name":"Ping"}]"#], 200, #"{"accepted":2,"rejected":[]}"#),
            (["-0", "-d", #"{"name":"Ping"}"#], 200, #"{"accepted":1,"rejected":[]}"#),
            (["-H", "Transfer-Encoding: chunked", "-d", #"{"name":"Ping"}"#], 200, #"{"accepted":1,"rejected":[]}"#),
            (["-H", "Expect: 100-continue", "-d", #"{"name":"Ping"}"#], 200, #"{"accepted":1,"rejected":[]}"#),
            (["-H", "Connection: close", "-d", #"{"name":"Ping"}"#], 200, #"{"accepted":1,"rejected":[]}"#),
            (["--http2", "-d", #"{"name":"Ping"}"#], 200, #"{"accepted":1,"rejected":[]}"#),
            (["-d", "not json"], 400, #"{"error":{"code":"malformed-json""#),
            (["-d", "[]"], 422, #"{"accepted":0,"rejected":[]}"#),
            (["-X", "PUT", "-d", "{}"], 405, #"{"error":{"code":"method-not-allowed""#),
            (["-H", "Content-Encoding: br", "-d", "{}"], 415, #"{"error":{"code":"unsupported-encoding""#),
        ] as [([String], Int, String)]
    )
    func answers(arguments: [String], status: Int, body: String) async throws {
        try await TestServer.run { server in
            let result = try await Self.curl(server, ["-H", "Content-Type: application/json"] + arguments)
            #expect(result.status == status)
            #expect(result.body.hasPrefix(body))
        }
    }

    @Test("curl's default type for -d is refused, and the response names the supported types")
    func formType() async throws {
        try await TestServer.run { server in
            let result = try await Self.curl(server, ["-d", Requests.ping])
            #expect(result.status == 415)
            #expect(result.body.contains("application/json"))
        }
    }

    @Test("curl can send files: NDJSON, gzip, and one that is too large")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-curl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let lines = String(repeating: Requests.ping + "\n", count: 1000)
        let large = String(repeating: Requests.ping + "\n", count: 800_000)
        let gzipped = try await Requests.gzip(lines)
        for (name, bytes) in [("lines", Array(lines.utf8)), ("gz", gzipped), ("large", Array(large.utf8))] {
            try Data(bytes).write(to: folder.appending(path: name))
        }
        try await TestServer.run { server in
            func send(_ name: String, _ fields: [String]) async throws -> (status: Int, body: String) {
                let file = "@" + folder.appending(path: name).path
                return try await Self.curl(
                    server,
                    ["-H", "Content-Type: application/x-ndjson"] + fields + ["--data-binary", file]
                )
            }
            let plain = try await send("lines", [])
            #expect(plain.body == #"{"accepted":1000,"rejected":[]}"#)
            let inflated = try await send("gz", ["-H", "Content-Encoding: gzip"])
            #expect(inflated.body == #"{"accepted":1000,"rejected":[]}"#)
            #expect(try await send("large", []).status == 413)
            #expect(try await send("large", ["-H", "Expect:"]).status == 413)
            #expect(try await send("large", ["-H", "Transfer-Encoding: chunked"]).status == 413)
        }
    }

    @Test("curl reuses one connection for many requests")
    func reuse() async throws {
        try await TestServer.run { server in
            let url = "http://\(server.address)/livez"
            let result = try await Command.run("curl", ["-s", "-w", " %{num_connects}\n", url, url, url])
            #expect(
                result.text == #"{"status":"ok"} 1"# + "\n" + String(repeating: #"{"status":"ok"} 0"# + "\n", count: 2)
            )
            let head = try await Command.run("curl", ["-s", "-I", url])
            #expect(head.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    private static func curl(
        _ server: TestServer,
        _ arguments: [String]
    ) async throws -> (status: Int, body: String) {
        let url = "http://\(server.address)/v1/events"
        let result = try await Command.run("curl", ["-s", "-w", "\n%{http_code}"] + arguments + [url])
        #expect(result.status == 0)
        let parts = result.text.split(separator: "\n", omittingEmptySubsequences: false)
        return (Int(parts.last ?? "") ?? 0, parts.dropLast().joined(separator: "\n"))
    }
}
