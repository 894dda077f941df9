import EventModel
import EventPipeline
import EventSchema
import Foundation
import ServerTestSupport
import TestPromises
import Testing

/// PostHog's capture API, as its SDKs use it.
@Suite("The PostHog dialect", .timeLimit(.minutes(5)))
struct PostHogTests {
    private static let plan = DialectExchange.plan([
        "Order Completed": [("total", .number), ("coupon", .string)],
        "$pageview": [("title", .string)],
    ])
    private static let id = "0192a3f4-5b6c-7d8e-9f00-112233445566"
    private static let line = """
        {"id":"\(id)","name":"Order Completed","time":"2020-09-13T12:26:30.000000Z","userId":"u1","sessionId":"s1",\
        "context":{"originalTimestamp":"2019-01-01T00:00:00Z","$lib":"web","$session_id":"s1","$set":{"email":"a@b.c"}},\
        "payload":{"total":1.5},"serverTime":true}
        """
    private static let event = """
        {"event":"Order Completed","uuid":"\(id)","timestamp":"2019-01-01T00:00:00Z","$set":{"email":"a@b.c"},
        "properties":{"distinct_id":"u1","token":"phc_x","$lib":"web","total":1.5,"$session_id":"s1","coupon":null}}
        """

    @Test("the newer API has the client's clock in the header, options beside the properties, and answers by event")
    func newerAPI() async throws {
        let event = """
            {"event":"Order Completed","uuid":"\(Self.id)","timestamp":"2019-01-01T00:00:00+00:00","distinct_id":"u1",
            "session_id":"s1","window_id":"w1","options":{"process_person_profile":false},
            "properties":{"total":1.5,"$set":{"email":"a@b.c"}}}
            """
        let other = "0192a3f4-5b6c-7d8e-9f00-112233445577"
        let wrong =
            #"{"event":"Order Completed","uuid":"\#(other)","distinct_id":"u1","options":{},"properties":{"total":"x"}}"#
        let result = try await DialectExchange.send(
            Array(#"{"created_at":"2019-01-01T00:00:10Z","batch":[\#(event),\#(wrong)]}"#.utf8),
            to: "/i/v1/analytics/events",
            Self.plan,
            fields: "PostHog-Request-Timestamp: 2019-01-01T00:00:10+00:00\r\nPostHog-Attempt: 1\r\n"
        )
        #expect(result.response.status == 200)
        let drop = #"{"result":"drop","details":"wrong-type"}"#
        #expect(result.response.body == #"{"accepted":1,"results":{"\#(other)":\#(drop)}}"#)
        #expect(
            result.lines == [
                """
                {"id":"\(Self.id)","name":"Order Completed","time":"2020-09-13T12:26:30.000000Z","anonymousId":"u1",\
                "sessionId":"s1","context":{"originalTimestamp":"2019-01-01T00:00:00+00:00","$window_id":"w1",\
                "$set":{"email":"a@b.c"}},"payload":{"total":1.5},"serverTime":true}
                """
            ]
        )
    }

