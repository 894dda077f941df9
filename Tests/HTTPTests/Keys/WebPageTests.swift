import Foundation
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// Requests of web pages, and the settings that clients for browsers load.
@Suite("Which web pages may send", .timeLimit(.minutes(5)))
struct WebPageTests {
    private let exposed = "etag, retry-after, sluice-acknowledged, x-ratelimit-reset"

    @Test("a preflight request is answered for the origins of all keys, and for no others")
    func preflight() async throws {
        let keys = [
            KeyedExchange.key(origins: ["https://shop.example"]),
            KeyedExchange.key("app", origins: ["https://*.app.example"]),
        ]
        for (origin, isAllowed) in [
            ("https://shop.example", true), ("https://a.app.example", true), ("https://evil.test", false),
        ] {
            let preflight = "Origin: \(origin)\r\nAccess-Control-Request-Method: POST\r\n"
            let request = KeyedExchange.Request(method: "OPTIONS", type: nil, fields: preflight, body: "")
            let response = try await KeyedExchange.send(request, keys: keys).responses[0]
            #expect(response.status == (isAllowed ? 204 : 403))
            #expect(response.field("access-control-allow-origin") == (isAllowed ? origin : nil))
            #expect(response.field("vary") == (isAllowed ? "origin, access-control-request-headers" : nil))
            #expect(response.field("access-control-allow-credentials") == (isAllowed ? "true" : nil))
            let headers = response.field("access-control-allow-headers") ?? ""
            for name in ["authorization", "content-type", "anonymousid"] {
                #expect(headers.contains(name) == isAllowed)
            }
            #expect(response.body.isEmpty == isAllowed)
            #expect(isAllowed == (response.field("content-length") == nil))
        }
    }

    @Test(
        "a preflight request is allowed the header fields that it asks for, as far as they are valid and not too long",
        arguments: [
            // RudderStack's and Segment's clients for browsers, and a page that is traced.
            ("authorization,content-type,rsa-retry-attempt,rsa-since-last-attempt,sentat", true),
            ("authorization, content-type,\tx-retry-count", true), ("content-type,traceparent", true),
            (String(repeating: "a", count: 1024), true), (String(repeating: "a", count: 1025), false), ("", false),
            ("content-type,", false), ("content type", false), ("content-type;", false), ("caf\u{e9}", false),
        ]
    )
    func requestedHeaders(names: String, isRepeated: Bool) async throws {
        let fields = """
            Origin: https://shop.example\r\nAccess-Control-Request-Method: POST\r
            Access-Control-Request-Headers: \(names)\r\n
            """
        let request = KeyedExchange.Request(method: "OPTIONS", path: "/v1/t", type: nil, fields: fields, body: "")
        let keys = [KeyedExchange.key(origins: ["https://shop.example"])]
        let response = try await KeyedExchange.send(request, keys: keys).responses[0]
        #expect(response.status == 204)
        let allowed = try #require(response.field("access-control-allow-headers"))
        if isRepeated {
            #expect(allowed == names.filter { !$0.isWhitespace })
        } else {
            #expect(allowed.hasPrefix("authorization, content-type, content-encoding,"))
        }
    }

    @Test(
        "a page may send with the keys that allow its origin, and can read refusals of the others",
        .promise("unauthorized")
    )
    func origins() async throws {
        let keys = [
            KeyedExchange.key(origins: ["https://shop.example"]),
            KeyedExchange.key("app", origins: ["https://app.example"]),
        ]
        func request(_ origin: String, _ key: String) -> KeyedExchange.Request {
            KeyedExchange.Request(path: "/v1/events?key=\(key)", type: "text/plain", fields: "Origin: \(origin)\r\n")
        }
        let result = try await KeyedExchange.send(
            request("https://shop.example", "web-key"),
            request("https://app.example", "web-key"),
            request("https://app.example", "unknown"),
            request("https://evil.test", "web-key"),
            keys: keys
        )
        #expect(result.responses.map(\.status) == [200, 403, 401, 403])
        let allowed = result.responses.map { $0.field("access-control-allow-origin") }
        #expect(allowed == ["https://shop.example", "https://app.example", "https://app.example", nil])
        #expect(result.responses[0].field("access-control-expose-headers") == exposed)
        #expect(result.responses[1].body.contains(#""code":"forbidden-origin""#))
        #expect(result.lines.count == 1)
    }

