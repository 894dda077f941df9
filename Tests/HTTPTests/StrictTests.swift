import EventPipeline
import Foundation
import ServerTestSupport
import TestPromises
import Testing

@Suite("Requests that store all or nothing", .timeLimit(.minutes(5)))
struct StrictTests {
    private static let mixed = #"[{"name":"Ping"},{"name":"Nothing"},{"name":"Ping"}]"#
    private static let valid = #"[{"name":"Ping"},{"name":"Ping"}]"#

    /// Sends a body, and returns the response, the number of delivered events and the number of quarantined ones.
    private static func send(
        _ body: String,
        to path: String = "/v1/events",
        strict: String? = nil
    ) async throws -> (response: RawClient.Response, delivered: Int, quarantined: Int) {
        try await TestServer.run { server in
            let field = strict.map { "Sluice-Strict: \($0)\r\n" } ?? ""
            let response = try await RawClient.with(server.address) { client in
                let head = "POST \(path) HTTP/1.1\r\nHost: sluice\r\nContent-Length: \(body.utf8.count)\r\n\(field)\r\n"
                return try await client.exchange(head + body)
            }
            await server.pipeline.flush()
            return (response, server.delivered.lines.count, try await server.quarantined().count)
        }
    }

    @Test(
        "with Sluice-Strict, one invalid event keeps the others from being stored",
        .promise("invalid-event"),
        arguments: ["true", "TRUE", " true "]
    )
    func strict(value: String) async throws {
        let result = try await Self.send(Self.mixed, strict: value)
        #expect(result.response.status == 422)
        #expect(result.response.body.hasPrefix(#"{"accepted":0,"rejected":[{"index":1,"#))
        #expect(result.response.body.contains(#""rejectedIndexes":[[1,1]]"#))
        #expect(result.delivered == 0)
        #expect(result.quarantined == 0)
    }

    @Test(
        "in the formats of other clients, the answer to a strict request is theirs, with code and message",
        arguments: [
            ("/v1/track", #"[{"event":"Ping"},{"event":"Nothing"}]"#, #""success":false,"#),
            ("/batch/", #"{"batch":[{"event":"Ping"},{"event":"Nothing"}]}"#, #""status":0,"#),
            ("/i/v1/analytics/events", #"{"batch":[{"event":"Ping"},{"event":"Nothing"}]}"#, #""status":0,"#),
        ]
    )
    func dialects(path: String, body: String, first: String) async throws {
        let result = try await Self.send(body, to: path, strict: "true")
        #expect(result.response.status == 422)
        #expect(result.response.body.hasPrefix("{" + first + #""code":"rejected-events","message":""#))
        #expect(result.response.body.contains(#","accepted":0,"rejected":[{"index":1,"#))
        #expect(result.response.body.hasSuffix(#""rejectedCodes":{"unknown-event":1}}"#))
        #expect(try JSONSerialization.jsonObject(with: Data(result.response.body.utf8)) is [String: Any])
        #expect(result.delivered == 0)
        #expect(result.quarantined == 0)
    }

    @Test("with Sluice-Strict, valid events are stored as usual", arguments: [valid, #"{"name":"Ping"}"#])
    func allValid(body: String) async throws {
        let result = try await Self.send(body, strict: "true")
        #expect(result.response.status == 200)
        #expect(result.delivered == (body == Self.valid ? 2 : 1))
    }

    @Test("without Sluice-Strict, and with false, the valid events are stored", arguments: [nil, "false"])
    func lenient(value: String?) async throws {
        let result = try await Self.send(Self.mixed, strict: value)
        #expect(result.response.status == 200)
        #expect(result.delivered == 2)
        #expect(result.quarantined == 1)
    }

    @Test("another value of Sluice-Strict is 400, because a guess could store too much")
    func invalid() async throws {
        let result = try await Self.send(Self.valid, strict: "yes")
        #expect(result.response.status == 400)
        #expect(result.response.body.hasPrefix(#"{"error":{"code":"invalid-strict""#))
        #expect(result.delivered == 0)
    }

    @Test(
        "/v1/validate answers as /v1/events does, and stores nothing",
        arguments: [mixed, valid, #"{"name":"Ping"}"#, #"{"name":"Nothing"}"#, "{", "[]"],
        [nil, "true"]
    )
    func validate(body: String, strict: String?) async throws {
        let events = try await Self.send(body, strict: strict)
        let validated = try await Self.send(body, to: "/v1/validate", strict: strict)
        #expect(validated.response.status == events.response.status)
        #expect(validated.response.body == events.response.body)
        #expect(validated.delivered == 0)
        #expect(validated.quarantined == 0)
    }
}
