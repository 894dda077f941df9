import EventModel
import EventSchema
import ServerTestSupport
import TestPromises
import Testing

/// The limits on the times of new events, in every format in which events arrive.
@Suite("The limits on times", .timeLimit(.minutes(5)))
struct EventTimeTests {
    /// A format of events, with the ways to state the time of one.
    enum Format: CaseIterable {
        case event, array, lines, cloudEvent, cloudEvents, cloudEventHeader, segmentMessage, segmentBatch, postHogEvent
        case postHogBatch, postHogUncorrected
    }

    private static let plan = DialectExchange.plan(["Seen": [("number", .integer)]])
    private static let arrival = Timestamp("2020-09-13T12:26:40.000000Z")?.microseconds ?? 0
    private static let window = TimeWindow(past: .seconds(3 * 86_400), ahead: .seconds(3600))
    private static let limits = (past: Int64(3 * 86_400_000_000), ahead: Int64(3_600_000_000))

    /// Both limits, and the times that are one microsecond beyond them.
    private static let accepted = [-limits.past, -limits.past + 1, 0, limits.ahead - 1, limits.ahead]
    private static let rejected = [-limits.past - 1, limits.ahead + 1]

    private static func send(at offset: Int64, as format: Format) async throws -> DialectExchange {
        let time = Timestamp(microseconds: arrival + offset)
        let own = #"{"name":"Seen","time":"\#(time)"}"#
        let attributes = #""specversion":"1.0","id":"1","source":"s","type":"Seen""#
        let cloudEvent = #"{\#(attributes),"time":"\#(time)"}"#
        let segment = #"{"type":"track","event":"Seen","timestamp":"\#(time)"}"#
        let (path, type, body, fields) =
            switch format {
            case .event: ("/v1/events", "application/json", own, "")
            case .array: ("/v1/events", "application/json", "[\(own)]", "")
            case .lines: ("/v1/events", "application/x-ndjson", own + "\n", "")
            case .cloudEvent: ("/v1/events", "application/cloudevents+json", cloudEvent, "")
            case .cloudEvents: ("/v1/events", "application/cloudevents-batch+json", "[\(cloudEvent)]", "")
            case .cloudEventHeader:
                (
                    "/v1/events", "application/json", "{}",
                    "ce-specversion: 1.0\r\nce-id: 1\r\nce-source: s\r\nce-type: Seen\r\nce-time: \(time)\r\n"
                )
            case .segmentMessage: ("/v1/track", "application/json", segment, "")
            case .segmentBatch: ("/v1/batch", "application/json", #"{"batch":[\#(segment)]}"#, "")
            case .postHogEvent: ("/e/", "application/json", #"{"event":"Seen","timestamp":"\#(time)"}"#, "")
            case .postHogBatch:
                ("/batch/", "application/json", #"{"batch":[{"event":"Seen","timestamp":"\#(time)"}]}"#, "")
            case .postHogUncorrected:
                (
                    "/batch/", "application/json",
                    #"{"batch":[{"event":"Seen","timestamp":"\#(time)","properties":{"$ignore_sent_at":true}}],"#
                        + #""sent_at":"2020-09-13T12:26:40Z"}"#,
                    ""
                )
            }
        return try await DialectExchange.send(
            Array(body.utf8),
            to: path,
            plan,
            type: type,
            fields: fields,
            eventTimes: window
        )
    }

    @Test(
        "an event is accepted up to both limits, and rejected a microsecond beyond them",
        .promise("client-times"),
        arguments: Format.allCases
    )
    func limits(format: Format) async throws {
        for offset in Self.accepted {
            let result = try await Self.send(at: offset, as: format)
            let time = #""time":"\#(Timestamp(microseconds: Self.arrival + offset))""#
            #expect(result.lines.count == 1 && result.lines[0].contains(time), "\(offset): \(result.response.body)")
        }
        for offset in Self.rejected {
            let result = try await Self.send(at: offset, as: format)
            #expect(result.lines == [], "\(offset)")
            let record = try #require(result.quarantined.first)
            #expect(record.contains(#""code":"time-out-of-range","path":"$.time""#), "\(record)")
        }
    }

    @Test("the verdict says what the limits are, and on which side the time is", .promise("client-times"))
    func verdict() async throws {
        for (offset, found) in zip(Self.rejected, ["an earlier one", "a later one"]) {
            let result = try await Self.send(at: offset, as: .event)
            let expected = #""expected":"a time from 3 days before to 3600 s after its arrival","found":"\#(found)""#
            #expect(result.response.body.contains(expected), "\(result.response.body)")
        }
    }
}
