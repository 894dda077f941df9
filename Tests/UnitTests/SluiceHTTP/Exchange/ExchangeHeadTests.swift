import EventPipeline
import EventValidation
import Logging
import NIOHTTP1
import PipelineTestSupport
import SluiceHTTP
import SluiceTesting
import Testing

@Suite("What is decided by the header of a request")
struct ExchangeHeadTests {
    private static let preflight: HTTPHeaders = [
        "origin": "http://localhost:3000", "access-control-request-method": "POST",
    ]

    /// A header, and the first step that follows from it.
    struct Case: Sendable, CustomTestStringConvertible {
        let method: HTTPMethod
        let uri: String
        var fields: HTTPHeaders = [:]
        var version = HTTPVersion.http1_1
        var host: String? = "sluice"
        let step: String

        var testDescription: String { "\(method) \(uri) \(fields): \(step)" }
    }

    private static let cases: [Case] = [
        Case(method: .POST, uri: "/v1/events", step: "receive"),
        Case(method: .POST, uri: "/v1/events", fields: ["content-length": "1048576"], step: "receive"),
        Case(method: .POST, uri: "/v1/events", fields: ["content-length": "1048577"], step: "too-large"),
        Case(method: .POST, uri: "/v1/events", fields: ["transfer-encoding": "chunked"], step: "receive"),
        Case(method: .POST, uri: "/v1/validate", step: "receive"),
        Case(method: .POST, uri: "/v1/track", step: "receive"),
        Case(method: .POST, uri: "/batch/", fields: ["content-encoding": "gzip"], step: "receive"),
        Case(method: .POST, uri: "/v1/events", fields: ["upgrade": "websocket"], step: "receive"),
        Case(
            method: .POST,
            uri: "/v1/events",
            fields: ["expect": "100-continue", "content-length": "5"],
            step: "receive after 100"
        ),
        Case(
            method: .POST,
            uri: "/v1/events",
            fields: ["expect": "100-continue", "transfer-encoding": "chunked"],
            step: "receive after 100"
        ),
        // Without a body there is nothing to wait for, and HTTP/1.0 has no informational responses.
        Case(method: .POST, uri: "/v1/events", fields: ["expect": "100-continue"], step: "receive"),
        Case(
            method: .POST,
            uri: "/v1/events",
            fields: ["expect": "100-continue", "content-length": "5"],
            version: .http1_0,
            step: "receive"
        ),
        Case(method: .POST, uri: "/v1/events", fields: ["expect": "a miracle"], step: "unknown-expectation"),
        Case(method: .GET, uri: "/v1/events", step: "method-not-allowed"),
        Case(method: .OPTIONS, uri: "/v1/events", step: "method-not-allowed"),
        Case(method: .POST, uri: "/v1/nothing", step: "not-found"),
        Case(method: .POST, uri: "/v1/events", fields: ["content-type": "text/html"], step: "unsupported-media-type"),
        Case(method: .POST, uri: "/v1/track", fields: ["content-type": "text/html"], step: "unsupported-media-type"),
        Case(method: .POST, uri: "/v1/events", fields: ["content-encoding": "br"], step: "unsupported-encoding"),
        Case(method: .POST, uri: "/v1/events", fields: ["sluice-strict": "perhaps"], step: "invalid-strict"),
        Case(
            method: .POST,
            uri: "/v1/events",
            fields: ["transfer-encoding": "gzip"],
            step: "unknown-transfer-coding"
        ),
        Case(
            method: .POST,
            uri: "/v1/events",
            fields: ["content-length": "5", "transfer-encoding": "chunked"],
            step: "bad-request"
        ),
        Case(method: .POST, uri: "/v1/events", host: nil, step: "bad-request"),
        Case(method: .POST, uri: "/v1/events", version: .http1_0, host: nil, step: "receive"),
        Case(method: .GET, uri: "/livez", step: "200 OK"),
        Case(method: .HEAD, uri: "/livez", step: "200 OK"),
        Case(method: .POST, uri: "/livez", step: "method-not-allowed"),
        Case(method: .GET, uri: "/readyz", step: "not-ready"),
        Case(method: .GET, uri: "/v1/plan", step: "not-found"),
        Case(method: .GET, uri: "/sourceConfig", step: "200 OK"),
        Case(method: .POST, uri: "/sourceConfig", step: "method-not-allowed"),
        Case(method: .GET, uri: "/sourceConfig", version: .http1_0, host: nil, step: "missing-host"),
        Case(method: .OPTIONS, uri: "/v1/events", fields: preflight, step: "204 No Content"),
        Case(
            method: .OPTIONS,
            uri: "/v1/events",
            fields: ["access-control-request-method": "POST"],
            step: "forbidden-origin"
        ),
        Case(
            method: .OPTIONS,
            uri: "/v1/events",
            fields: ["origin": "https://shop.example", "access-control-request-method": "POST"],
            step: "forbidden-origin"
        ),
    ]

