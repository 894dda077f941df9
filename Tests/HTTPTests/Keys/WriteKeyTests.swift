import EventPipeline
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// Requests with and without keys, to a real server.
@Suite("Who may send", .timeLimit(.minutes(5)))
struct WriteKeyTests {
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
        let result = try await KeyedExchange.send(
            KeyedExchange.Request(path: path, fields: fields, body: body),
            keys: [KeyedExchange.key()]
        )
        #expect(result.responses[0].status == 200)
        #expect(result.lines.count == 1)
        #expect(!result.lines.contains { $0.contains("web-key") }, "a key must not be stored with an event")
    }

    @Test(
        "a key in a message that cannot be translated is not stored with it",
        arguments: [
            ("/e/", #"{"api_key":"web-key","event":"Ping","properties":[1]}"#),
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
        let result = try await KeyedExchange.send(
            KeyedExchange.Request(path: path, body: body),
            keys: [KeyedExchange.key()]
        )
        #expect(result.responses[0].status == 200)
        #expect(!result.quarantined.isEmpty)
        #expect(!result.quarantined.contains { $0.contains("web-key") })
    }

    @Test(
        "a body with an untranslatable message and an odd key is answered at once",
        arguments: ["*", "**", "{", "aaaaaaaa", String(repeating: "a", count: 300)]
    )
    func oddKeys(key: String) async throws {
        let message = #"{"type":"track","a":"\#(String(repeating: "a*", count: 100_000))",}"#
        let body = #"{"batch":[\#(message)],"writeKey":"\#(key)"}"#
        let result = try await KeyedExchange.send(
            KeyedExchange.Request(path: "/v1/batch", body: body),
            keys: [KeyedExchange.key()]
        )
        #expect(result.responses[0].status == 401)
    }

    @Test("a key in the header is not stored with an untranslatable message that contains it")
    func concealedHeaderKey() async throws {
        let body = #"{"batch":[{"type":"track","b":"web-web-key","writeKey":"web-key","a":}],"writeKey":"web-key"}"#
        let request = KeyedExchange.Request(path: "/v1/batch", fields: "Authorization: Bearer web-key\r\n", body: body)
        let result = try await KeyedExchange.send(request, keys: [KeyedExchange.key()])
        #expect(result.quarantined.count == 1)
        #expect(result.quarantined.allSatisfy { $0.contains("web-*******") && !$0.contains("web-key") })
    }

    @Test(
        "without a valid key nothing is accepted, and the answer is in the client's format",
        .promise("unauthorized"),
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
        let result = try await KeyedExchange.send(
            KeyedExchange.Request(path: path, fields: fields, body: body),
            keys: [KeyedExchange.key()]
        )
        #expect(result.responses[0].status == 401)
        #expect(result.responses[0].body.hasPrefix(answer))
        #expect(result.responses[0].field("www-authenticate") == "bearer")
        #expect(result.lines.isEmpty)
    }

    @Test("an unauthorized request is answered, and the connection stays open", .promise("unauthorized"))
    func connectionGoesOn() async throws {
        let allowed = KeyedExchange.Request(fields: "Authorization: Bearer web-key\r\n")
        let result = try await KeyedExchange.send(
            KeyedExchange.Request(),
            allowed,
            KeyedExchange.Request(),
            allowed,
            keys: [KeyedExchange.key()]
        )
        #expect(result.responses.map(\.status) == [401, 200, 401, 200])
        #expect(result.lines.count == 2)
    }

    @Test("health checks need no key")
    func health() async throws {
        let live = KeyedExchange.Request(method: "GET", path: "/livez")
        let ready = KeyedExchange.Request(method: "GET", path: "/readyz")
        #expect(try await KeyedExchange.send(live, ready, keys: []).responses.map(\.status) == [200, 200])
    }

    @Test("only the events that a key may not send are rejected", .promise("key-limits"))
    func forbiddenEvent() async throws {
        let body = #"[{"name":"Ping"},{"name":"Pong"},{"name":"Ping"}]"#
        let request = KeyedExchange.Request(fields: "Authorization: Bearer web-key\r\n", body: body)
        let result = try await KeyedExchange.send(request, keys: [KeyedExchange.key(events: ["Ping"])])
        #expect(result.responses[0].status == 200)
        #expect(result.responses[0].body.contains(#""accepted":2"#))
        #expect(result.responses[0].body.contains(#""code":"forbidden-event","path":"$.name""#))
        #expect(result.lines.count == 2)
    }

    @Test("an event that a key may not send is not suggested to it")
    func suggestions() async throws {
        let body = #"[{"name":"ping"},{"name":"pong"}]"#
        func answer(_ events: [String]?) async throws -> String {
            let request = KeyedExchange.Request(fields: "Authorization: Bearer web-key\r\n", body: body)
            return try await KeyedExchange.send(request, keys: [KeyedExchange.key(events: events)]).responses[0].body
        }
        let all = try await answer(nil)
        #expect(all.contains("did you mean 'Ping'?") && all.contains("did you mean 'Pong'?"))
        let some = try await answer(["Ping"])
        #expect(some.contains("did you mean 'Ping'?") && !some.contains("Pong"))
    }

    @Test("what a key is allowed in the body's format applies to keys in the body, too")
    func forbiddenEventOfBodyKey() async throws {
        let body = #"{"batch":[{"type":"track","event":"Pong"},{"type":"track","event":"Ping"}],"writeKey":"web-key"}"#
        let result = try await KeyedExchange.send(
            KeyedExchange.Request(path: "/v1/batch", body: body),
            keys: [KeyedExchange.key(events: ["Ping"])]
        )
        #expect(result.responses[0].body.contains(#""rejectedCodes":{"forbidden-event":1}"#))
        #expect(result.lines.count == 1)
    }

    @Test(
        "a key that sends too much gets 429 with the time to wait, and nothing is accepted",
        .promise("key-limits"),
        arguments: [
            (WriteKey.Limits(eventsPerSecond: 2, burst: 3), "rate-limited", "1"),
            (WriteKey.Limits(eventsPerDay: 3), "daily-volume-exceeded", "41600"),
        ]
    )
    func limits(limits: WriteKey.Limits, code: String, wait: String) async throws {
        let events = #"[{"name":"Ping"},{"name":"Nothing"},{"name":"Ping"}]"#
        let first = KeyedExchange.Request(fields: "Authorization: Bearer web-key\r\n", body: events)
        let second = KeyedExchange.Request(fields: "Authorization: Bearer web-key\r\n")
        let third = KeyedExchange.Request(
            path: "/v1/batch",
            body: #"{"batch":[{"type":"track","event":"Ping"}],"writeKey":"web-key"}"#
        )
        let other = KeyedExchange.Request(fields: "Authorization: Bearer app-key\r\n")
        let result = try await KeyedExchange.send(
            first,
            second,
            third,
            other,
            keys: [KeyedExchange.key(limits: limits), KeyedExchange.key("app")]
        )
        #expect(result.responses.map(\.status) == [200, 429, 429, 200])
        #expect(result.responses[1].body.contains(#""code":"\#(code)""#))
        #expect(result.responses[1].field("retry-after") == wait)
        #expect(result.lines.count == 3)
    }

    @Test("PostHog's clients get 503 for a key's limit, because posthog-js discards a batch after 429")
    func limitOfPostHog() async throws {
        let request = KeyedExchange.Request(
            path: "/e/",
            body: #"{"api_key":"web-key","event":"Ping","distinct_id":"u"}"#
        )
        let keys = [KeyedExchange.key(limits: WriteKey.Limits(eventsPerSecond: 1, burst: 1))]
        let result = try await KeyedExchange.send(request, request, keys: keys)
        #expect(result.responses.map(\.status) == [200, 503])
        #expect(result.responses[1].body.contains(#""code":"rate-limited""#))
        #expect(result.responses[1].field("retry-after") == "1")
    }

    @Test("a body with too many rejected events counts against the limits, although it is refused as a whole")
    func tooManyRejections() async throws {
        let events = Array(repeating: #"{"name":"Nothing"}"#, count: 10_001).joined(separator: "\n")
        let request = KeyedExchange.Request(
            type: "application/x-ndjson",
            fields: "Authorization: Bearer web-key\r\n",
            body: events
        )
        let keys = [KeyedExchange.key(limits: WriteKey.Limits(eventsPerDay: 10_000))]
        let result = try await KeyedExchange.send(request, request, keys: keys)
        #expect(result.responses.map(\.status) == [413, 429])
    }

    @Test("a batch larger than the burst is accepted once")
    func largeBatch() async throws {
        let events = "[" + Array(repeating: #"{"name":"Ping"}"#, count: 50).joined(separator: ",") + "]"
        let request = KeyedExchange.Request(fields: "Authorization: Bearer web-key\r\n", body: events)
        let keys = [KeyedExchange.key(limits: WriteKey.Limits(eventsPerSecond: 10, burst: 20))]
        let result = try await KeyedExchange.send(request, request, keys: keys)
        #expect(result.responses.map(\.status) == [200, 429])
        // 30 events are owed, and 1 more is wanted.
        #expect(result.responses[1].field("retry-after") == "4")
        #expect(result.lines.count == 50)
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
