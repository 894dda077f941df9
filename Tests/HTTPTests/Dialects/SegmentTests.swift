import EventSchema
import Foundation
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// Segment's HTTP Tracking API, as its SDKs and RudderStack's use it.
@Suite("The Segment dialect", .timeLimit(.minutes(5)))
struct SegmentTests {
    private static let plan = DialectExchange.plan([
        "Order Completed": [("total", .number), ("coupon", .string), ("note", .string)],
        "identify": [("email", .string), ("age", .integer)],
        "page": [("name", .string), ("category", .string), ("path", .string)],
        "screen": [("name", .string), ("category", .string)],
        "group": [("groupId", .string), ("plan", .string)],
        "alias": [("previousId", .string)],
    ])

    private static func send(
        _ body: [UInt8],
        to path: String,
        type: String? = "application/json",
        fields: String = ""
    ) async throws -> DialectExchange {
        try await DialectExchange.send(body, to: path, plan, type: type, fields: fields)
    }

    private static func send(_ body: String, to path: String) async throws -> DialectExchange {
        try await DialectExchange.send(body, to: path, plan)
    }

    private static let id = "0192a3f4-5b6c-7d8e-9f00-112233445566"

    @Test(
        "each kind of message becomes the event of that name, with the members that its kind has",
        arguments: [
            (
                "track", #""event":"Order Completed","properties":{"total":1.5,"coupon":"X"}"#,
                #""name":"Order Completed","#, #""payload":{"total":1.5,"coupon":"X"}"#
            ),
            (
                "identify", #""traits":{"email":"a@b.c","age":3}"#, #""name":"identify","#,
                #""payload":{"email":"a@b.c","age":3}"#
            ),
            (
                "page", #""name":"Home","category":"Docs","properties":{"path":"/"}"#, #""name":"page","#,
                #""payload":{"name":"Home","category":"Docs","path":"/"}"#
            ),
            (
                "page", #""name":"Home","properties":{"name":"Other"}"#, #""name":"page","#,
                #""payload":{"name":"Other"}"#
            ),
            ("screen", #""name":"Main""#, #""name":"screen","#, #""payload":{"name":"Main"}"#),
            (
                "group", #""groupId":"g1","traits":{"plan":"pro"}"#, #""name":"group","#,
                #""payload":{"groupId":"g1","plan":"pro"}"#
            ),
            ("alias", #""previousId":"u0""#, #""name":"alias","#, #""payload":{"previousId":"u0"}"#),
        ]
    )
    func kinds(kind: String, members: String, name: String, payload: String) async throws {
        let message = #"{"type":"\#(kind)","messageId":"\#(Self.id)","userId":"u1",\#(members)}"#
        let alone = try await Self.send(message, to: "/v1/\(kind)")
        let short = try await Self.send(message, to: "/v1/\(kind.prefix(1))")
        let batch = try await Self.send(#"{"batch":[\#(message)]}"#, to: "/v1/batch")
        for result in [alone, short, batch] {
            #expect(result.response.status == 200)
            #expect(result.response.body == #"{"success":true,"accepted":1,"rejected":[]}"#)
            #expect(
                result.lines == [
                    #"{"id":"\#(Self.id)",\#(name)"time":"2024-10-19T08:45:53.388Z","userId":"u1",\#(payload)}"#
                ]
            )
        }
    }

    @Test("RudderStack's identify has its traits and its session in the context")
    func contextTraits() async throws {
        let message = #"{"type":"identify","context":{"traits":{"age":3},"sessionId":1700000000},"anonymousId":"d"}"#
        let result = try await Self.send(message, to: "/v1/identify")
        let line = try #require(result.lines.first)
        #expect(line.contains(#""anonymousId":"d","sessionId":"1700000000","context":{"#))
        #expect(line.contains(#""payload":{"age":3}"#))
        // What the plan protects in the payload must not be in the context as well.
        #expect(!line.contains("traits"))
    }

    @Test(
        "a message id that is not a UUID gives the UUID of version 5 in the documented namespace, each time",
        .promise("repeated-event")
    )
    func messageID() async throws {
        // Python: uuid.uuid5(uuid.uuid5(uuid.NAMESPACE_URL, "urn:sluice:message-id"), "ajs-next-1")
        let id = #""id":"5ae1eeb5-4966-56a8-95d2-0848b69fdf7f""#
        let messages =
            #"{"batch":[{"type":"alias","messageId":"ajs-next-1"},{"type":"alias","messageId":"ajs-next\u002d1"}]}"#
        let result = try await Self.send(messages, to: "/v1/batch")
        #expect(result.lines.count == 2)
        #expect(result.lines.allSatisfy { $0.contains(id) })
    }

    @Test(
        "the time is that of arrival, minus the time between the event and its sending by the client's clock",
        arguments: [
            (#""timestamp":"2019-01-01T00:00:00.250+00:00""#, "2020-09-13T12:26:30.250000Z"),
            (
                #""timestamp":"1999-01-01T00:00:00Z","originalTimestamp":"2019-01-01T00:00:10Z""#,
                "2020-09-13T12:26:40.000000Z"
            ),
        ]
    )
    func skew(members: String, time: String) async throws {
        for order in [[#""sentAt":"2019-01-01T00:00:10Z""#, ""], ["", #""sentAt":"2019-01-01T00:00:10Z""#]] {
            let batch = #""batch":[{"type":"alias",\#(members)}]"#
            let parts = [order[0], batch, order[1]].filter { !$0.isEmpty }.joined(separator: ",")
            let result = try await Self.send("{\(parts)}", to: "/v1/batch")
            #expect(result.lines.first?.contains(#""time":"\#(time)""#) == true)
        }
    }

    @Test("a message's own time of sending counts before that of its batch")
    func ownSentAt() async throws {
        let timestamp = #""timestamp":"2019-01-01T00:00:00Z""#
        let first = #"{"type":"alias","sentAt":"2019-01-01T00:00:10Z",\#(timestamp)}"#
        let second = #"{"type":"alias",\#(timestamp),"sentAt":"2019-01-01T00:00:20Z"}"#
        let other = #"{"type":"alias",\#(timestamp)}"#
        func times(_ body: String, _ path: String) async throws -> [String] {
            try await Self.send(body, to: path).lines.map { line in
                String(line.split(separator: #""time":""#)[1].prefix { $0 != "\"" })
            }
        }
        let corrected = ["2020-09-13T12:26:30.000000Z", "2020-09-13T12:26:20.000000Z"]
        for padding in ["", String(repeating: " ", count: 300_000)] {
            let array = "[\(first),\(second),\(other)]\(padding)"
            #expect(try await times(array, "/v1/alias") == corrected + ["2019-01-01T00:00:00Z"])
            let batch = #"{"sentAt":"2019-01-01T00:00:30Z","batch":[\#(first),\#(second),\#(other)]}\#(padding)"#
            #expect(try await times(batch, "/v1/batch") == corrected + ["2020-09-13T12:26:10.000000Z"])
        }
    }

    @Test("a null is an absent property, also where the plan has no such property")
    func nulls() async throws {
        let message =
            #"{"event":"Order Completed","userId":null,"properties":{"total":null,"coupon":"X","other":null}}"#
        let result = try await Self.send(message, to: "/v1/track")
        #expect(result.lines.first?.hasSuffix(#""payload":{"coupon":"X"}}"#) == true)
        #expect(result.lines.first?.contains("userId") == false)
    }

    @Test("a null that the plan does not describe is absent from payload and context, and stays within other values")
    func undeclaredNulls() async throws {
        let object = #"{"a":null,"b":[null,{"c":null}],"d":null}"#
        let properties = #"{"x":null,"known":null,"y":\#(object)}"#
        let message = #"{"event":"Open","properties":\#(properties),"context":{"z":null,"w":\#(object)}}"#
        let open = DialectExchange.plan(["Open": [("known", .string)]], isOpen: true)
        let result = try await DialectExchange.send(message, to: "/v1/track", open)
        let line = try #require(result.lines.first)
        #expect(line.hasSuffix(#""context":{"w":\#(object)},"payload":{"y":\#(object)}}"#), "\(line)")

        let traced = try await DialectExchange.send(
            Array(#"{"event":"Open","context":{"ip":null,"z":null,"a":1}}"#.utf8),
            to: "/v1/track",
            open,
            configure: { $0.recordsClientAddress = true }
        )
        let treated = try #require(traced.lines.first)
        #expect(treated.contains(#""context":{"a":1,"ip":"127.0.0.1"}"#), "\(treated)")

        let nothing = #"{"event":"Open","properties":{"x":null},"context":{"z":null}}"#
        let empty = try #require(try await DialectExchange.send(nothing, to: "/v1/track", open).lines.first)
        #expect(empty.hasSuffix(#""context":{},"payload":{}}"#), "\(empty)")
    }

    @Test(
        "only the message that is not JSON is rejected",
        .promise("client-batches"),
        arguments: [
            #"{"type":"track","event":"Order Completed","properties":{"total":NaN}}"#,
            #"{"type":"track","event":"Order Completed","properties":{"total":-Infinity}}"#,
            "{\"type\":\"alias\",\"previousId\":\"a\nb\"}", #"{"type":"alias",}"#, #"{"type" "alias"}"#, "NaN",
            "{\"type\":\"alias\",\n\"previousId\":\"a\u{1}b\"}",
        ]
    )
    func malformedMessage(message: String) async throws {
        let good = #"{"type":"alias","previousId":"u0"}"#
        let result = try await Self.send(#"{"batch":[\#(good),\#(message),\#(good)]}"#, to: "/v1/batch")
        #expect(result.response.status == 200)
        #expect(result.response.body.hasPrefix(#"{"success":true,"accepted":2,"rejected":[{"index":1,"#))
        #expect(result.response.body.contains(#""rejectedCodes":{"malformed-json":1}"#))
        #expect(result.lines.count == 2)
        #expect(result.quarantined.count == 1)
    }

    @Test("nothing between two commas is one invalid message, and takes no other with it", .promise("client-batches"))
    func emptyMessages() async throws {
        let good = #"{"type":"alias","previousId":"u0"}"#
        for padding in ["", String(repeating: " ", count: 300_000)] {
            for (array, accepted, rejected) in [
                ("\(good),,\(good)", 2, "[[1,1]]"), (",\(good)", 1, "[[0,0]]"), ("\(good),", 1, "[[1,1]]"),
                ("\(good), , ,\(good),", 2, "[[1,2],[4,4]]"), (",", 0, "[[0,1]]"),
            ] {
                let result = try await Self.send(#"{"batch":[\#(array)]\#(padding)}"#, to: "/v1/batch")
                #expect(result.response.status == 200)
                #expect(result.response.body.hasPrefix(#"{"success":true,"accepted":\#(accepted),"#), "\(array)")
                #expect(result.response.body.contains(#""rejectedIndexes":\#(rejected)"#), "\(result.response.body)")
                #expect(result.lines.count == accepted)
            }
        }
    }

    @Test(
        "PHP's empty array where an object belongs is an empty object",
        arguments: [
            ("track", #""event":"Order Completed","properties":OBJECT"#), ("identify", #""traits":OBJECT"#),
            ("page", #""name":"Home","properties":OBJECT"#), ("screen", #""name":"Home","properties":OBJECT"#),
            ("group", #""groupId":"g","traits":OBJECT"#), ("alias", #""previousId":"u0","context":OBJECT"#),
            ("identify", #""context":{"traits":OBJECT}"#), ("group", #""groupId":"g","context":{"traits":OBJECT}"#),
            ("track", #""event":"Order Completed","context":OBJECT,"properties":OBJECT"#),
        ]
    )
    func emptyArrays(kind: String, members: String) async throws {
        let message = #"{"type":"\#(kind)","messageId":"\#(Self.id)",\#(members)}"#
        let object = try await Self.send(message.replacing("OBJECT", with: "{}"), to: "/v1/\(kind)")
        #expect(object.lines.count == 1)
        for array in ["[]", "[ ]"] {
            let result = try await Self.send(message.replacing("OBJECT", with: array), to: "/v1/\(kind)")
            #expect(result.lines == object.lines, "\(result.response.body)")
        }
        let other = try await Self.send(message.replacing("OBJECT", with: "[1]"), to: "/v1/\(kind)")
        #expect(other.lines.isEmpty)
    }

    @Test("an id of a user, a device, a group or a former user that is a number becomes a string")
    func numericIDs() async throws {
        let messages = """
            {"batch":[{"type":"group","userId":1,"groupId":42},{"type":"alias","userId":2,"previousId":-7},
            {"type":"page","anonymousId":3,"name":5,"category":6}]}
            """
        let lines = try await Self.send(messages, to: "/v1/batch").lines
        #expect(lines.count == 3)
        #expect(lines.first?.hasSuffix(#""userId":"1","payload":{"groupId":"42"}}"#) == true)
        #expect(lines.dropFirst().first?.hasSuffix(#""userId":"2","payload":{"previousId":"-7"}}"#) == true)
        #expect(lines.last?.hasSuffix(#""anonymousId":"3","payload":{"name":"5","category":"6"}}"#) == true)
    }

    @Test(
        "a body is answered with 200 even if all its events are rejected, because the clients would discard it otherwise",
        .promise("client-batches")
    )
    func allRejected() async throws {
        let result = try await Self.send(
            #"{"batch":[{"type":"track","event":"Unknown"},{"type":"video"}]}"#,
            to: "/v1/import"
        )
        #expect(result.response.status == 200)
        #expect(result.response.body.contains(#""rejectedCodes":{"unknown-event":2}"#))
        #expect(result.quarantined.count == 2)
    }

    @Test("a large body, which is translated in turns, gives the same events as a small one")
    func turns() async throws {
        let messages = (0..<200).map { number in
            #"""
            {"type":"track", "event":"Order Completed","messageId":"m\#(number)",
             "properties":{"total":\#(number), "note":"}],[{\"\\"} }
            """#
        }
        let small = #"{"sentAt":"2019-01-01T00:00:10Z","batch":[\#(messages.joined(separator: " ,\n"))]}"#
        let large = small.dropLast() + String(repeating: " ", count: 300_000) + "}"
        let first = try await Self.send(small, to: "/v1/batch")
        let second = try await Self.send(String(large), to: "/v1/batch")
        #expect(first.lines.count == 200)
        #expect(first.lines == second.lines)
        let one = #"{"type":"alias","previousId":"u0","context":{"a":"\#(String(repeating: "x", count: 300_000))"}}"#
        #expect(try await Self.send(one, to: "/v1/alias").lines.count == 1)
    }

    @Test(
        "a body without a batch is refused as a whole, with code and message at the top",
        arguments: [
            "", "{", "[]", #"{"batch":1}"#, #"{"batch":[],"batch":[]}"#, #"{"type":"alias"}"#,
        ]
    )
    func noBatch(body: String) async throws {
        for padding in ["", String(repeating: " ", count: 300_000)] {
            let result = try await Self.send(padding + body, to: "/v1/batch")
            #expect(result.response.status == 400)
            #expect(result.response.body.hasPrefix(#"{"success":false,"code":"malformed-json","message":""#))
            #expect(result.lines.isEmpty)
        }
    }

    @Test("an array of messages is one event for each, and a missing comma makes no event come twice")
    func arrays() async throws {
        let good = #"{"previousId":"u0"}"#
        #expect(try await Self.send("[\(good), \(good)]", to: "/v1/alias").lines.count == 2)
        let result = try await Self.send("[\(good),\(good) \(good)]", to: "/v1/alias")
        #expect(result.response.body.hasPrefix(#"{"success":true,"accepted":1,"rejected":[{"index":1,"#))
        #expect(result.lines.count == 1)
    }

    @Test("JSON is accepted as text and without a type, compressed or not; other types and methods are refused")
    func types() async throws {
        let body = #"{"type":"alias","previousId":"u0"}"#
        for type in ["text/plain", "text/plain;charset=UTF-8", "application/json; charset=utf-8", nil] {
            #expect(try await Self.send(Array(body.utf8), to: "/v1/a", type: type).lines.count == 1)
        }
        let gzip = try await Requests.gzip(body)
        #expect(try await Self.send(gzip, to: "/v1/a", fields: "Content-Encoding: gzip\r\n").lines.count == 1)
        let other = try await Self.send(Array(body.utf8), to: "/v1/a", type: "application/xml")
        #expect(other.response.status == 415)
        #expect(other.response.body.hasPrefix(#"{"success":false,"code":"unsupported-media-type","message":""#))
    }
}