    @Test("a header is accepted, answered or refused", arguments: cases)
    func step(of header: Case) throws {
        let connection = try ExchangeHarness(ExchangeHarness.Server { $0.maximumBodyBytes = 1 << 20 })
        let step = connection.begin(
            header.method,
            header.uri,
            header.fields,
            version: header.version,
            host: header.host
        )
        #expect(step == header.step)
    }

    // MARK: The connection

    /// Every response that precedes the body.
    private static let early: [(method: HTTPMethod, uri: String, fields: HTTPHeaders)] = [
        (.GET, "/livez", [:]), (.GET, "/readyz", [:]), (.GET, "/sourceConfig", [:]), (.GET, "/v1/plan", [:]),
        (.POST, "/v1/nothing", [:]), (.GET, "/v1/events", [:]), (.OPTIONS, "/v1/events", preflight),
    ]

    @Test(
        "after an early response the connection ends if the sender may hold the body back, whatever the response is",
        arguments: early.indices
    )
    func expectation(index: Int) throws {
        let (method, uri, fields) = Self.early[index]
        var waiting = fields
        waiting.add(contentsOf: ["content-length": "5", "expect": "100-continue"])
        var sending = fields
        sending.add(name: "content-length", value: "5")
        let connection = try ExchangeHarness(ExchangeHarness.Server(plan: Self.documents()))
        _ = connection.begin(method, uri, waiting)
        #expect(connection.endsConnection)
        _ = connection.begin(method, uri, sending)
        #expect(!connection.endsConnection)
    }

    @Test(
        "after an early response the connection ends if the body is too large to be discarded",
        arguments: early.indices
    )
    func tooLarge(index: Int) throws {
        let (method, uri, fields) = Self.early[index]
        let connection = try ExchangeHarness(
            ExchangeHarness.Server(plan: Self.documents()) { $0.maximumBodyBytes = 1000 }
        )
        for (length, ends) in [("1000", false), ("1001", true)] {
            var fields = fields
            fields.add(name: "content-length", value: length)
            _ = connection.begin(method, uri, fields)
            #expect(connection.endsConnection == ends)
        }
    }

    @Test("a sender can say that no request follows, and with HTTP/1.0 or an upgrade none does by default")
    func persistence() throws {
        let connection = try ExchangeHarness(ExchangeHarness.Server())
        let cases: [(fields: HTTPHeaders, version: HTTPVersion, ends: Bool)] = [
            ([:], .http1_1, false), (["connection": "close"], .http1_1, true), (["upgrade": "h2c"], .http1_1, true),
            ([:], .http1_0, true), (["connection": "keep-alive"], .http1_0, false),
        ]
        for (fields, version, ends) in cases {
            _ = connection.begin(.GET, "/livez", fields, version: version)
            #expect(connection.endsConnection == ends)
            let answer = connection.answer()
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(answer.contains("\r\nconnection: close\r\n") == ends)
            #expect(answer.contains("\r\nconnection: keep-alive\r\n") == (version == .http1_0 && !ends))
        }
    }

    @Test("the next request inherits nothing: not the method, the version, the origin or the end of the connection")
    func nextRequest() throws {
        let connection = try ExchangeHarness(ExchangeHarness.Server())
        let fields: HTTPHeaders = ["origin": "http://localhost", "connection": "close"]
        #expect(connection.begin(.HEAD, "/livez", fields, version: .http1_0) == "200 OK")
        let first = connection.answer()
        #expect(first.hasSuffix("\r\n\r\n") && first.contains("access-control-allow-origin: http://localhost"))
        #expect(connection.begin(.GET, "/livez") == "200 OK")
        #expect(!connection.endsConnection)
        let second = connection.answer()
        #expect(second.hasSuffix(#"{"status":"ok"}"#))
        #expect(!second.contains("access-control") && !second.contains("connection:"))
    }

