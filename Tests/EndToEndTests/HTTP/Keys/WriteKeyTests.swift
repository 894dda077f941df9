import EventModel
import EventPipeline
import EventSchema
import Foundation
import SluiceHTTP
import Testing

/// Requests with and without keys, to a real server.
@Suite("Who may send", .timeLimit(.minutes(5)))
struct WriteKeyTests {
    /// What a test sends, and which parts of the answer it looks at.
    private struct Request {
        var method = "POST"
        var path = "/v1/events"
        var type: String? = "application/json"
        var fields = ""
        var body = #"{"name":"Ping"}"#

        var text: String {
            let type = type.map { "Content-Type: \($0)\r\n" } ?? ""
            let length = method == "GET" ? "" : "Content-Length: \(body.utf8.count)\r\n"
            return "\(method) \(path) HTTP/1.1\r\nHost: sluice.example\r\n\(type)\(length)\(fields)\r\n"
                + (method == "GET" ? "" : body)
        }
    }

    private static let plan = DialectExchange.plan(["Ping": [("n", .integer)], "Pong": []])
    private static let start = Timestamp(microseconds: 1_600_000_000_000_000)

    private static func key(
        _ name: String = "web",
        events: [String]? = nil,
        limits: WriteKey.Limits = WriteKey.Limits(),
        origins: [String] = []
    ) -> WriteKey {
        let value = WriteKey.Value(text: name + "-key", created: start)
        return WriteKey(name: name, values: [value], events: events, limits: limits, origins: origins)
    }

    private static func send(_ requests: Request..., keys: [WriteKey]?) async throws -> (
        responses: [RawClient.Response], lines: [String], quarantined: [String]
    ) {
        try await TestServer.run(TestServer.Setup(plan: plan, keys: keys)) { server in
            let responses = try await RawClient.with(server.address) { client in
                var responses: [RawClient.Response] = []
                for request in requests {
                    try await client.send(request.text)
                    responses.append(try await client.response())
                }
                return responses
            }
            await server.pipeline.flush()
            return (responses, server.delivered.lines, try await server.quarantined())
        }
    }