    @Test(
        "a page can read every refusal, also one that the header decides",
        arguments: [
            (KeyedExchange.Request(type: "text/html"), 415),
            (KeyedExchange.Request(fields: "Content-Encoding: br\r\n"), 415),
            (KeyedExchange.Request(path: "/v1/nothing"), 404), (KeyedExchange.Request(method: "GET"), 405),
            (KeyedExchange.Request(fields: "Sluice-Strict: perhaps\r\n"), 400), (KeyedExchange.Request(body: "{"), 400),
        ]
    )
    func readableRefusals(request: KeyedExchange.Request, status: Int) async throws {
        var request = request
        request.fields += "Origin: https://shop.example\r\nAuthorization: Bearer web-key\r\n"
        let result = try await KeyedExchange.send(request, keys: [KeyedExchange.key(origins: ["https://shop.example"])])
        #expect(result.responses[0].status == status)
        #expect(result.responses[0].field("access-control-allow-origin") == "https://shop.example")
    }

    @Test("a page gets the time to wait in the field that Segment's client reads, too")
    func rateLimitReset() async throws {
        let request = KeyedExchange.Request(
            path: "/v1/events?key=web-key",
            type: "text/plain",
            fields: "Origin: https://shop.example\r\n"
        )
        let keys = [KeyedExchange.key(limits: .init(eventsPerSecond: 1, burst: 1), origins: ["https://shop.example"])]
        let result = try await KeyedExchange.send(request, request, keys: keys)
        #expect(result.responses[1].field("x-ratelimit-reset") == "1")
        #expect(result.responses[1].field("access-control-expose-headers") == exposed)
    }

    @Test("without keys, only pages of this machine may send", .promise("unauthorized"))
    func originsWithoutKeys() async throws {
        func request(_ origin: String) -> KeyedExchange.Request {
            KeyedExchange.Request(type: "text/plain", fields: "Origin: \(origin)\r\n")
        }
        let result = try await KeyedExchange.send(
            request("http://localhost:3000"),
            request("https://evil.test"),
            keys: nil
        )
        #expect(result.responses.map(\.status) == [200, 403])
        #expect(result.lines.count == 1)
    }

    // MARK: Settings of clients

    @Test("analytics.js gets settings that make it send to this server")
    func segmentSettings() async throws {
        let request = KeyedExchange.Request(
            method: "GET",
            path: "/v1/projects/web-key/settings",
            fields: "Origin: https://shop.example\r\n"
        )
        let unknown = KeyedExchange.Request(method: "GET", path: "/v1/projects/other/settings")
        let result = try await KeyedExchange.send(
            request,
            unknown,
            keys: [KeyedExchange.key(origins: ["https://shop.example"])]
        )
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
            let request = KeyedExchange.Request(method: "GET", path: path, fields: fields)
            let response = try await KeyedExchange.send(request, keys: [KeyedExchange.key()]).responses[0]
            #expect(response.status == 200)
            let settings = try JSONSerialization.jsonObject(with: Data(response.body.utf8)) as? [String: Any]
            let source = settings?["source"] as? [String: Any]
            #expect(source?["writeKey"] as? String == "web-key")
            #expect(source?["enabled"] as? Bool == true)
            #expect((source?["destinations"] as? [Any])?.isEmpty == true)
        }
        #expect(
            try await KeyedExchange.send(
                KeyedExchange.Request(method: "GET", path: "/sourceConfig"),
                keys: [KeyedExchange.key()]
            ).responses[0].status
                == 401
        )
    }
}
