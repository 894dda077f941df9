import EventPipeline
import SluiceHTTP
import Testing

/// Requests that are not HTTP, or ambiguous.
@Suite("Malformed HTTP", .timeLimit(.minutes(5)))
struct BrokenRequestTests {
    @Test(
        "invalid HTTP is 400 and closes the connection, and the next sender is served",
        arguments: [
            "hello\r\n\r\n", "GET\r\n\r\n", "GET /livez\r\n\r\n", "GET /livez HTTP/3.0\r\nHost: x\r\n\r\n",
            "GET /livez HTTP/2.0\r\nHost: x\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}",
            "GET /livez HTTP/1.1\r\nHost x\r\n\r\n", "GET /livez HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n",
            "GET /livez HTTP/1.1\r\nHost: x\r\nA B: y\r\n\r\n", "GET /livez HTTP/1.1\r\nHost : x\r\n\r\n",
            "GET /livez HTTP/1.1\r\n folded\r\nHost: x\r\n\r\n", "GET /li\u{0}vez HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /livez HTTP/1.1\r\nHost: x\r\nA: \u{0}\r\n\r\n", "G\u{0}T /livez HTTP/1.1\r\nHost: x\r\n\r\n",
            "BREW /livez HTTP/1.1\r\nHost: x\r\n\r\n",
        ]
    )
    func notHTTP(bytes: String) async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                let response = try await client.exchange(bytes)
                #expect(response.status == 400)
                #expect(response.body.hasPrefix(#"{"error":{"code":"bad-request""#))
                #expect(response.field("connection") == "close")
                #expect(try await client.isAtEnd())
            }
            #expect(try await RawClient.with(server.address) { try await $0.exchange(Requests.post()).status } == 200)
        }
    }

    @Test(
        "a request with conflicting lengths is refused, and nothing after it is read",
        arguments: [
            ("Content-Length: 15\r\nTransfer-Encoding: chunked\r\n", 400),
            ("Transfer-Encoding: chunked\r\nContent-Length: 15\r\n", 400),
            ("Content-Length: 15\r\nContent-Length: 15\r\n", 400),
            ("Content-Length: 15\r\nContent-Length: 16\r\n", 400),
            ("Content-Length: 15, 15\r\n", 400), ("Content-Length: +15\r\n", 400), ("Content-Length: -15\r\n", 400),
            ("Content-Length: 0xf\r\n", 400), ("Content-Length: 1 5\r\n", 400), ("Content-Length:\r\n", 400),
            ("Transfer-Encoding: gzip, chunked\r\n", 501), ("Transfer-Encoding: chunked, chunked\r\n", 501),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 501),
            ("Transfer-Encoding: identity\r\n", 501), ("Transfer-Encoding: xchunked\r\n", 501),
            ("Transfer-Encoding: chunked, identity\r\n", 501), ("Transfer-Encoding:\r\n", 501),
        ]
    )
    func ambiguousLength(fields: String, status: Int) async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                try await client.send(
                    Requests.head(fields: fields) + "f\r\n\(Requests.ping)\r\n0\r\n\r\n" + Requests.post()
                )
                let response = try await client.response()
                // The decoder itself refuses some of these, and reports them as invalid HTTP.
                #expect(response.status == status || response.status == 400)
                #expect(response.field("connection") == "close")
                #expect(try await client.isAtEnd())
            }
            #expect(server.pipeline.statistics.accepted == 0)
        }
    }

    @Test(
        "chunks in HTTP/1.0, and a missing or repeated host in HTTP/1.1, are refused",
        arguments: [
            "POST /v1/events HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n{\"name\":\"Ping\"}\r\n0\r\n\r\n",
            "GET /livez HTTP/1.1\r\n\r\n", "GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        ]
    )
    func badFraming(request: String) async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                let response = try await client.exchange(request)
                #expect(response.status == 400)
                #expect(response.field("connection") == "close")
            }
            #expect(server.pipeline.statistics.accepted == 0)
        }
    }

    @Test(
        "a chunk with a wrong length is 400",
        arguments: ["g\r\n", "-1\r\n", "3\r\nabcd\r\n", "\r\n", "ffffffffffffffffff\r\n"]
    )
    func badChunks(chunk: String) async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                let response = try await client.exchange(
                    Requests.head(fields: "Transfer-Encoding: chunked\r\n") + chunk + "0\r\n\r\n"
                )
                #expect(response.status == 400)
                #expect(try await client.isAtEnd())
            }
        }
    }

    @Test("requests before an invalid one are answered first")
    func brokenAfterGood() async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                try await client.send(Requests.post() + Requests.post() + "broken\r\n\r\n" + Requests.post())
                #expect(try await client.response().status == 200)
                #expect(try await client.response().status == 200)
                #expect(try await client.response().status == 400)
                #expect(try await client.isAtEnd())
            }
            #expect(server.pipeline.statistics.accepted == 2)
        }
    }

    @Test("3,000 mutated requests each get a response or are disconnected, and the server survives")
    func mutilated() async throws {
        let originals = [
            Requests.post(), Requests.chunked([Requests.ping, " "], trailers: "A: b\r\n"),
            Requests.plain("GET", "/livez"),
            Requests.post(fields: "Content-Encoding: gzip\r\n"), Requests.post() + Requests.post(),
            Requests.post("\(Requests.ping)\n{\n\(Requests.ping)", type: "application/x-ndjson"),
        ].map { Array($0.utf8) }
        try await TestServer.run { server in
            var random = SeededGenerator(state: 20_101_201)
            for _ in 0..<3000 {
                let bytes = Self.mutilate(originals.randomElement(using: &random) ?? [], using: &random)
                let client = try await RawClient(to: server.address)
                // The server may have closed the connection before it received everything, which is allowed.
                try? await client.send(bytes: bytes)
                try? await client.finishSending()
                let answers = try await client.rest()
                #expect(answers.isEmpty || answers.hasPrefix("HTTP/1.1 "), "\(bytes)")
                client.close()
            }
            #expect(try await RawClient.with(server.address) { try await $0.exchange(Requests.post()).status } == 200)
        }
    }

    private static func mutilate(_ bytes: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert([13, 10, 0, 32, 58, 48, 255].randomElement(using: &random) ?? 0, at: index)
            case 3: bytes = Array(bytes[..<max(1, index)])
            default: bytes.insert(contentsOf: bytes[index...].prefix(20), at: index)
            }
            if bytes.isEmpty { bytes = [10] }
        }
        return bytes
    }
}

/// SplitMix64, so that every run has the same numbers.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
