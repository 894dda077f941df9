import EventPipeline
import ServerTestSupport
import SluiceHTTP
import TestCases
import TestPromises
import Testing

/// Requests that are not HTTP, among others; `MalformedRequest` has them one by one.
@Suite("Malformed HTTP", .timeLimit(.minutes(5)))
struct BrokenRequestTests {
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

    @Test(
        "3,000 mutated requests each get a response or are disconnected, and the server survives",
        .promise("malformed-http")
    )
    func mutilated() async throws {
        let originals = [
            Requests.post(), Requests.chunked([Requests.ping, " "], trailers: "A: b\r\n"),
            Requests.plain("GET", "/livez"),
            Requests.post(fields: "Content-Encoding: gzip\r\n"), Requests.post() + Requests.post(),
            Requests.post("\(Requests.ping)\n{\n\(Requests.ping)", type: "application/x-ndjson"),
        ].map { Array($0.utf8) }
        try await TestServer.run { server in
            var random = SeededGenerator(seed: 20_101_201)
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