    @Test("a pipeline that runs is ready")
    func ready() async throws {
        let scene = try PipelineHarness([ScriptedTracker(name: "alpha"), ScriptedTracker(name: "beta")])
        try await scene.run { pipeline, _ in
            // It runs once it has delivered.
            pipeline.accept("A", 0..<1)
            await pipeline.flush()
            let connection = try ExchangeHarness(ExchangeHarness.Server(pipeline: pipeline))
            #expect(connection.begin(.GET, "/readyz") == "200 OK")
        }
    }

    // MARK: The plan

    private static func documents() -> PlanDocuments {
        PlanDocuments(
            plan: PipelineHarness.catalog.plan,
            maximumBytes: 1 << 20,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            render: { _ in "" }
        )
    }

    private static func document(_ bytes: Int) -> PlanOutcome {
        .success(PlanDocument(String(repeating: "x", count: bytes)))
    }

    @Test("the schema has the events that the key may send, and needs a key if there are keys")
    func scope() throws {
        let keys: [WriteKey] = [.named("all"), .named("some", events: ["B", "A"])]
        let open = try ExchangeHarness(ExchangeHarness.Server(plan: Self.documents()))
        #expect(open.begin(.GET, "/v1/plan") == "render all")
        let connection = try ExchangeHarness(ExchangeHarness.Server(keys: keys, plan: Self.documents()))
        #expect(connection.begin(.GET, "/v1/plan", .key("all")) == "render all")
        #expect(connection.begin(.GET, "/v1/plan", .key("some")) == "render A,B")
        #expect(connection.begin(.HEAD, "/v1/plan?key=some") == "render A,B")
        #expect(connection.begin(.GET, "/v1/plan") == "unauthorized")
        #expect(connection.begin(.GET, "/v1/plan", .key("other")) == "unauthorized")
        #expect(connection.begin(.POST, "/v1/plan", .key("all")) == "method-not-allowed")
    }

    @Test("a schema that the sender has is not sent again, and one beyond the limit is not sent at all")
    func conditional() throws {
        let connection = try ExchangeHarness(ExchangeHarness.Server(plan: Self.documents()))
        let document = PlanDocument("{}")
        _ = connection.begin(.GET, "/v1/plan", ["if-none-match": "\"other\""])
        #expect(connection.rendered(.success(document)) == "200 OK")
        let answer = connection.answer()
        #expect(answer.contains("\r\netag: \(document.tag)\r\n") && answer.hasSuffix("\r\n\r\n{}"))
        _ = connection.begin(.GET, "/v1/plan", ["if-none-match": "\"other\", \(document.tag)"])
        #expect(connection.rendered(.success(document)) == "304 Not Modified")
        #expect(connection.answer().hasSuffix("\r\n\r\n"))
        _ = connection.begin(.GET, "/v1/plan")
        #expect(connection.rendered(.failure(PlanTooLarge())) == "plan-too-large")
        #expect(!connection.endsConnection)
    }

    @Test("a long schema takes memory until it is sent; if there is too little, the connection stays open")
    func unsentSchema() throws {
        let server = try ExchangeHarness.Server(plan: Self.documents()) {
            $0.maximumBufferedBytes = 400_000
            $0.maximumPlanBytes = 50_000
        }
        let (slow, other) = (try ExchangeHarness(server), try ExchangeHarness(server))
        _ = slow.begin(.GET, "/v1/plan")
        #expect(slow.rendered(Self.document(60_000)) == "200 OK")
        _ = slow.answer()
        #expect(slow.unsentBytes > 60_000 && server.reservedBytes == slow.unsentBytes)
        // A quarter of the memory is for schemas.
        _ = other.begin(.GET, "/v1/plan")
        #expect(other.rendered(Self.document(60_000)) == "overloaded")
        #expect(!other.endsConnection)
        _ = other.answer()
        // The response to HEAD has no body.
        _ = other.begin(.HEAD, "/v1/plan")
        #expect(other.rendered(Self.document(60_000)) == "200 OK")
        #expect(other.answer().contains("content-length: 60000\r\n") && other.unsentBytes == 0)
        slow.sent()
        #expect(server.reservedBytes == 0)
    }

    @Test("there is memory for one schema of the greatest size, whatever the size of the budget")
    func greatestSchema() throws {
        let server = try ExchangeHarness.Server(plan: Self.documents()) {
            $0.maximumBufferedBytes = 400_000
            $0.maximumPlanBytes = 200_000
        }
        let connection = try ExchangeHarness(server)
        _ = connection.begin(.GET, "/v1/plan")
        #expect(connection.rendered(Self.document(200_000)) == "200 OK")
    }
}
