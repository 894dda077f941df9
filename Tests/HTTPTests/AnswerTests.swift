import EventPipeline
import EventValidation
import Foundation
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// Every response of the public port to a well-formed request.
@Suite("HTTP answers", .timeLimit(.minutes(5)))
struct AnswerTests {
    @Test("one event is accepted and delivered, and the response has its count")
    func oneEvent() async throws {
        try await TestServer.run { server in
            let response = try await RawClient.with(server.address) { try await $0.exchange(Requests.post()) }
            #expect(response.status == 200)
            #expect(response.body == #"{"accepted":1,"rejected":[]}"#)
            #expect(response.field("content-type") == "application/json")
            await server.pipeline.flush()
            #expect(server.delivered.lines.count == 1)
            #expect(server.delivered.lines.first?.contains(#""name":"Ping""#) == true)
        }
    }

    @Test(
        "of an array the valid events are accepted, and each invalid one is reported with its index, id and all reasons",
        .promise("invalid-event")
    )
    func array() async throws {
        let body = """
            [{"name":"Ping","payload":{"n":1}},{"name":"Pong","id":"x"},
            {"name":"Ping","payload":{"n":"secret"}},{"name":"Ping"}]
            """
        try await TestServer.run { server in
            let response = try await RawClient.with(server.address) { try await $0.exchange(Requests.post(body)) }
            #expect(response.status == 200)
            let answer = try Answer(response.body)
            #expect(answer.accepted == 2)
            #expect(answer.rejected.map(\.index) == [1, 2])
            #expect(answer.rejected.map(\.id) == ["x", nil])
            #expect(answer.rejected[0].errors.map(\.code).contains("unknown-event"))
            #expect(answer.rejected[1].errors.map(\.code) == ["wrong-type"])
            #expect(answer.rejected[1].errors.map(\.path) == ["$.payload.n"])
            #expect(response.body.contains(#"{"index":2,"id":null,"errors":[{"#))
            #expect(!response.body.contains("secret"))
            let kept = try await server.quarantined()
            #expect(kept.count == 2)
            #expect(kept.allSatisfy { $0.contains("http") })
        }
    }

    @Test("in NDJSON, an invalid line is one rejected event, and empty lines do not count")
    func lines() async throws {
        let body = #"{"name":"Ping"}"# + "\n\n{broken\n" + #"{"name":"Ping"}"#
        try await TestServer.run { server in
            let response = try await RawClient.with(server.address) {
                try await $0.exchange(Requests.post(body, type: "application/x-ndjson"))
            }
            #expect(response.status == 200)
            let answer = try Answer(response.body)
            #expect(answer.accepted == 2)
            #expect(answer.rejected.map(\.index) == [1])
            #expect(answer.rejected.first?.errors.map(\.code) == ["malformed-json"])
        }
    }

