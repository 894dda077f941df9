import EventSchema
import Foundation
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// Bodies of other clients with more events, or more rejected ones, than a body may have.
@Suite("The limits on the events of a dialect's body", .timeLimit(.minutes(5)))
struct DialectLimitTests {
    private static let plan = DialectExchange.plan(["Ping": [("n", .integer), ("text", .string)]])

    /// The endpoints, and a message with these properties for each.
    private static let dialects: [(path: String, message: @Sendable (String) -> String)] = [
        ("/batch/", { #"{"event":"Ping","properties":{\#($0)}}"# }),
        ("/v1/batch", { #"{"type":"track","event":"Ping","properties":{\#($0)}}"# }),
    ]

    /// A text that makes a body so large that its messages are translated one after another.
    private static let sizes = [0, 300 << 10]

    @Test(
        "beyond the limit, rejected events are only counted, and the valid events of the body are accepted",
        .promise("client-batches"),
        arguments: dialects.indices,
        sizes
    )
    func rejections(dialect: Int, size: Int) async throws {
        let (path, message) = Self.dialects[dialect]
        let large = message(#""text":"\#(String(repeating: "x", count: size))""#)
        let wrong = message(#""n":"x""#)
        let events = [large, wrong, wrong, message(#""n":1"#), wrong, wrong, message(#""n":2"#)]
        let result = try await DialectExchange.send(
            Array(#"{"batch":[\#(events.joined(separator: ","))]}"#.utf8),
            to: path,
            Self.plan,
            configure: { $0.maximumRejections = 3 }
        )
        #expect(result.response.status == 200)
        let answer = try Answer(result.response.body)
        #expect(answer.accepted == 3)
        #expect(answer.rejectedCount == 4)
        #expect(answer.rejectedIndexes == [[1, 2], [4, 4]])
        #expect(answer.rejectedCodes == ["wrong-type": 4])
        #expect(result.lines.count == 3)
        #expect(result.quarantined.count == 3)
    }

    @Test(
        "of the events beyond the limit one is rejected as too large, and those before are accepted",
        .promise("client-batches"),
        arguments: dialects.indices,
        sizes
    )
    func events(dialect: Int, size: Int) async throws {
        let (path, message) = Self.dialects[dialect]
        let large = message(#""text":"\#(String(repeating: "x", count: size))""#)
        let events = [large] + (0..<100).map { message(#""n":\#($0)"#) }
        for (count, rejected) in [(10, 0), (11, 1), (101, 1)] {
            let result = try await DialectExchange.send(
                Array(#"{"batch":[\#(events.prefix(count).joined(separator: ","))]}"#.utf8),
                to: path,
                Self.plan,
                configure: { $0.maximumEvents = 10 }
            )
            #expect(result.response.status == 200)
            #expect(result.lines.count == 10)
            #expect(result.quarantined.isEmpty)
            guard rejected > 0 else { continue }
            let answer = try Answer(result.response.body)
            #expect(answer.accepted == 10)
            #expect(answer.rejectedIndexes == [[10, 10]])
            #expect(answer.rejectedCodes == ["too-large": 1])
        }
    }

    @Test("a body with the most rejected events that fit gets 200, and an answer of at most 256 KiB")
    func most() async throws {
        let body = #"{"batch":["# + String(repeating: "1,", count: 4_000_000) + "1]}"
        let result = try await DialectExchange.send(body, to: "/batch/", Self.plan)
        #expect(result.response.status == 200)
        #expect(result.response.body.utf8.count <= 256 << 10)
        #expect(try Answer(result.response.body).rejectedCount == 100_001)
    }

    @Test("CloudEvents beyond the limit are refused, because their clients need not discard them")
    func cloudEvents() async throws {
        let event = #"{"specversion":"1.0","id":"1","source":"/s","type":"Ping","data":{"n":1}}"#
        let body = "[" + Array(repeating: event, count: 11).joined(separator: ",") + "]"
        let result = try await DialectExchange.send(
            Array(body.utf8),
            to: "/v1/events",
            Self.plan,
            type: "application/cloudevents-batch+json",
            configure: { $0.maximumEvents = 10 }
        )
        #expect(result.response.status == 413)
        #expect(result.lines.isEmpty)
    }
}
