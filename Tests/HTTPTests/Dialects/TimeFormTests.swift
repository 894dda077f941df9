import EventModel
import EventSchema
import ServerTestSupport
import TestPromises
import Testing

/// The table of Documentation/Send/HTTP.md: which forms of a time each format of events accepts.
@Suite("The forms of times", .timeLimit(.minutes(5)))
struct TimeFormTests {
    /// A format of events.
    enum Format: CaseIterable {
        case own, property, cloudEvents, segment, postHog

        /// Whether servers of this format read times without a zone, with a space, and dates.
        var isLenient: Bool { self == .segment || self == .postHog }
    }

    private static let plan = DialectExchange.plan(["Seen": [("at", .timestamp), ("on", .date)]])

    /// Forms that every format accepts, with the time that they mean, and who writes them.
    private static let common = [
        // JavaScript's toISOString: analytics.js, analytics-node, rudder-sdk-js, posthog-js, posthog-node; analytics-kotlin.
        ("2020-09-13T12:00:00.123Z", "2020-09-13T12:00:00.123Z"),
        // Python's isoformat of an aware datetime: the Python SDKs of Segment, RudderStack and PostHog.
        ("2020-09-13T12:00:00.123456+00:00", "2020-09-13T12:00:00.123456Z"),
        ("2020-09-13T14:00:00+02:00", "2020-09-13T12:00:00Z"),
        // Go's RFC3339Nano: analytics-go, posthog-go.
        ("2020-09-13T12:00:00.123456789Z", "2020-09-13T12:00:00.123456Z"),
        // Ruby's iso8601(3), PHP's date('c'), .NET's "o" of a UTC time.
        ("2020-09-13T12:00:00.1234567Z", "2020-09-13T12:00:00.123456Z"),
        ("2020-09-13T12:00:00Z", "2020-09-13T12:00:00Z"),
        // Foundation's and Java's pattern with Z: analytics-swift and older mobile SDKs.
        ("2020-09-13T12:00:00.123+0000", "2020-09-13T12:00:00.123Z"),
        ("2020-09-13T17:30:00+0530", "2020-09-13T12:00:00Z"),
        // PostgreSQL's and Java's pattern with X.
        ("2020-09-13T15:00:00+03", "2020-09-13T12:00:00Z"), ("2020-09-13T09:00:00.5-03", "2020-09-13T12:00:00.5Z"),
        ("2020-09-13t12:00:00z", "2020-09-13T12:00:00Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ]

    /// Forms that only the servers of Segment, RudderStack and PostHog read, in UTC.
    private static let lenient = [
        // Python's isoformat of a naive datetime.
        ("2020-09-13T12:00:00.123456", "2020-09-13T12:00:00.123456Z"), ("2020-09-13T12:00:00", "2020-09-13T12:00:00Z"),
        // Python's str, and SQL.
        ("2020-09-13 12:00:00", "2020-09-13T12:00:00Z"), ("2020-09-13 14:00:00.5+02:00", "2020-09-13T12:00:00.5Z"),
        ("2020-09-13", "2020-09-13T00:00:00Z"),
    ]

    /// Texts that are no time in any format.
    private static let rejected = [
        "", "2020", "2020-09", "20200913T120000Z", "2020-09-13T12Z", "2020-09-13T12:00Z", "2020-09-13T12:00:00+",
        "2020-09-13T12:00:00+2", "2020-09-13T12:00:00+020", "2020-09-13T12:00:00+02:0", "2020-09-13T12:00:00+02:",
        "2020-09-13T12:00:00+02:00:00", "2020-09-13T12:00:00+24", "2020-09-13T12:00:00+0260",
        "2020-09-13T12:00:00 Z", "2020-09-13_12:00:00Z", "2020-09-13T12:00:00,5Z", "2020-09-13T12:00:00.",
        "2020-09-13T", "2020-09-13T12:00:60", "2020-09-31", "2020-09-13 ", "0000-06-01T00:00:00Z", "0000-06-01",
        "0001-01-01T00:00:00+0001", "9999-12-31T23:59:59-00:01", "+010000-01-01T00:00:00Z", "-000001-01-01T00:00:00Z",
        "1600000000", "now",
    ]

    private static func send(_ times: [String], as format: Format) async throws -> DialectExchange {
        let events = times.enumerated().map { number, time in
            let id = "0192a3f4-5b6c-7d8e-9f00-\(String(repeating: "0", count: 9))\(100 + number)"
            return switch format {
            case .own: #"{"id":"\#(id)","name":"Seen","time":"\#(time)"}"#
            case .property: #"{"id":"\#(id)","name":"Seen","payload":{"at":"\#(time)"}}"#
            case .cloudEvents: #"{"specversion":"1.0","id":"\#(id)","source":"s","type":"Seen","time":"\#(time)"}"#
            case .segment: #"{"type":"track","messageId":"\#(id)","event":"Seen","timestamp":"\#(time)"}"#
            case .postHog: #"{"uuid":"\#(id)","event":"Seen","timestamp":"\#(time)"}"#
            }
        }
        let array = "[\(events.joined(separator: ","))]"
        let (path, type, body) =
            switch format {
            case .own, .property: ("/v1/events", "application/json", array)
            case .cloudEvents: ("/v1/events", "application/cloudevents-batch+json", array)
            case .segment: ("/v1/batch", "application/json", #"{"batch":\#(array)}"#)
            case .postHog: ("/batch/", "application/json", #"{"batch":\#(array)}"#)
            }
        return try await DialectExchange.send(Array(body.utf8), to: path, plan, type: type)
    }

    @Test(
        "each format accepts the forms that the table says, and rejects all others",
        .promise("client-times"),
        arguments: Format.allCases
    )
    func table(format: Format) async throws {
        let accepted = Self.common + (format.isLenient ? Self.lenient : [])
        let result = try await Self.send(accepted.map(\.0), as: format)
        let member = format == .property ? "at" : "time"
        let times = result.lines.compactMap { line in
            line.split(separator: #""\#(member)":""#).last.map { String($0.prefix { $0 != "\"" }) }
        }
        #expect(times == accepted.map(\.1), "\(result.response.body)")

        let others = Self.rejected + (format.isLenient ? [] : Self.lenient.map(\.0))
        let refused = try await Self.send(others, as: format)
        #expect(refused.lines == [])
        let codes = #""rejectedCodes":{"\#(format == .property ? "wrong-type" : "invalid-time")":\#(others.count)}"#
        #expect(refused.response.body.contains(codes), "\(refused.response.body)")
    }

    @Test("a date of the year 0000, which PostgreSQL does not have, is rejected", .promise("client-times"))
    func dates() async throws {
        let events = ["0000-12-31", "0001-01-01", "9999-12-31"].map { #"{"name":"Seen","payload":{"on":"\#($0)"}}"# }
        let result = try await DialectExchange.send("[\(events.joined(separator: ","))]", to: "/v1/events", Self.plan)
        #expect(result.lines.count == 2)
        #expect(result.response.body.contains(#""rejectedIndexes""#) || result.response.body.contains(#""index":0"#))
    }
}
