import EventSchema
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// Identifiers as the clients of other products send them.
@Suite("The limit of identifiers in other formats", .timeLimit(.minutes(5)))
struct IdentifierTests {
    private static let plan = DialectExchange.plan(["Seen": []])

    /// The bodies with an identifier in each of its places, with the path in the verdict.
    private static let bodies: [(path: String, type: String, body: @Sendable (String) -> String, place: String)] = [
        ("/v1/track", "application/json", { #"{"event":"Seen","userId":"\#($0)"}"# }, "$.userId"),
        ("/v1/track", "application/json", { #"{"event":"Seen","anonymousId":"\#($0)"}"# }, "$.anonymousId"),
        ("/v1/track", "application/json", { #"{"event":"Seen","context":{"sessionId":"\#($0)"}}"# }, "$.sessionId"),
        ("/batch/", "application/json", { #"{"batch":[{"event":"Seen","distinct_id":"\#($0)"}]}"# }, "$.userId"),
        (
            "/batch/", "application/json",
            { #"{"batch":[{"event":"Seen","distinct_id":"\#($0)","options":{"process_person_profile":false}}]}"# },
            "$.anonymousId"
        ),
        ("/batch/", "application/json", { #"{"batch":[{"event":"Seen","session_id":"\#($0)"}]}"# }, "$.sessionId"),
        (
            "/v1/events", "application/cloudevents+json",
            { #"{"specversion":"1.0","id":"1","source":"s","type":"Seen","subject":"\#($0)"}"# }, "$.userId"
        ),
    ]

    @Test("512 bytes are accepted, and one more is rejected with a code of its own", .promise("invalid-event"))
    func limit() async throws {
        for (path, type, body, place) in Self.bodies {
            for length in [512, 513] {
                let result = try await DialectExchange.send(
                    Array(body(String(repeating: "x", count: length)).utf8),
                    to: path,
                    Self.plan,
                    type: type,
                    cloudEvents: .init(subjectIsUserID: true)
                )
                #expect(result.lines.count == (length == 512 ? 1 : 0), "\(path) \(place)")
                guard length > 512 else { continue }
                #expect(result.response.body.contains(#""code":"identifier-too-long","path":"\#(place)""#), "\(path)")
            }
        }
    }
}
