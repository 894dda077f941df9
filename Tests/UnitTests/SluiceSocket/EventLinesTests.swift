import EventModel
import EventValidation
import Foundation
import NIOCore
import SluiceSocket
import SluiceTesting
import TestCases
import Testing
import TrackerKit

@Suite("The lines of events for receivers")
struct EventLinesTests {
    private static let catalog = EventCatalog.scripted(["Song Played": ["socket"]])

    private static func batch(time: Timestamp, payload: String = #"{"a":"b"}"#) -> EventBatch {
        let id = EventID(high: 0, low: 7)
        let event = ScriptedEvent("Song Played", id: id, time: time, userID: "u", payload: payload)
        return .scripted(catalog: catalog, events: [event])
    }

    private static func line(
        _ lines: EventLines,
        time: Timestamp = Timestamp(microseconds: 1_700_000_000_123_456),
        payload: String = #"{"a":"b"}"#
    ) -> (line: String, canonical: String) {
        let event = TrackedEvent(batch: batch(time: time, payload: payload), index: 0)
        var buffer = ByteBuffer()
        lines.append(event, to: &buffer)
        return (String(buffer: buffer), event.json)
    }

    @Test("are the canonical ones")
    func canonical() {
        let (line, canonical) = Self.line(EventLines(.canonical, fields: []))
        #expect(line == canonical + "\n")
    }

    @Test("begin with the members of the configuration, in their order")
    func fields() {
        let (line, canonical) = Self.line(EventLines(.canonical, fields: [("service", "shop"), ("env", "")]))
        #expect(line == #"{"service":"shop","env":"","# + canonical.dropFirst() + "\n")
    }

    @Test(
        "begin with the event's time in milliseconds and the version, as Logstash has them",
        arguments: [
            (1_700_000_000_123_456, 6, "2023-11-14T22:13:20.123Z"),
            (1_700_000_000_000_000, 0, "2023-11-14T22:13:20.000Z"),
            (1_700_000_000_999_999, 6, "2023-11-14T22:13:20.999Z"), (-1, 6, "1969-12-31T23:59:59.999Z"),
        ]
    )
    func logstash(microseconds: Int64, digits: UInt8, text: String) throws {
        let time = Timestamp(microseconds: microseconds, fractionDigits: digits)
        let (line, canonical) = Self.line(EventLines(.logstash, fields: [("service", "shop")]), time: time)
        let beginning = #"{"@timestamp":"\#(text)","@version":"1","service":"shop","#
        #expect(line == beginning + canonical.dropFirst() + "\n")
    }

    @Test("are JSON whatever a member's name and value are", arguments: SocketConfiguration.Format.allCases)
    func escapes(format: SocketConfiguration.Format) throws {
        let controls = String(String.UnicodeScalarView((0..<0x20).compactMap(Unicode.Scalar.init)))
        let texts = [#""\/"#, controls, "\u{7F}\u{2028}\u{FFFF}", "é日🙂", " ", "a=b", "@"]
        let fields = texts.enumerated().map { (name: "\($0.offset)\($0.element)", value: $0.element) }
        let (line, _) = Self.line(EventLines(format, fields: fields), payload: #"{"text":"\"\\\n"}"#)
        #expect(line.utf8.count { $0 == UInt8(ascii: "\n") } == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        for field in fields { #expect(object[field.name] as? String == field.value) }
        #expect((object["payload"] as? [String: String]) == ["text": "\"\\\n"])
        #expect(object["id"] as? String == "00000000-0000-0000-0000-000000000007")
    }

    @Test("have no other members than those with which a member of the configuration may collide")
    func members() throws {
        let whole =
            #"{"id":"00000000-0000-0000-0000-000000000007","name":"Ping","userId":"u","anonymousId":"a","#
            + #""sessionId":"s","context":{"a":1},"payload":{}}"#
        let line = try #require(try EventValidator(catalog: .sample).check(whole).lines.first)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(Set(object.keys) == Set(EventLines.members(of: .canonical)))
        let (logstash, _) = Self.line(EventLines(.logstash, fields: []))
        let found = try #require(try JSONSerialization.jsonObject(with: Data(logstash.utf8)) as? [String: Any])
        #expect(Set(found.keys).isSubset(of: EventLines.members(of: .logstash)))
        #expect(found.keys.contains("@timestamp") && found.keys.contains("@version"))
    }
}
