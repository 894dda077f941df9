import EventModel
import EventSchema
import EventValidation
import TestCases
import Testing

@Suite("The canonical form")
struct CanonicalFormTests {
    static let whole =
        #"{"id":"0190a2b4-0000-7000-8000-000000000001","name":"Item Purchased","#
        + #""time":"2010-12-01T08:26:00Z","receivedAt":"2023-11-14T22:13:20.000000Z","userId":"u","anonymousId":"a","#
        + #""sessionId":"s","context":{"z":[1,{"b":2,"a":null}],"y":true},"payload":{"sku":"AB","quantity":6,"price":2.5,"#
        + #""size":null,"total":"0.10","gift":false,"at":"2010-12-01T08:26:00.5Z","day":"2010-12-01","#
        + #""order":"0190a2b4-0000-7000-8000-000000000002","lines":[{"name":"x","count":1},{"name":"y"}],"#
        + #""extra":[[],{},"",0,-1.5],"bag":{}}}"#

    static let shuffled = #"""
         { "payload" : { "bag" : { } , "extra":[ [ ] , { } , "" , 0 , -1.50 ], "lines":[ {"count":1.0,"name":"\u0078"},
         {"name":"y"} ],"order":"0190A2B4-0000-7000-8000-000000000002","day":"2010-12-01","at":"2010-12-01T09:26:00.5+01:00",
         "gift":false,"total":0.10,"size":null,"price":2.50,"quantity":6e0,"sku":"A\u0042"},
         "context":{"z":[1,{"b":2,"a":null}],"y":true}, "sessionId":"s","anonymousId":"a","userId":"u",
         "time":"2010-12-01T08:26:00Z","name":"Item Purchased","id":"0190a2b4-0000-7000-8000-000000000001"}
        """#

    @Test("has the keys of the envelope and the plan in their order, and no spaces")
    func order() throws {
        #expect(try EventValidator.sample().check(Self.shuffled).lines == [Self.whole])
    }

    @Test("is its own canonical form, so a replay changes nothing")
    func idempotent() throws {
        #expect(try EventValidator.sample(acceptsReceivedAt: true).check(Self.whole).lines == [Self.whole])
    }

    @Test("has additional properties after the plan's, in the order of the sender")
    func additional() throws {
        let event = Sent.open(#""z":1,"y":{"b":[],"a":1.0},"a":2,"x":"\/""#)
        #expect(try EventValidator.sample().payload(of: event) == #"{"a":2,"z":1,"y":{"b":[],"a":1},"x":"/"}"#)
    }

    @Test("has an empty payload if the event has none")
    func emptyPayload() throws {
        #expect(try EventValidator.sample().payload(of: Sent.ping()) == "{}")
        #expect(try EventValidator.sample().payload(of: Sent.ping(#","payload":{}"#)) == "{}")
        #expect(try EventValidator.sample().payload(of: Sent.open("")) == "{}")
    }

    @Test("escapes names that need it")
    func escapedNames() throws {
        let definition = EventDefinition(
            key: "say \"hi\"\n",
            trackers: ["console"],
            properties: [PropertyDefinition(name: "a\\b\u{1}é", type: .integer, location: .line(1))],
            location: .line(1)
        )
        let validator = EventValidator(catalog: EventCatalog(plan: TrackingPlan(events: [definition])))
        let line = try #require(
            try validator.check(#"{"name":"say \"hi\"\n","payload":{"a\\b\u0001é":1}}"#).lines.first
        )
        #expect(line.contains(#","name":"say \"hi\"\n","time""#))
        #expect(line.hasSuffix(#","payload":{"a\\b\u0001é":1}}"#))
    }

    @Test("ends each line with one newline")
    func newlines() throws {
        let batch = try #require(
            try EventValidator.sample().check("[\(Sent.ping()),\(Sent.open("\"x\":\"\\n\""))]").batch
        )
        let bytes = Array(batch.lines)
        #expect(bytes.filter { $0 == UInt8(ascii: "\n") }.count == 2)
        #expect(bytes.last == UInt8(ascii: "\n"))
        #expect(batch.byteCount == bytes.count)
    }
}
