import EventPipeline
import NIOHTTP1
import SluiceHTTP
import Testing

@Suite("What is decided by the body of a request")
struct ExchangeBodyTests {
    private static let valid = #"{"name":"A"}"#
    private static let invalid = #"{"name":"Unknown"}"#

    private static func array(_ events: String...) -> String { "[" + events.joined(separator: ",") + "]" }

    /// An array of one valid event and spaces, with so many bytes.
    private static func padded(_ bytes: Int) -> [UInt8] {
        Array("[\(valid)".utf8) + Array(repeating: UInt8(ascii: " "), count: bytes - valid.utf8.count - 2)
            + [UInt8(ascii: "]")]
    }

    // MARK: The result

    @Test(
        "the valid events are submitted, and a body without any is answered",
        arguments: [
            ("/v1/events", valid, "submit 1"), ("/v1/events", array(valid, invalid, valid), "submit 2"),
            ("/v1/events", array(invalid), "422 Unprocessable Content"),
            ("/v1/events", "[]", "422 Unprocessable Content"), ("/v1/events", "", "malformed-json"),
            ("/v1/events", "[", "malformed-json"), ("/v1/track", #"{"event":"A"}"#, "submit 1"),
            // Clients of Segment discard a batch that is answered with 400.
            ("/v1/track", #"{"event":"Unknown"}"#, "200 OK"), ("/v1/batch", #"{"batch":[]}"#, "200 OK"),
            ("/v1/batch", "[]", "malformed-json"),
        ]
    )
    func outcome(path: String, body: String, expected: String) throws {
        let connection = try ExchangeHarness(ExchangeHarness.Server())
        #expect(connection.send(body, to: path) == expected)
    }

    @Test("it may come in pieces, of a length that is announced or not", arguments: [true, false])
    func pieces(hasLength: Bool) throws {
        let body = Self.array(Self.valid, Self.valid)
        let connection = try ExchangeHarness(ExchangeHarness.Server())
        let fields: HTTPHeaders =
            hasLength ? ["content-length": "\(body.utf8.count)"] : ["transfer-encoding": "chunked"]
        #expect(connection.begin(.POST, "/v1/events", fields) == "receive")
        for byte in body.utf8 { #expect(connection.keep([byte]) == nil) }
        #expect(connection.check() == "submit 2")
    }

    @Test("without a valid event, the rejected ones are kept at once, because nothing is submitted")
    func rejectedOnly() throws {
        let server = try ExchangeHarness.Server()
        let connection = try ExchangeHarness(server)
        #expect(connection.send(Self.array(Self.invalid, Self.invalid)) == "422 Unprocessable Content")
        #expect(server.rejectedEvents == 2)
    }

    @Test("a strict request with a rejected event stores nothing, and keeps no rejected one")
    func strict() throws {
        let server = try ExchangeHarness.Server()
        let connection = try ExchangeHarness(server)
        let mixed = Self.array(Self.valid, Self.invalid)
        #expect(connection.send(mixed, ["sluice-strict": "true"]) == "422 Unprocessable Content")
        #expect(server.rejectedEvents == 0)
        #expect(connection.send(Self.array(Self.valid), ["sluice-strict": "true"]) == "submit 1")
        #expect(connection.send(mixed, ["sluice-strict": "false"]) == "submit 1")
    }

    @Test("a request that only checks stores nothing, and keeps no rejected event")
    func validate() throws {
        let server = try ExchangeHarness.Server()
        let connection = try ExchangeHarness(server)
        #expect(connection.send(Self.valid, to: "/v1/validate") == "200 OK")
        #expect(connection.answer().hasSuffix(#"{"accepted":1,"rejected":[]}"#))
        #expect(connection.send(Self.array(Self.valid, Self.invalid), to: "/v1/validate") == "200 OK")
        #expect(connection.send(Self.array(Self.invalid), to: "/v1/validate") == "422 Unprocessable Content")
        #expect(connection.send("x", to: "/v1/validate") == "malformed-json")
        #expect(server.rejectedEvents == 0)
    }

    @Test("gzip that is invalid, or too large when it is inflated, is refused, and the connection stays open")
    func gzip() throws {
        let connection = try ExchangeHarness(ExchangeHarness.Server { $0.maximumBodyBytes = 100 })
        // One stored block, and no trailer.
        func gzip(_ bytes: UInt8) -> [UInt8] {
            [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF, 1, bytes, 0, ~bytes, 0xFF] + Array(repeating: 32, count: Int(bytes))
        }
        let fields: HTTPHeaders = ["content-encoding": "gzip", "transfer-encoding": "chunked"]
        for (body, code) in [(gzip(200), "too-large"), (gzip(50), "invalid-gzip"), (Array("{}".utf8), "invalid-gzip")] {
            _ = connection.begin(.POST, "/v1/events", fields)
            #expect(connection.sendBody(body) == code)
            #expect(!connection.endsConnection)
            _ = connection.answer()
        }
    }

    @Test("a body with too many events, or too many rejected ones, is refused as a whole")
    func excess() throws {
        let server = try ExchangeHarness.Server {
            $0.maximumEvents = 2
            $0.maximumRejections = 1
        }
        let connection = try ExchangeHarness(server)
        #expect(connection.send(Self.array(Self.valid, Self.valid, Self.valid)) == "too-large")
        #expect(connection.send(Self.array(Self.invalid, Self.invalid)) == "too-large")
        #expect(server.rejectedEvents == 0)
    }

    // MARK: Turns

    @Test("a small body gets its first turn at once, and a large one waits for it")
    func firstTurn() throws {
        let connection = try ExchangeHarness(ExchangeHarness.Server())
        for (bytes, step) in [(64 << 10, "submit 1"), (64 << 10 + 1, "wait, large")] {
            _ = connection.begin()
            #expect(connection.keep(Self.padded(bytes)) == nil)
            #expect(connection.check() == step)
        }
        #expect(connection.takeTurn() == "submit 1")
    }

    @Test("when the allowance is used up, a small body waits, too")
    func allowance() throws {
        let server = try ExchangeHarness.Server()
        let (first, second) = (try ExchangeHarness(server), try ExchangeHarness(server))
        // More rejected events than a turn has time for.
        let body = "[" + Array(repeating: Self.invalid, count: 300).joined(separator: ",") + "]"
        _ = first.begin()
        #expect(first.keep(body) == nil)
        #expect(first.check() == "wait, small, again")
        _ = second.begin()
        #expect(second.keep(Self.valid) == nil)
        #expect(second.check() == "wait, small")
        #expect(second.takeTurn() == "submit 1")
        #expect(first.takeTurn() == "422 Unprocessable Content")
    }

    @Test("a body that is larger than a turn needs several, each of which it waits for")
    func severalTurns() throws {
        let connection = try ExchangeHarness(ExchangeHarness.Server())
        let event = #"{"name":"A","payload":{"text":"\#(String(repeating: "x", count: 1000))"}}"#
        _ = connection.begin()
        let body = "[" + Array(repeating: event, count: 1000).joined(separator: ",") + "]"
        #expect(connection.keep(body) == nil)
        #expect(connection.check() == "wait, large")
        var turns = 1
        while connection.takeTurn() == "wait, large, again" { turns += 1 }
        #expect(turns > 2)
        #expect(connection.decided(.success(.stored)) == "200 OK")
    }

    // MARK: Memory

    @Test("up to 64 KiB of a body are free; beyond that its announced length counts from the header on")
    func announced() throws {
        let server = try ExchangeHarness.Server { $0.maximumBufferedBytes = 200_000 }
        let (first, second) = (try ExchangeHarness(server), try ExchangeHarness(server))
        #expect(first.begin(.POST, "/v1/events", ["content-length": "65536"]) == "receive")
        #expect(server.reservedBytes == 0)
        #expect(first.begin(.POST, "/v1/events", ["content-length": "150000"]) == "receive")
        #expect(server.reservedBytes == 150_000)
        #expect(second.begin(.POST, "/v1/events", ["content-length": "50001"]) == "receive")
        #expect(second.begin(.POST, "/v1/events", ["content-length": "65537"]) == "overloaded")
        #expect(second.endsConnection)
        _ = second.answer()
        #expect(first.keep(Self.padded(150_000)) == nil)
        #expect(server.reservedBytes == 150_000)
        // The next request begins without memory.
        #expect(first.begin() == "receive")
        #expect(server.reservedBytes == 0)
    }

    @Test("a body of unknown length counts by what has arrived, and ends the connection if there is no memory for it")
    func chunked() throws {
        let server = try ExchangeHarness.Server { $0.maximumBufferedBytes = 200_000 }
        let connection = try ExchangeHarness(server)
        _ = connection.begin(.POST, "/v1/events", ["transfer-encoding": "chunked"])
        let piece = [UInt8](repeating: UInt8(ascii: " "), count: 60_000)
        #expect(connection.keep(piece) == nil)
        #expect(server.reservedBytes == 0)
        #expect(connection.keep(piece) == nil)
        #expect(server.reservedBytes == 120_000 + 65_536)
        #expect(connection.keep(piece) == nil)
        #expect(connection.keep(piece) == "overloaded")
        #expect(connection.endsConnection)
        #expect(connection.answer().contains("\r\nretry-after: 1\r\n"))
        #expect(server.reservedBytes == 0)
    }

    @Test("a check that needs more memory than there is ends with its next turn")
    func memoryOfCheck() throws {
        let event = #"{"name":"A","payload":{"text":"\#(String(repeating: "x", count: 1000))"}}"#
        let body = "[" + Array(repeating: event, count: 1000).joined(separator: ",") + "]"
        let server = try ExchangeHarness.Server { $0.maximumBufferedBytes = body.utf8.count }
        let connection = try ExchangeHarness(server)
        _ = connection.begin(.POST, "/v1/events", ["content-length": "\(body.utf8.count)"])
        #expect(connection.keep(body) == nil)
        #expect(connection.check() == "wait, large")
        #expect(connection.takeTurn() == "overloaded")
        #expect(connection.endsConnection)
        _ = connection.answer()
        #expect(server.reservedBytes == 0)
    }

    @Test(
        "the memory is released when the connection closes, at whichever step it is",
        arguments: ["begin", "keep", "check", "turn", "submit"]
    )
    func abandoned(step: String) throws {
        let server = try ExchangeHarness.Server()
        let connection = try ExchangeHarness(server)
        let event = #"{"name":"A","payload":{"text":"\#(String(repeating: "x", count: 1000))"}}"#
        let body = "[" + Array(repeating: event, count: 900).joined(separator: ",") + "]"
        let steps: [(name: String, () -> String?)] = [
            ("begin", { connection.begin(.POST, "/v1/events", ["content-length": "\(body.utf8.count)"]) }),
            ("keep", { connection.keep(body) }), ("check", { connection.check() }),
            ("turn", { connection.takeTurn() }), ("turn", { connection.takeTurn() }),
            ("submit", { connection.takeTurn() }),
        ]
        for (name, perform) in steps {
            _ = perform()
            #expect(server.reservedBytes > 0)
            if name == step { break }
        }
        connection.abandon()
        #expect(server.reservedBytes == 0)
    }
}