    @Test("if no event is valid, the response is 422 with the verdicts")
    func noneValid() async throws {
        try await TestServer.run { server in
            let response = try await RawClient.with(server.address) {
                try await $0.exchange(Requests.post(#"[{"name":"Pong"},{"nam":"Ping"}]"#))
            }
            #expect(response.status == 422)
            #expect(try Answer(response.body).rejected.map(\.index) == [0, 1])
            #expect(try await server.quarantined().count == 2)
        }
    }

    @Test(
        "a body that is not JSON is 400, and the connection stays open",
        arguments: ["", " ", "{", "name=Ping", "[1", String(repeating: "[", count: 2000) + "]"]
    )
    func noJSON(body: String) async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                let response = try await client.exchange(Requests.post(body))
                #expect(response.status == 400)
                #expect(response.body.hasPrefix(#"{"error":{"code":"malformed-json","message":""#))
                #expect(try JSONSerialization.jsonObject(with: Data(response.body.utf8)) is [String: Any])
                #expect(try await client.exchange(Requests.post()).status == 200)
            }
        }
    }

    @Test("a gzip body is inflated, in all formats")
    func gzip() async throws {
        let document = try await Requests.gzip(#"[{"name":"Ping"},{"name":"Ping"}]"#)
        let lines = try await Requests.gzip("{\"name\":\"Ping\"}\n{\"name\":\"Ping\"}\n{\"name\":\"Ping\"}\n")
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                for (body, type, count) in [
                    (document, "application/json", 2), (lines, "application/x-ndjson", 3),
                    (document, "application/json", 2),
                ] {
                    let fields = "Content-Type: \(type)\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n"
                    try await client.send(bytes: Array(Requests.head(fields: fields).utf8) + body)
                    let response = try await client.response()
                    #expect(response.status == 200)
                    #expect(response.body == #"{"accepted":\#(count),"rejected":[]}"#)
                }
            }
        }
    }

    @Test("a gzip body that is truncated, damaged or not gzip is 400")
    func damagedGzip() async throws {
        let whole = try await Requests.gzip(Requests.ping)
        var damaged = whole
        damaged[whole.count - 5] ^= 1
        let bodies = [Array(whole.dropLast()), damaged, Array(Requests.ping.utf8), []]
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                for body in bodies {
                    let fields = "Content-Encoding: gzip\r\nContent-Length: \(body.count)\r\n"
                    try await client.send(bytes: Array(Requests.head(fields: fields).utf8) + body)
                    let response = try await client.response()
                    #expect(response.status == 400)
                    #expect(response.body.hasPrefix(#"{"error":{"code":"invalid-gzip""#))
                }
                #expect(try await client.exchange(Requests.post()).status == 200)
            }
        }
    }

    @Test(
        "unsupported media types, charsets and encodings are 415",
        arguments: [
            "Content-Type: text/html\r\n", "Content-Type: application/x-www-form-urlencoded\r\n",
            "Content-Type: application/json; charset=latin1\r\n", "Content-Type: application/jsonx\r\n",
            "Content-Type: application/json\r\nContent-Type: text/html\r\n", "Content-Type: \r\n",
            "Content-Encoding: br\r\n", "Content-Encoding: gzip, gzip\r\n",
            "Content-Encoding: identity\r\nContent-Encoding: gzip\r\n",
        ]
    )
    func unsupported(fields: String) async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                let response = try await client.exchange(
                    Requests.head(fields: fields + "Content-Length: \(Requests.ping.utf8.count)\r\n") + Requests.ping
                )
                #expect(response.status == 415)
                #expect(response.body.contains(fields.contains("Encoding") ? "unsupported-encoding" : "media-type"))
                #expect(response.field("accept-encoding") == (fields.contains("Encoding") ? "gzip" : nil))
                #expect(try await client.exchange(Requests.post()).status == 200)
            }
        }
    }

    @Test(
        "JSON in UTF-8 is accepted with every spelling of its media type",
        arguments: [
            "", "Content-Type: application/json\r\n", "content-type:APPLICATION/JSON;Charset=\"UTF-8\"\r\n",
            "Content-Type: application/json ; charset=utf8 ; x=y\r\n", "Content-Encoding: identity\r\n",
            "Content-Type: application/x-ndjson; charset=utf-8\r\n",
        ]
    )
    func supported(fields: String) async throws {
        try await TestServer.run { server in
            let response = try await RawClient.with(server.address) {
                try await $0.exchange(
                    Requests.head(fields: fields + "Content-Length: \(Requests.ping.utf8.count)\r\n") + Requests.ping
                )
            }
            #expect(response.status == 200)
        }
    }

    @Test("a wrong method is 405 and lists the allowed ones; an unknown path is 404")
    func wrongPlace() async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                for (method, target, allow) in [
                    ("GET", "/v1/events", "post"), ("PUT", "/v1/events", "post"), ("OPTIONS", "/v1/events", "post"),
                    ("POST", "/livez", "get, head"), ("DELETE", "/readyz", "get, head"),
                ] {
                    let response = try await client.exchange(Requests.plain(method, target))
                    #expect(response.status == 405)
                    #expect(response.field("allow") == allow)
                    #expect(response.body.hasPrefix(#"{"error":{"code":"method-not-allowed""#))
                }
                for target in ["/", "/v1", "/v1/events/", "/V1/events", "//v1/events", "/metrics", "*"] {
                    let method = target == "*" ? "OPTIONS" : "POST"
                    let response = try await client.exchange(Requests.plain(method, target))
                    #expect(response.status == 404)
                    #expect(response.body.hasPrefix(#"{"error":{"code":"not-found""#))
                }
                for target in ["/v1/events?source=app", "http://sluice/v1/events", "HTTP://sluice:1/v1/events?a#b"] {
                    let request = Requests.post().replacing("/v1/events", with: target, maxReplacements: 1)
                    #expect(try await client.exchange(request).status == 200, "\(target)")
                }
            }
        }
    }

    @Test("the body of a refused request is not read as the next request")
    func refusedBody() async throws {
        let hidden = Requests.post()
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                let request = Requests.post(hidden, type: "text/html") + Requests.plain("GET", "/livez")
                let refusal = try await client.exchange(request)
                #expect(refusal.status == 415)
                #expect(try await client.response().body == #"{"status":"ok"}"#)
            }
            #expect(server.pipeline.statistics.accepted == 0)
        }
    }

    @Test("livez and readyz answer GET and HEAD")
    func health() async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                for target in ["/livez", "/readyz"] {
                    var ready = try await client.exchange(Requests.plain("GET", target))
                    // The pipeline starts its trackers concurrently with the server.
                    while target == "/readyz", ready.status == 503 {
                        ready = try await client.exchange(Requests.plain("GET", target))
                    }
                    #expect(ready.status == 200)
                    #expect(ready.body == #"{"status":"ok"}"#)
                    let head = try await client.exchange(Requests.plain("HEAD", target), hasBody: false)
                    #expect(head.status == 200)
                    #expect(head.field("content-length") == "15")
                }
                // If the response to HEAD had a body, this response would begin with it.
                #expect(try await client.exchange(Requests.plain("GET", "/livez")).status == 200)
            }
        }
    }

    @Test("before the pipeline is ready, readyz is 503 and livez is 200")
    func notReady() async throws {
        try await TestServer.run(.init(delivers: false)) { server in
            try await RawClient.with(server.address) { client in
                let ready = try await client.exchange(Requests.plain("GET", "/readyz"))
                #expect(ready.status == 503)
                #expect(ready.field("retry-after") == "1")
                // The reasons are for the operator, and not for everyone who can reach the port.
                let message = "The service does not accept events at this time."
                #expect(ready.body == #"{"error":{"code":"not-ready","message":"\#(message)"}}"#)
                #expect(try await client.exchange(Requests.plain("GET", "/livez")).status == 200)
            }
        }
    }
}

/// The decoded response to a body of events.
struct Answer: Decodable {
    struct Rejected: Decodable {
        struct Violation: Decodable {
            let code: String
            let path: String
            let expected: String
            let found: String
        }

        let index: Int
        let id: String?
        let errors: [Violation]
    }

    let accepted: Int
    let rejected: [Rejected]
    let rejectedCount: Int?
    let rejectedIndexes: [[Int]]?
    let rejectedCodes: [String: Int]?

    init(_ text: String) throws {
        self = try JSONDecoder().decode(Answer.self, from: Data(text.utf8))
    }
}
