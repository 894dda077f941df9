import EventModel
import EventValidation
import TestCases
import Testing

@Suite("The mark of a time that is not the sender's")
struct ServerTimeTests {
    private static let id = "0190a2b4-abcd-4ef0-8000-000000000001"
    private static let mark = #","serverTime":true}"#

    private func line(_ members: String, of validator: EventValidator = .sample()) throws -> String {
        try #require(try validator.check(Sent.ping(members)).lines.first)
    }

    @Test("is at the end of an event with an id of its sender and without a time")
    func missingTime() throws {
        #expect(try line(",\"id\":\"\(Self.id)\"").hasSuffix(#""payload":{}"# + Self.mark))
        #expect(try !line(",\"id\":\"\(Self.id)\",\"time\":\"2023-11-14T00:00:00Z\"").contains("serverTime"))
        #expect(try !line("").contains("serverTime"), "Nobody sends an event with a new id again.")
    }

    @Test("is not needed if the id has a time that is plausible, which is then the event's, to the millisecond")
    func timeOfID() throws {
        let limits = TimeWindow.standard.microseconds(around: Sent.arrival)
        let cases = [
            (limits.lowerBound - 1000, false), (limits.lowerBound, true), (Sent.arrival.microseconds, true),
            (limits.upperBound, true), (limits.upperBound + 1000, false),
        ]
        for (microseconds, isTaken) in cases {
            let time = Timestamp(microseconds: microseconds, fractionDigits: 3)
            let line = try line(",\"id\":\"\(EventID(version7At: time, randomA: 5, randomB: 6))\"")
            #expect(line.contains("\"time\":\"\(isTaken ? time : Sent.arrival)\","), "\(line)")
            #expect(line.hasSuffix(Self.mark) == !isTaken, "\(line)")
        }
        // A version 8 with the layout of version 7 is not a time that the sender has chosen.
        let other = EventID(version8At: Sent.arrival, digestHigh: 1, digestLow: 2)
        #expect(try line(",\"id\":\"\(other)\"").hasSuffix(Self.mark))
    }

    @Test("is on an event whose derived id is the same each time, and whose arrival is not")
    func derivedID() throws {
        let validator = EventValidator.sample(identity: .derived(source: "a.ndjson"))
        let lines = try validator.check(Sent.ping() + "\n" + Sent.ping(#","time":"2023-01-01T00:00:00Z""#), as: .lines)
            .lines
        #expect(lines.map { $0.hasSuffix(Self.mark) } == [true, false])
        let recorded = EventValidator.sample(identity: .derived(source: "a.ndjson"))
        let checked = try Array(Sent.ping().utf8).withUnsafeBytes {
            try recorded.check(lines: $0, arrival: Sent.arrival)
        }
        #expect(checked.lines.map { $0.hasSuffix(Self.mark) } == [false])
    }

    @Test("is taken from a sender that states an id and a time, and stays on a line however often it is read")
    func reading() throws {
        let stated = #","time":"2023-11-14T00:00:00Z","serverTime":true"#
        #expect(try line(",\"id\":\"\(Self.id)\"" + stated).hasSuffix(Self.mark))
        #expect(try !line(stated).contains("serverTime"), "Nobody sends an event with a new id again.")
        let marked = try line(",\"id\":\"\(Self.id)\"")
        var again = marked
        for _ in 0..<3 { again = try #require(EventValidator.sample(acceptsReceivedAt: true).check(again).lines.first) }
        #expect(again == marked)
        let reread = EventValidator(rereading: .sample)
        #expect(try reread.check(marked).lines == [marked])
        let wrong = marked.replacing(#""serverTime":true"#, with: #""serverTime":1"#)
        #expect(try reread.check(wrong).verdicts == [["wrong-type $.serverTime"]])
        let absent = marked.replacing(#""serverTime":true"#, with: #""serverTime":false"#)
        #expect(try reread.check(absent).lines == [marked.replacing(#","serverTime":true"#, with: "")])
    }

    @Test("is found only behind the payload")
    func place() {
        func isMarked(_ line: String) -> Bool { Array(line.utf8).withUnsafeBytes { ServerTime.isMarked($0) } }
        #expect(isMarked(#"{"id":"a","payload":{},"serverTime":true}"#))
        #expect(!isMarked(#"{"id":"a","payload":{"serverTime":true}}"#))
        #expect(!isMarked(#"{"id":"a","payload":{"a":1,"serverTime":true}}"#))
        #expect(!isMarked(#"{"id":"a","payload":{"a":{},"serverTime":true}}"#))
        #expect(!isMarked(""))
        #expect(!isMarked("e}"))
    }
}