    @Test("the newer API lists each rejected event whose id differs from another only in Unicode normalization")
    func normalizedIDs() async throws {
        let ids = ["\u{e9}", "e\u{301}"]
        let events = ids.map { #"{"event":"Order Completed","uuid":"\#($0)","properties":{"total":"x"}}"# }
        let body = #"{"batch":[\#(events.joined(separator: ","))]}"#
        let result = try await DialectExchange.send(body, to: "/i/v1/analytics/events", Self.plan)
        let listed = ids.filter { result.response.body.utf8.contains(Array(#""\#($0)":{"result":"drop""#.utf8)) }
        #expect(listed.count == 2)
    }

    @Test(
        "a client can say that its time is final",
        arguments: [#""options":{"disable_skew_correction":true}"#, #""properties":{"$ignore_sent_at":true}"#]
    )
    func finalTime(member: String) async throws {
        let event = #"{"event":"Order Completed","timestamp":"2019-01-01T00:00:00Z","distinct_id":"u1",\#(member)}"#
        let body = #"{"batch":[\#(event)],"sent_at":"2019-01-01T00:00:10Z"}"#
        let result = try await DialectExchange.send(body, to: "/batch/", Self.plan)
        #expect(result.lines.first?.contains(#""time":"2019-01-01T00:00:00Z""#) == true)
    }

    @Test(
        "the newer API lists a rejected event by its uuid as the client wrote it, whatever is wrong with the event",
        arguments: [
            (#"{"event":"Order Completed","uuid":"ID","properties":{"total":NaN}}"#, "malformed-json"),
            (#"{"event":"Order Completed","uuid":"ID","properties":{"coupon":"\ud800"}}"#, "malformed-json"),
            ("{\"event\":\"Order Completed\",\"uuid\":\"ID\",\"properties\":{\"coupon\":\"\u{1}\"}}", "malformed-json"),
            (#"{"event":"Order Completed","uuid":"ID",}"#, "malformed-json"),
            (#"{"properties":{"uuid":"other"},"uuid" : "ID","event":"Order Completed"}"#, "unplanned-property"),
            (#"{"event":"Unknown","uuid":"ID"}"#, "unknown-event"),
        ],
        [id, id.uppercased(), "not a UUID", #"caf\u00e9 \"1\""#]
    )
    func resultsByUUID(event: (text: String, code: String), id: String) async throws {
        let wrong = event.text.replacing("ID", with: id)
        let good = #"{"event":"Order Completed","uuid":"0192a3f4-5b6c-7d8e-9f00-112233445577","distinct_id":"u1"}"#
        for padding in ["", String(repeating: " ", count: 300_000)] {
            let result = try await DialectExchange.send(
                #"{"batch":[\#(good),\#(wrong),\#(good)]\#(padding)}"#,
                to: "/i/v1/analytics/events",
                Self.plan
            )
            #expect(result.response.status == 200)
            let answer = try JSONDecoder().decode(Results.self, from: Data(result.response.body.utf8))
            let stated = try JSONDecoder().decode(String.self, from: Data(#""\#(id)""#.utf8))
            #expect(answer.accepted == 2)
            #expect(answer.results.mapValues(\.result) == [stated: "drop"])
            #expect(answer.results.mapValues(\.details) == [stated: event.code])
        }
    }

    private struct Results: Decodable {
        struct Result: Decodable {
            let result: String
            let details: String?
        }

        let accepted: Int
        let results: [String: Result]
    }

    @Test(
        "an offset in milliseconds, which posthog-js sends instead of a timestamp, is subtracted from the time of arrival",
        arguments: [
            (#""offset":2500"#, "2020-09-13T12:26:37.500000Z"), (#""offset":0"#, "2020-09-13T12:26:40.000000Z"),
            (#""offset":0.25,"timestamp":null"#, "2020-09-13T12:26:39.999750Z"),
            (#""offset":34560000000"#, "2019-08-10T12:26:40.000000Z"),
            (#""offset":34560000001"#, "2020-09-13T12:26:40.000000Z"),
            (#""offset":-1"#, "2020-09-13T12:26:40.000000Z"), (#""offset":"2500""#, "2020-09-13T12:26:40.000000Z"),
            (#""offset":2500,"timestamp":"2020-01-01T00:00:00Z""#, "2020-01-01T00:00:00Z"),
        ]
    )
    func offset(members: String, time: String) async throws {
        let event = #"{"event":"Order Completed","distinct_id":"u1",\#(members),"properties":{"total":1}}"#
        let result = try await DialectExchange.send(
            Array("[\(event)]".utf8),
            to: "/e/",
            Self.plan,
            eventTimes: .standard
        )
        let line = try #require(result.lines.first)
        #expect(line.contains(#""time":"\#(time)""#))
    }

    @Test(
        "what an event states both beside its properties and within them is merged, and what is beside them wins",
        arguments: [
            (
                #""$set":{"a":1,"b":2}"#, #""$set":{"\u0062":3,"c":{"d":4}}"#,
                #""$set":{"a":1,"b":2,"c":{"d":4}}"#
            ),
            (#""$set_once":{"a":1}"#, #""$set_once":{}"#, #""$set_once":{"a":1}"#),
            (#""$set_once":{"a":1}"#, #""$set_once":null"#, #""$set_once":{"a":1}"#),
            (#""$set":{"a":1}"#, #""$set":5"#, #""$set":{"a":1}"#),
            (#""$set":5"#, #""$set":{"a":1}"#, #""$set":{"a":1}"#),
            (#""$set":{},"$set_once":{"a":1}"#, #""$set_once":{"b":1}"#, #""$set":{},"$set_once":{"a":1,"b":1}"#),
            (#""window_id":"w1""#, #""$window_id":"w2""#, #""$window_id":"w2""#),
        ]
    )
    func statedTwice(beside: String, within: String, context: String) async throws {
        let event = #"{"event":"Order Completed",\#(beside),"properties":{"total":1,\#(within)}}"#
        let result = try await DialectExchange.send("[\(event)]", to: "/e/", Self.plan)
        #expect(result.response.body == #"{"status":1,"accepted":1,"rejected":[]}"#)
        let line = try #require(result.lines.first)
        #expect(line.contains(#""context":{\#(context)}"#))
    }

    @Test(
        "an object that is not JSON is rejected at both places",
        arguments: [
            (#"{"a":1,}"#, #"{"b":1}"#), (#"{"a":1}"#, #"{"b":1,}"#), (#"{"a":1}"#, #"{"b" 1}"#),
        ]
    )
    func malformedTwice(beside: String, within: String) async throws {
        let event = #"{"event":"Order Completed","$set":\#(beside),"properties":{"total":1,"$set":\#(within)}}"#
        let result = try await DialectExchange.send(#"{"batch":[\#(event),\#(Self.event)]}"#, to: "/e/", Self.plan)
        #expect(result.response.body.contains(#""rejectedCodes":{"malformed-json":1}"#))
        #expect(result.lines.count == 1)
    }

    @Test(
        "each path accepts an event, an array of events and a batch; members with $ are context",
        arguments: [
            "/batch/", "/capture/", "/e/", "/i/v0/e/", "/batch", "/e",
        ]
    )
    func forms(path: String) async throws {
        let sentAt = #""sent_at":"2019-01-01T00:00:10Z""#
        let ofBatch = try await DialectExchange.send(
            #"{"api_key":"k","batch":[\#(Self.event)],\#(sentAt)}"#,
            to: path,
            Self.plan
        )
        let alone = try await DialectExchange.send(Self.event.dropLast() + ",\(sentAt)}", to: path, Self.plan)
        let array = try await DialectExchange.send(
            "[\(Self.event)]",
            to: path + "?ip=0&_=1546300810000&ver=1",
            Self.plan
        )
        for result in [ofBatch, alone, array] {
            #expect(result.response.status == 200)
            #expect(result.response.body == #"{"status":1,"accepted":1,"rejected":[]}"#)
            #expect(result.lines.map(Self.sorted) == [Self.sorted(Self.line)])
        }
    }

    /// The line with the members of its context in alphabetical order, because their order is that of the client.
    private static func sorted(_ line: String) -> String {
        let object = try? JSONSerialization.jsonObject(with: Data(line.utf8))
        let data = object.flatMap { try? JSONSerialization.data(withJSONObject: $0, options: .sortedKeys) }
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    @Test("a person that the client does not know is the anonymous id")
    func anonymous() async throws {
        let event =
            #"{"event":"$pageview","distinct_id":7,"properties":{"$process_person_profile":false,"title":"Home"}}"#
        let line = try #require(try await DialectExchange.send(event, to: "/e/", Self.plan).lines.first)
        #expect(line.contains(#""anonymousId":"7""#))
        #expect(!line.contains("userId"))
        #expect(line.contains(#""payload":{"title":"Home"}"#))
    }

    @Test("posthog-js may send gzip as text without an encoding, or a form with base64")
    func browsers() async throws {
        let gzip = try await Requests.gzip(Self.event)
        let path = "/e/?compression=gzip-js&_=1546300810000"
        #expect(try await DialectExchange.send(gzip, to: path, Self.plan, type: "text/plain").lines.count == 1)
        let base64 = Data(Self.event.utf8).base64EncodedString()
        let form =
            "data=" + base64.replacing("+", with: "%2B").replacing("/", with: "%2f").replacing("=", with: "%3D")
            + "&ver=1"
        let type = "application/x-www-form-urlencoded"
        let result = try await DialectExchange.send(Array(form.utf8), to: "/e/", Self.plan, type: type)
        #expect(result.lines.count == 1)
        for body in [
            "data=%", "data=!!", "data=", "other=1", "data=" + String(repeating: "A", count: 1 << 20),
            // Base64 of {} with too few or too many characters, and with padding in the middle.
            "data=e30", "data=e30==", "data=e3=0", "data=e30=e30=", "data=%653", "data=e30%3", "data=e30%3G",
        ] {
            let refused = try await DialectExchange.send(Array(body.utf8), to: "/e/", Self.plan, type: type)
            #expect(refused.response.status == 400)
            #expect(refused.response.body.hasPrefix(#"{"status":0,"code":""#))
            #expect(refused.response.body.contains(#""detail":""#))
        }
    }

    @Test("nothing between two commas is one invalid event, and takes no other with it", .promise("client-batches"))
    func emptyEvents() async throws {
        let good = #"{"event":"Signed Up","distinct_id":"u"}"#
        let plan = DialectExchange.plan(["Signed Up": []])
        for padding in ["", String(repeating: " ", count: 300_000)] {
            for body in [#"{"batch":[\#(good),,\#(good)]\#(padding)}"#, "[\(good),,\(good)\(padding)]"] {
                let result = try await DialectExchange.send(body, to: "/batch/", plan)
                #expect(result.response.status == 200)
                #expect(result.response.body.contains(#""accepted":2,"#))
                #expect(result.response.body.contains(#""rejectedIndexes":[[1,1]]"#), "\(result.response.body)")
                #expect(result.lines.count == 2)
            }
        }
    }

    @Test("PHP's empty array is an event without properties")
    func emptyArray() async throws {
        let plan = DialectExchange.plan(["Signed Up": []])
        let id = "0192a3f4-5b6c-7d8e-9f00-112233445566"
        let event = #"{"event":"Signed Up","uuid":"\#(id)","distinct_id":"u","properties":OBJECT}"#
        let object = try await DialectExchange.send(event.replacing("OBJECT", with: "{}"), to: "/capture/", plan)
        let array = try await DialectExchange.send(event.replacing("OBJECT", with: "[]"), to: "/capture/", plan)
        #expect(object.lines.count == 1 && object.lines == array.lines)
        let other = try await DialectExchange.send(event.replacing("OBJECT", with: "[1]"), to: "/capture/", plan)
        #expect(other.lines.isEmpty)
    }

    @Test("an event that is not in the plan is rejected, and the answer is still 200", .promise("client-batches"))
    func unknown() async throws {
        let result = try await DialectExchange.send(
            #"{"batch":[{"event":"$autocapture","properties":{}},\#(Self.event)]}"#,
            to: "/batch/",
            Self.plan
        )
        #expect(result.response.status == 200)
        #expect(result.response.body.contains(#""rejectedCodes":{"unknown-event":1}"#))
        #expect(result.lines.count == 1)
    }
}