    @Test(
        "a key is accepted wherever a client may put it",
        arguments: [
            ("/v1/events", "Authorization: Bearer web-key\r\n", #"{"name":"Ping"}"#),
            ("/v1/events", "authorization:  bearer   web-key \r\n", #"{"name":"Ping"}"#),
            ("/v1/events", "Authorization: Basic d2ViLWtleTo=\r\n", #"{"name":"Ping"}"#),
            ("/v1/events", "Authorization: Basic d2ViLWtleTppZ25vcmVk\r\n", #"{"name":"Ping"}"#),
            ("/v1/events?key=web-key", "", #"{"name":"Ping"}"#),
            ("/v1/events?a=b&key=web%2Dkey", "", #"{"name":"Ping"}"#),
            ("/v1/track", "Authorization: Basic d2ViLWtleTo=\r\n", #"{"event":"Ping"}"#),
            ("/v1/track", "", #"{"event":"Ping","writeKey":"web-key"}"#),
            ("/v1/t?writeKey=web-key", "", #"{"event":"Ping"}"#),
            ("/v1/batch", "", #"{"batch":[{"type":"track","event":"Ping"}],"writeKey":"web-key"}"#),
            ("/v1/batch", "", #"{"writeKey":"web\u002dkey","batch":[{"type":"track","event":"Ping"}]}"#),
            ("/beacon/v1/batch?writeKey=web-key", "", #"{"batch":[{"type":"track","event":"Ping"}]}"#),
            ("/batch/", "", #"{"api_key":"web-key","batch":[{"event":"Ping","distinct_id":"u"}]}"#),
            ("/capture/", "", #"{"api_key":"web-key","event":"Ping","distinct_id":"u"}"#),
            ("/e/", "", #"{"token":"web-key","event":"Ping","distinct_id":"u"}"#),
            ("/e/", "", #"[{"event":"Ping","properties":{"token":"web-key","distinct_id":"u"}}]"#),
            ("/i/v0/e/", "", #"{"event":"Ping","properties":{"$token":"web-key","distinct_id":"u"}}"#),
        ]
    )
    func places(path: String, fields: String, body: String) async throws {
        let result = try await Self.send(Request(path: path, fields: fields, body: body), keys: [Self.key()])
        #expect(result.responses[0].status == 200)
        #expect(result.lines.count == 1)
        #expect(!result.lines.contains { $0.contains("web-key") }, "a key must not be stored with an event")
    }

    @Test(
        "a key in a message that cannot be translated is not stored with it",
        arguments: [
            ("/e/", #"{"api_key":"web-key","event":"Ping","properties":[]}"#),
            ("/e/", #"{"api_key":"web-key","event":"Ping","properties":{"token":"web-key",}}"#),
            (
                "/e/",
                #"[{"event":"Ping","properties":{"n":NaN,"token":"web-key",}},{"event":"Ping","token":"web-key"}]"#
            ),
            ("/v1/track", "{\"writeKey\":\"web-key\",\"event\":\"Ping\",\"properties\":{\"a\":\"\u{1}\"}}"),
            ("/v1/batch", #"{"batch":[{"type":"track","writeKey":"web-key","a":}],"writeKey":"web-key"}"#),
        ]
    )
    func untranslated(path: String, body: String) async throws {
        let result = try await Self.send(Request(path: path, body: body), keys: [Self.key()])
        #expect(result.responses[0].status == 200)
        #expect(!result.quarantined.isEmpty)
        #expect(!result.quarantined.contains { $0.contains("web-key") })
    }

    @Test(
        "without a valid key nothing is accepted, and the answer is in the client's format",
        arguments: [
            ("/v1/events", "", #"{"name":"Ping"}"#, #"{"error":{"code":"unauthorized""#),
            (
                "/v1/events", "Authorization: Bearer web-keys\r\n", #"{"name":"Ping"}"#,
                #"{"error":{"code":"unauthorized""#
            ),
            (
                "/v1/events", "Authorization: Digest web-key\r\n", #"{"name":"Ping"}"#,
                #"{"error":{"code":"unauthorized""#
            ),
            ("/v1/events", "Authorization: Basic ???\r\n", #"{"name":"Ping"}"#, #"{"error":{"code":"unauthorized""#),
            ("/v1/events?key=", "", #"{"name":"Ping"}"#, #"{"error":{"code":"unauthorized""#),
            (
                "/v1/batch", "", #"{"batch":[{"type":"track","event":"Ping"}]}"#,
                #"{"success":false,"code":"unauthorized""#
            ),
            (
                "/v1/batch", "", #"{"batch":[{"type":"track","event":"Ping"}],"writeKey":"x"}"#,
                #"{"success":false,"code":"unauthorized""#
            ),
            (
                "/v1/batch", "Authorization: Basic eDo=\r\n",
                #"{"batch":[{"type":"track","event":"Ping"}],"writeKey":"web-key"}"#,
                #"{"success":false,"code":"unauthorized""#
            ),
            ("/capture/", "", #"{"event":"Ping","distinct_id":"u"}"#, #"{"status":0,"code":"unauthorized""#),
        ]
    )
    func refused(path: String, fields: String, body: String, answer: String) async throws {
        let result = try await Self.send(Request(path: path, fields: fields, body: body), keys: [Self.key()])
        #expect(result.responses[0].status == 401)
        #expect(result.responses[0].body.hasPrefix(answer))
        #expect(result.responses[0].field("www-authenticate") == "bearer")
        #expect(result.lines.isEmpty)
    }

    @Test("an unauthorized request costs nothing but its answer: the connection goes on")
    func connectionGoesOn() async throws {
        let allowed = Request(fields: "Authorization: Bearer web-key\r\n")
        let result = try await Self.send(Request(), allowed, Request(), allowed, keys: [Self.key()])
        #expect(result.responses.map(\.status) == [401, 200, 401, 200])
        #expect(result.lines.count == 2)
    }

    @Test("health checks need no key")
    func health() async throws {
        let live = Request(method: "GET", path: "/livez")
        let ready = Request(method: "GET", path: "/readyz")
        #expect(try await Self.send(live, ready, keys: []).responses.map(\.status) == [200, 200])
    }

    @Test("an event that a key may not send is rejected alone")
    func forbiddenEvent() async throws {
        let body = #"[{"name":"Ping"},{"name":"Pong"},{"name":"Ping"}]"#
        let request = Request(fields: "Authorization: Bearer web-key\r\n", body: body)
        let result = try await Self.send(request, keys: [Self.key(events: ["Ping"])])
        #expect(result.responses[0].status == 200)
        #expect(result.responses[0].body.contains(#""accepted":2"#))
        #expect(result.responses[0].body.contains(#""code":"forbidden-event","path":"$.name""#))
        #expect(result.lines.count == 2)
    }

    @Test("what a key is allowed in the body's format applies to keys in the body, too")
    func forbiddenEventOfBodyKey() async throws {
        let body = #"{"batch":[{"type":"track","event":"Pong"},{"type":"track","event":"Ping"}],"writeKey":"web-key"}"#
        let result = try await Self.send(Request(path: "/v1/batch", body: body), keys: [Self.key(events: ["Ping"])])
        #expect(result.responses[0].body.contains(#""rejectedCodes":{"forbidden-event":1}"#))
        #expect(result.lines.count == 1)
    }

    @Test(
        "a key that sends too much gets 429 with the time to wait, and nothing is accepted",
        arguments: [
            (WriteKey.Limits(eventsPerSecond: 2, burst: 3), "rate-limited", "1"),
            (WriteKey.Limits(eventsPerDay: 3), "daily-volume-exceeded", "41600"),
        ]
    )
    func limits(limits: WriteKey.Limits, code: String, wait: String) async throws {
        let events = #"[{"name":"Ping"},{"name":"Nothing"},{"name":"Ping"}]"#
        let first = Request(fields: "Authorization: Bearer web-key\r\n", body: events)
        let second = Request(fields: "Authorization: Bearer web-key\r\n")
        let third = Request(
            path: "/v1/batch",
            body: #"{"batch":[{"type":"track","event":"Ping"}],"writeKey":"web-key"}"#
        )
        let other = Request(fields: "Authorization: Bearer app-key\r\n")
        let result = try await Self.send(
            first,
            second,
            third,
            other,
            keys: [Self.key(limits: limits), Self.key("app")]
        )
        #expect(result.responses.map(\.status) == [200, 429, 429, 200])
        #expect(result.responses[1].body.contains(#""code":"\#(code)""#))
        #expect(result.responses[1].field("retry-after") == wait)
        #expect(result.lines.count == 3)
    }

    @Test("PostHog's clients get 503 for a key's limit, because posthog-js discards a batch after 429")
    func limitOfPostHog() async throws {
        let request = Request(path: "/e/", body: #"{"api_key":"web-key","event":"Ping","distinct_id":"u"}"#)
        let keys = [Self.key(limits: WriteKey.Limits(eventsPerSecond: 1, burst: 1))]
        let result = try await Self.send(request, request, keys: keys)
        #expect(result.responses.map(\.status) == [200, 503])
        #expect(result.responses[1].body.contains(#""code":"rate-limited""#))
        #expect(result.responses[1].field("retry-after") == "1")
    }

    @Test("a body with too many rejected events counts against the limits, although it is refused as a whole")
    func tooManyRejections() async throws {
        let events = Array(repeating: #"{"name":"Nothing"}"#, count: 10_001).joined(separator: "\n")
        let request = Request(
            type: "application/x-ndjson",
            fields: "Authorization: Bearer web-key\r\n",
            body: events
        )
        let keys = [Self.key(limits: WriteKey.Limits(eventsPerDay: 10_000))]
        let result = try await Self.send(request, request, keys: keys)
        #expect(result.responses.map(\.status) == [413, 429])
    }

    @Test("a batch larger than the burst is accepted once")
    func largeBatch() async throws {
        let events = "[" + Array(repeating: #"{"name":"Ping"}"#, count: 50).joined(separator: ",") + "]"
        let request = Request(fields: "Authorization: Bearer web-key\r\n", body: events)
        let keys = [Self.key(limits: WriteKey.Limits(eventsPerSecond: 10, burst: 20))]
        let result = try await Self.send(request, request, keys: keys)
        #expect(result.responses.map(\.status) == [200, 429])
        // 30 events are owed, and 1 more is wanted.
        #expect(result.responses[1].field("retry-after") == "4")
        #expect(result.lines.count == 50)
    }

    // MARK: Web pages

    @Test("a preflight request is answered for the origins of all keys, and for no others")
    func preflight() async throws {
        let keys = [Self.key(origins: ["https://shop.example"]), Self.key("app", origins: ["https://*.app.example"])]
        for (origin, isAllowed) in [
            ("https://shop.example", true), ("https://a.app.example", true), ("https://evil.test", false),
        ] {
            let preflight = "Origin: \(origin)\r\nAccess-Control-Request-Method: POST\r\n"
            let request = Request(method: "OPTIONS", type: nil, fields: preflight, body: "")
            let response = try await Self.send(request, keys: keys).responses[0]
            #expect(response.status == (isAllowed ? 204 : 403))
            #expect(response.field("access-control-allow-origin") == (isAllowed ? origin : nil))
            #expect(response.field("vary") == (isAllowed ? "origin" : nil))
            #expect(response.field("access-control-allow-credentials") == (isAllowed ? "true" : nil))
            let headers = response.field("access-control-allow-headers") ?? ""
            for name in ["authorization", "content-type", "anonymousid"] {
                #expect(headers.contains(name) == isAllowed)
            }
            #expect(response.body.isEmpty == isAllowed)
            #expect(isAllowed == (response.field("content-length") == nil))
        }
    }

    @Test("a page may send with the keys that allow its origin, and can read refusals of the others")
    func origins() async throws {
        let keys = [Self.key(origins: ["https://shop.example"]), Self.key("app", origins: ["https://app.example"])]
        func request(_ origin: String, _ key: String) -> Request {
            Request(path: "/v1/events?key=\(key)", type: "text/plain", fields: "Origin: \(origin)\r\n")
        }
        let result = try await Self.send(
            request("https://shop.example", "web-key"),
            request("https://app.example", "web-key"),
            request("https://app.example", "unknown"),
            request("https://evil.test", "web-key"),
            keys: keys
        )
        #expect(result.responses.map(\.status) == [200, 403, 401, 403])
        let allowed = result.responses.map { $0.field("access-control-allow-origin") }
        #expect(allowed == ["https://shop.example", "https://app.example", "https://app.example", nil])
        #expect(result.responses[0].field("access-control-expose-headers") == "retry-after, x-ratelimit-reset")
        #expect(result.responses[1].body.contains(#""code":"forbidden-origin""#))
        #expect(result.lines.count == 1)
    }

    @Test(
        "a page can read every refusal, also one that the header decides",
        arguments: [
            (Request(type: "text/html"), 415), (Request(fields: "Content-Encoding: br\r\n"), 415),
            (Request(path: "/v1/nothing"), 404), (Request(method: "GET"), 405),
            (Request(fields: "Sluice-Strict: perhaps\r\n"), 400), (Request(body: "{"), 400),
        ]
    )
    private func readableRefusals(request: Request, status: Int) async throws {
        var request = request
        request.fields += "Origin: https://shop.example\r\nAuthorization: Bearer web-key\r\n"
        let result = try await Self.send(request, keys: [Self.key(origins: ["https://shop.example"])])
        #expect(result.responses[0].status == status)
        #expect(result.responses[0].field("access-control-allow-origin") == "https://shop.example")
    }

    @Test("a page gets the time to wait in the field that Segment's client reads, too")
    func rateLimitReset() async throws {
        let request = Request(
            path: "/v1/events?key=web-key",
            type: "text/plain",
            fields: "Origin: https://shop.example\r\n"
        )
        let keys = [Self.key(limits: .init(eventsPerSecond: 1, burst: 1), origins: ["https://shop.example"])]
        let result = try await Self.send(request, request, keys: keys)
        #expect(result.responses[1].field("x-ratelimit-reset") == "1")
        #expect(result.responses[1].field("access-control-expose-headers") == "retry-after, x-ratelimit-reset")
    }

    @Test("without keys, only pages of this machine may send")
    func originsWithoutKeys() async throws {
        func request(_ origin: String) -> Request {
            Request(type: "text/plain", fields: "Origin: \(origin)\r\n")
        }
        let result = try await Self.send(request("http://localhost:3000"), request("https://evil.test"), keys: nil)
        #expect(result.responses.map(\.status) == [200, 403])
        #expect(result.lines.count == 1)
    }

    // MARK: Settings of clients

    @Test("analytics.js gets settings that make it send to this server")
    func segmentSettings() async throws {
        let request = Request(
            method: "GET",
            path: "/v1/projects/web-key/settings",
            fields: "Origin: https://shop.example\r\n"
        )
        let unknown = Request(method: "GET", path: "/v1/projects/other/settings")
        let result = try await Self.send(request, unknown, keys: [Self.key(origins: ["https://shop.example"])])
        #expect(result.responses.map(\.status) == [200, 401])
        let settings = try JSONSerialization.jsonObject(with: Data(result.responses[0].body.utf8)) as? [String: Any]
        let integrations = settings?["integrations"] as? [String: [String: Any]]
        #expect(integrations?["Segment.io"]?["apiKey"] as? String == "web-key")
        #expect(integrations?["Segment.io"]?["apiHost"] as? String == "sluice.example/v1")
        #expect(result.responses[0].field("access-control-allow-origin") == "https://shop.example")
    }

    @Test("RudderStack's client for browsers gets a source without destinations")
    func rudderStackSettings() async throws {
        for (path, fields) in [
            ("/sourceConfig", "Authorization: Basic d2ViLWtleTo=\r\n"), ("/sourceConfig/?writeKey=web-key", ""),
        ] {
            let request = Request(method: "GET", path: path, fields: fields)
            let response = try await Self.send(request, keys: [Self.key()]).responses[0]
            #expect(response.status == 200)
            let settings = try JSONSerialization.jsonObject(with: Data(response.body.utf8)) as? [String: Any]
            let source = settings?["source"] as? [String: Any]
            #expect(source?["writeKey"] as? String == "web-key")
            #expect(source?["enabled"] as? Bool == true)
            #expect((source?["destinations"] as? [Any])?.isEmpty == true)
        }
        #expect(
            try await Self.send(Request(method: "GET", path: "/sourceConfig"), keys: [Self.key()]).responses[0].status
                == 401
        )
    }

    // MARK: Listening

    @Test("without keys only a loopback address is listened on, unless that is wanted")
    func loopbackOnly() async throws {
        func listens(keys: [WriteKey]?, isOpen: Bool) async throws {
            var setup = TestServer.Setup()
            setup.http.host = "0.0.0.0"
            setup.http.isOpen = isOpen
            setup.keys = keys
            try await TestServer.run(setup) { _ in }
        }
        let refused = await #expect(throws: IngestError.self) { try await listens(keys: nil, isOpen: false) }
        #expect(refused?.code == .noKeys)
        try await listens(keys: [], isOpen: false)
        try await listens(keys: nil, isOpen: true)
    }
}
