import EventPipeline
import EventSchema
import Foundation
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// CloudEvents 1.0, in the three modes of their HTTP binding.
@Suite("The CloudEvents dialect", .timeLimit(.minutes(5)))
struct CloudEventsTests {
    private static let plan = DialectExchange.plan(["com.example.order": [("total", .number)]])
    // Python: uuid.uuid5(uuid.uuid5(uuid.NAMESPACE_URL, "urn:sluice:message-id"), "/shop/é A-1")
    private static let id = "b3b16cef-3395-552f-b85b-6cee74de6f85"
    private static let event = """
        {"specversion":"1.0","type":"com.example.order","source":"/shop/é","id":"A-1","time":"2019-01-01T00:00:00Z",
        "subject":"o1","datacontenttype":"application/json","data":{"total":1.5}}
        """
    private static let line = """
        {"id":"\(id)","name":"com.example.order","time":"2019-01-01T00:00:00Z",\
        "context":{"source":"/shop/é","subject":"o1"},"payload":{"total":1.5}}
        """

    @Test("one event, a batch, and an event in header fields give the same event")
    func modes() async throws {
        let one = try await DialectExchange.send(
            Array(Self.event.utf8),
            to: "/v1/events",
            Self.plan,
            type: "application/cloudevents+json; charset=utf-8"
        )
        let batch = try await DialectExchange.send(
            Array("[\(Self.event)]".utf8),
            to: "/v1/events",
            Self.plan,
            type: "application/cloudevents-batch+json"
        )
        for result in [one, batch] {
            #expect(result.response.status == 200)
            #expect(result.response.body == #"{"accepted":1,"rejected":[]}"#)
            #expect(result.lines == [Self.line])
        }
        for source in ["/shop/%C3%A9", "/shop/é"] {
            let fields = """
                ce-specversion: 1.0\r\nce-type: com.example.order\r\nCE-Source: \(source)\r\nce-id: A-1\r\n\
                ce-time: 2019-01-01T00:00:00Z\r\nce-subject: o1\r\n
                """
            for type in ["application/json", nil] {
                let result = try await DialectExchange.send(
                    Array(#"{"total":1.5}"#.utf8),
                    to: "/v1/events",
                    Self.plan,
                    type: type,
                    fields: fields
                )
                #expect(result.response.status == 200)
                #expect(result.lines == [Self.line])
            }
        }
    }

    @Test(
        "an event without a required attribute, or of another version, is rejected with the attribute's name",
        arguments: [
            ("specversion", nil, "missing-required"), ("type", nil, "missing-required"),
            ("source", nil, "missing-required"), ("id", nil, "missing-required"),
            ("source", "null", "missing-required"), ("id", #""""#, "missing-required"),
            ("source", "7", "wrong-type"), ("specversion", "1.0", "wrong-type"),
            ("specversion", #""0.3""#, "not-in-enum"), ("specversion", #""1.0.2""#, "not-in-enum"),
        ] as [(String, String?, String)]
    )
    func requiredAttributes(name: String, value: String?, code: String) async throws {
        var attributes = ["specversion": #""1.0""#, "type": #""com.example.order""#, "source": #""/s""#, "id": #""1""#]
        attributes[name] = value
        let members = attributes.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
        let wrong = #"{\#(members),"data":{"total":1}}"#
        let alone = try await DialectExchange.send(
            Array(wrong.utf8),
            to: "/v1/events",
            Self.plan,
            type: "application/cloudevents+json"
        )
        let batch = try await DialectExchange.send(
            Array("[\(Self.event),\(wrong),\(Self.event)]".utf8),
            to: "/v1/events",
            Self.plan,
            type: "application/cloudevents-batch+json"
        )
        #expect(alone.response.status == 422)
        #expect(alone.lines.isEmpty)
        #expect(batch.response.status == 200)
        #expect(batch.lines.count == 2)
        #expect(batch.response.body.contains(#""rejectedIndexes":[[1,1]],"rejectedCodes":{"\#(code)":1}"#))
        for result in [alone, batch] {
            #expect(result.response.body.contains(#""code":"\#(code)","path":"$.\#(name)","expected":""#))
            #expect(result.response.body.contains("the attribute '\(name)' of a CloudEvent"))
        }
    }

    @Test("in binary mode, an attribute that is missing is named, too")
    func requiredHeaders() async throws {
        let all = ["ce-specversion: 1.0", "ce-type: com.example.order", "ce-source: /s", "ce-id: 1"]
        for index in all.indices {
            let fields = all.enumerated().filter { $0.offset != index }.map { $0.element + "\r\n" }.joined()
            let data = Array(#"{"total":1}"#.utf8)
            let result = try await DialectExchange.send(data, to: "/v1/events", Self.plan, fields: fields)
            #expect(result.response.status == 422)
            let name = all[index].dropFirst(3).prefix { $0 != ":" }
            #expect(result.response.body.contains(#""code":"missing-required","path":"$.\#(name)""#))
        }
    }

    @Test("an array as one event, and one event as a batch, are refused with the type that they need")
    func otherShapes() async throws {
        for padding in ["", String(repeating: " ", count: 300_000)] {
            for (body, type) in [
                ("[\(Self.event)]", "application/cloudevents+json"),
                (Self.event, "application/cloudevents-batch+json"),
                (#"{"batch":[\#(Self.event)]}"#, "application/cloudevents-batch+json"),
            ] {
                let bytes = Array((padding + body).utf8)
                let result = try await DialectExchange.send(bytes, to: "/v1/events", Self.plan, type: type)
                #expect(result.response.status == 400)
                #expect(result.response.body.hasPrefix(#"{"code":"malformed-json","message":""#))
                #expect(result.response.body.contains("as the type is \(type)"))
                #expect(result.lines.isEmpty)
            }
        }
    }

    @Test("an extension attribute may have the name of other clients' array of messages")
    func attributeNamedBatch() async throws {
        for padding in ["", String(repeating: " ", count: 300_000)] {
            let event = padding + Self.event.dropLast() + #","batch":"b1"}"#
            let result = try await DialectExchange.send(
                Array(event.utf8),
                to: "/v1/events",
                Self.plan,
                type: "application/cloudevents+json"
            )
            #expect(result.lines.first?.contains(#""batch":"b1""#) == true)
        }
    }

    @Test("data of more than 1 MiB is rejected without being read")
    func largeData() async throws {
        let fields = "ce-specversion: 1.0\r\nce-type: com.example.order\r\nce-source: /shop\r\nce-id: A-1\r\n"
        let data = [UInt8](repeating: UInt8(ascii: "["), count: (1 << 20) + 1)
        let result = try await DialectExchange.send(data, to: "/v1/events", Self.plan, fields: fields)
        #expect(result.response.status == 422)
        #expect(result.response.body.contains(#""rejectedCodes":{"too-large":1}"#))
    }

    @Test("settings remove a prefix from the type, and make the subject the user")
    func mapping() async throws {
        let mapping = IngestConfiguration.CloudEvents(typePrefix: "com.example.", subjectIsUserID: true)
        let plan = DialectExchange.plan(["order": [("total", .number)]])
        let structured = try await DialectExchange.send(
            Array(Self.event.utf8),
            to: "/v1/events",
            plan,
            type: "application/cloudevents+json",
            cloudEvents: mapping
        )
        let fields =
            "ce-specversion: 1.0\r\nce-type: com.example.order\r\nce-source: /shop/é\r\nce-id: A-1\r\nce-subject: o1\r\n"
        let binary = try await DialectExchange.send(
            Array(#"{"total":1.5}"#.utf8),
            to: "/v1/events",
            plan,
            fields: fields + "ce-time: 2019-01-01T00:00:00Z\r\n",
            cloudEvents: mapping
        )
        for result in [structured, binary] {
            #expect(
                result.lines == [
                    """
                    {"id":"\(Self.id)","name":"order","time":"2019-01-01T00:00:00Z","userId":"o1",\
                    "context":{"source":"/shop/é"},"payload":{"total":1.5}}
                    """
                ]
            )
        }
    }

    @Test(
        "data that is not one JSON value is rejected, and adds nothing to the event",
        .promise("unusual-input"),
        arguments: [
            #"{"total":1.5},"userId":"x""#, "{", "1 2", "{}\u{1}",
        ]
    )
    func malformedData(data: String) async throws {
        let fields = "ce-specversion: 1.0\r\nce-type: com.example.order\r\nce-source: s\r\nce-id: 1\r\n"
        let result = try await DialectExchange.send(Array(data.utf8), to: "/v1/events", Self.plan, fields: fields)
        #expect(result.response.status == 422)
        #expect(result.response.body.contains(#""rejectedCodes":{"malformed-json":1}"#))
        #expect(result.lines.isEmpty)
    }

    @Test("an event without data has no payload, and data of another type is refused")
    func otherData() async throws {
        let fields = "ce-specversion: 1.0\r\nce-type: com.example.order\r\nce-source: s\r\nce-id: 1\r\n"
        let empty = try await DialectExchange.send([], to: "/v1/events", Self.plan, type: nil, fields: fields)
        #expect(empty.lines.count == 1)
        let text = try await DialectExchange.send(
            Array("x".utf8),
            to: "/v1/events",
            Self.plan,
            type: "text/plain",
            fields: fields
        )
        #expect(text.response.status == 415)
    }
}
