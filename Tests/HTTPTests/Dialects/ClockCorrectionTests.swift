import EventModel
import EventSchema
import Foundation
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// Clients whose clocks are wrong, in every combination of what they state.
@Suite("The correction of clients' clocks", .timeLimit(.minutes(5)))
struct ClockCorrectionTests {
    /// How a client states when it sent a body.
    enum Sending: CaseIterable {
        case segmentBatch, segmentMessage, postHogBatch, postHogQuery, postHogHeader
    }

    private struct Event: Decodable {
        struct Payload: Decodable {
            let number: Int
        }

        struct Context: Decodable {
            let originalTimestamp: String?
        }

        let time: String
        let context: Context?
        let payload: Payload
    }

    private static let plan = DialectExchange.plan(["Seen": [("number", .integer)]])
    private static let arrival = Timestamp("2020-09-13T12:26:40.000000Z")?.microseconds ?? 0
    private static let day: Int64 = 86_400_000_000

    /// Times around the arrival and at both limits of the default window, and times that are nonsense.
    private static let times: [Timestamp] =
        [
            0, -10_000_000, -30_000_000, -30_001_000, 30_000_000, 30_001_000, 3_600_000_000, 2 * day - 1, 2 * day,
            2 * day + 1_000_000, -14 * day, 14 * day, -399 * day,
            -400 * day,
        ]
        .map { Timestamp(microseconds: arrival + $0) }
        + [
            -401 * day, -30 * 365 * day, 30 * 365 * day, -arrival, -arrival + 1000, .min / 2, .max / 2,
        ].map { Timestamp(microseconds: arrival + $0) }

    /// The time that an event must have, by the rule of the documentation.
    private static func wanted(_ stated: Timestamp, sentAt: Timestamp) -> Int64 {
        let window = arrival - 400 * day...arrival + 2 * day
        let difference = arrival - sentAt.microseconds
        let corrected = stated.microseconds + (abs(difference) > 30_000_000 ? difference : 0)
        if window.contains(corrected) { return corrected }
        return window.contains(stated.microseconds) ? stated.microseconds : arrival
    }

    private static func send(_ events: [Timestamp], at sentAt: Timestamp, _ sending: Sending) async throws
        -> DialectExchange
    {
        let isSegment = sending == .segmentBatch || sending == .segmentMessage
        let messages = events.enumerated().map { number, time in
            let own = sending == .segmentMessage ? #","sentAt":"\#(sentAt)""# : ""
            let members = #""event":"Seen","timestamp":"\#(time)","properties":{"number":\#(number)}"#
            return isSegment ? #"{"type":"track",\#(members)\#(own)}"# : "{\(members)}"
        }
        let member =
            switch sending {
            case .segmentBatch: #","sentAt":"\#(sentAt)""#
            case .postHogBatch: #","sent_at":"\#(sentAt)""#
            case .segmentMessage, .postHogQuery, .postHogHeader: ""
            }
        let path =
            switch sending {
            case .segmentBatch, .segmentMessage: "/v1/batch"
            case .postHogBatch: "/batch/"
            case .postHogQuery: "/e/?_=\(sentAt.milliseconds)"
            case .postHogHeader: "/i/v1/analytics/events"
            }
        let body = #"{"batch":[\#(messages.joined(separator: ","))]\#(member)}"#
        let fields = sending == .postHogHeader ? "PostHog-Request-Timestamp: \(sentAt)\r\n" : ""
        return try await DialectExchange.send(Array(body.utf8), to: path, plan, fields: fields, eventTimes: .standard)
    }

    @Test(
        "a correction whose result is not plausible is not made, and what the client wrote is kept",
        .promise("client-times"),
        arguments: Sending.allCases
    )
    func correction(sending: Sending) async throws {
        for sentAt in Self.times {
            // A query has milliseconds.
            let precise = sending == .postHogQuery ? Timestamp(microseconds: sentAt.milliseconds * 1000) : sentAt
            let lines = try await Self.send(Self.times, at: precise, sending).lines
            #expect(lines.count == Self.times.count)
            for line in lines {
                let event = try JSONDecoder().decode(Event.self, from: Data(line.utf8))
                let stated = Self.times[event.payload.number]
                let wanted = Self.wanted(stated, sentAt: precise)
                let time = try #require(Timestamp(event.time))
                #expect(time.microseconds == wanted, "stated \(stated), sent at \(precise): \(event.time)")
                let original = wanted == stated.microseconds ? nil : "\(stated)"
                #expect(event.context?.originalTimestamp == original, "stated \(stated), sent at \(precise)")
            }
        }
    }

    @Test("the limits of a correction are settings", .promise("client-times"))
    func limits() async throws {
        let stated = Timestamp(microseconds: Self.arrival - 5 * Self.day)
        let message = #"{"event":"Seen","timestamp":"\#(stated)","sentAt":"\#(Timestamp(microseconds: Self.arrival))"}"#
        for (past, time) in [(4, Self.arrival), (6, stated.microseconds)] {
            let result = try await DialectExchange.send(
                Array(message.utf8),
                to: "/v1/track",
                Self.plan,
                eventTimes: TimeWindow(past: .seconds(past * 86_400), ahead: .zero)
            )
            let line = try #require(result.lines.first)
            #expect(line.contains(#""time":"\#(Timestamp(microseconds: time))""#), "\(line)")
        }
    }

    @Test(
        "a context keeps its members beside the time as the client wrote it",
        arguments: [
            (#"{}"#, #"{"originalTimestamp":"T"}"#), (#"{ }"#, #"{"originalTimestamp":"T"}"#),
            (#"{"a":{"b":1}}"#, #"{"a":{"b":1},"originalTimestamp":"T"}"#),
            (#"{"originalTimestamp":5}"#, #"{"originalTimestamp":5}"#),
            (#"{"traits":{}}"#, #"{"traits":{},"originalTimestamp":"T"}"#), ("null", #"{"originalTimestamp":"T"}"#),
        ]
    )
    func context(sent: String, stored: String) async throws {
        let time = "2020-09-13T12:00:00Z"
        let members = #""timestamp":"\#(time)","sentAt":"2020-09-13T12:00:01Z""#
        let message = #"{"event":"Seen",\#(members),"context":\#(sent)}"#
        let line = try await DialectExchange.send(message, to: "/v1/track", Self.plan).lines.first
        let wanted = stored.replacing(#""T""#, with: "\"\(time)\"")
        #expect(line?.contains(#""context":\#(wanted),"payload""#) == true, "\(line ?? "")")
    }

    @Test("a context that is no object, or is malformed, is rejected as before", arguments: ["5", "[]", #"{"a" 1}"#])
    func malformedContext(sent: String) async throws {
        let members = #""timestamp":"2020-09-13T12:00:00Z","sentAt":"2020-09-13T12:00:01Z""#
        let message = #"{"event":"Seen",\#(members),"context":\#(sent)}"#
        let result = try await DialectExchange.send(#"{"batch":[\#(message)]}"#, to: "/v1/batch", Self.plan)
        #expect(result.lines.isEmpty)
        #expect(result.quarantined.count == 1)
    }
}
