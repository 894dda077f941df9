import EventValidation
import TestCases
import Testing

@Suite("A verdict")
struct VerdictTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let event: String
        let verdict: [String]

        init(_ event: String, _ verdict: String...) {
            self.event = event
            self.verdict = verdict
        }

        var testDescription: String { verdict.first ?? "" }
    }

    static let envelope = [
        Case("5", "wrong-type $: an object with a name / integer"),
        Case("null", "wrong-type $: an object with a name / null"),
        Case(#""text""#, "wrong-type $: an object with a name / string"),
        Case("{}", "missing-required $.name: the event's name / nothing"),
        Case(#"{"name":1.5}"#, "wrong-type $.name: string / number"),
        Case(#"{"name":"Nobody"}"#, "unknown-event $.name: an event of the plan / an unknown name"),
        Case(
            #"{"name":"item-purchased"}"#,
            "unknown-event $.name: an event of the plan; did you mean 'Item Purchased'? / an unknown name"
        ),
        Case(Sent.ping(#","id":"x""#), "invalid-id $.id: a UUID (RFC 9562) / another string"),
        Case(Sent.ping(#","id":7"#), "invalid-id $.id: a UUID (RFC 9562) / integer"),
        Case(Sent.ping(#","id":null"#), "invalid-id $.id: a UUID (RFC 9562) / null"),
        Case(Sent.ping(#","time":"yesterday""#), "invalid-time $.time: an RFC 3339 date-time / another string"),
        Case(Sent.ping(#","time":1291192000"#), "invalid-time $.time: an RFC 3339 date-time / integer"),
        Case(Sent.ping(#","userId":1"#), "wrong-type $.userId: string / integer"),
        Case(Sent.ping(#","anonymousId":{}"#), "wrong-type $.anonymousId: string / object"),
        Case(Sent.ping(#","sessionId":null"#), "wrong-type $.sessionId: string / null"),
        Case(Sent.ping(#","context":[]"#), "wrong-type $.context: object / array"),
        Case(Sent.ping(#","payload":true"#), "wrong-type $.payload: object / boolean"),
        Case(
            Sent.ping(#","receivedAt":"2020-01-01T00:00:00Z""#),
            "unknown-field $.receivedAt: one of id, name, time, userId, anonymousId, sessionId, context, payload, serverTime / string"
        ),
        Case(
            Sent.ping(#","user id":null"#),
            "unknown-field $['user id']: one of id, name, time, userId, anonymousId, sessionId, context, payload, serverTime / null"
        ),
    ]

    static let payload = [
        Case(#"{"name":"Item Purchased"}"#, "missing-required $.payload: object / nothing (1)"),
        Case(
            #"{"name":"Item Purchased","payload":{"sku":"AB","price":1}}"#,
            "missing-required $.payload.quantity: integer / nothing (2)"
        ),
        Case(Sent.purchase(#","gift":1"#), "wrong-type $.payload.gift: boolean / integer (7)"),
        Case(Sent.purchase(#","size":7"#), "wrong-type $.payload.size: string or null / integer (5)"),
        Case(Sent.purchase(#","at":"noon""#), "wrong-type $.payload.at: an RFC 3339 date-time / another string (8)"),
        Case(
            Sent.purchase(#","day":"2010-02-30""#),
            "wrong-type $.payload.day: an RFC 3339 full-date / another string (9)"
        ),
        Case(Sent.purchase(#","order":"1-2""#), "wrong-type $.payload.order: a UUID (RFC 9562) / another string (10)"),
        Case(
            Sent.purchase(#","total":"1,50""#),
            "wrong-type $.payload.total: a decimal number, or one in a string, of at most 1000 digits / another string (6)"
        ),
        Case(Sent.purchase(#","extra":null"#), "wrong-type $.payload.extra: any value / null (14)"),
        Case(Sent.purchase(#","lines":{}"#), "wrong-type $.payload.lines: array / object (11)"),
        Case(Sent.purchase(#","lines":[{"name":"a"},5]"#), "wrong-type $.payload.lines[1]: object / integer (11)"),
        Case(
            Sent.purchase(#","lines":[{"name":"a","count":"2"}]"#),
            "wrong-type $.payload.lines[0].count: integer / string (13)"
        ),
        Case(
            Sent.purchase(#","size":"huge""#),
            #"not-in-enum $.payload.size: one of "small", "large" / another string (5)"#
        ),
        Case(
            Sent.purchase(#","total":0"#),
            "out-of-range $.payload.total: decimal, at least 0.01 / a value out of range (6)"
        ),
        Case(
            Sent.purchase(#","code":"b12""#),
            "pattern-mismatch $.payload.code: a match of ^[a-z][0-9]$ / another string (4)"
        ),
        Case(
            Sent.purchase(#","Code":"b1""#),
            "unplanned-property $.payload.Code: no such property; did you mean 'code'? / string (1)"
        ),
        Case(Sent.purchase(#","colour":[]"#), "unplanned-property $.payload.colour: no such property / array (1)"),
        Case(
            Sent.purchase(#","lines":[{"name":"a","Count":2}]"#),
            "unplanned-property $.payload.lines[0].Count: no such property; did you mean 'count'? / integer (11)"
        ),
    ]

    static let limits = [
        Case(
            #"{"name":"Item Purchased","payload":{"sku":"A","quantity":1,"price":1}}"#,
            "too-short $.payload.sku: at least 2 characters / 1 characters (1)"
        ),
        Case(
            #"{"name":"Item Purchased","payload":{"sku":"123456789","quantity":1,"price":1}}"#,
            "too-long $.payload.sku: at most 8 characters / 9 characters (1)"
        ),
        Case(
            #"{"name":"Item Purchased","payload":{"sku":"AB","quantity":0,"price":-0.5}}"#,
            "out-of-range $.payload.quantity: integer, at least 1 and at most 1000 / a value out of range (2)",
            "out-of-range $.payload.price: number, at least 0 / a value out of range (3)"
        ),
    ]

    @Test("says what is wrong with the envelope", arguments: envelope)
    func ofTheEnvelope(of wrong: Case) throws {
        #expect(try EventValidator.sample().verdict(of: wrong.event) == wrong.verdict)
    }

    @Test("says what is wrong with the payload, with the line of the plan", arguments: payload + limits)
    func ofThePayload(of wrong: Case) throws {
        #expect(try EventValidator.sample().verdict(of: wrong.event) == wrong.verdict)
    }

    @Test("names the event if it is in the plan, and repeats the id if it is a short string")
    func nameAndID() throws {
        let validator = EventValidator.sample()
        let long = String(repeating: "x", count: 64)
        let ids = try [#""abc""#, "5", "\"\(long)\"", "\"\(long)x\""].map { id in
            try validator.check(Sent.ping(",\"id\":\(id)")).rejections.first?.id
        }
        #expect(ids == ["abc", nil, long, nil])
        #expect(try validator.check(Sent.ping(#","id":1"#)).rejections.map(\.name) == ["Ping"])
        #expect(try validator.check(#"{"name":"Pong"}"#).rejections.map(\.name) == [nil])
    }

    @Test("on a value that is not an event does not repeat the id of the event before it")
    func staleID() throws {
        let bad = Sent.ping(#","userId":"someone","id":"first""#)
        for (body, format) in [("[\(bad),5]", BodyFormat.document), ("\(bad)\n5\n", .lines)] {
            let rejections = try EventValidator.sample().check(body, as: format).rejections
            #expect(rejections.map(\.id) == ["first", nil])
        }
    }

    @Test("never shows a value, wherever it is")
    func noValues() throws {
        let secret = "s3cret"
        let event = #"""
            {"name":"s3cret","id":"s3cret","time":"s3cret","userId":["s3cret"],"context":"s3cret","receivedAt":"s3cret"}
            """#
        let payload =
            #"{"name":"Item Purchased","payload":{"sku":["s3cret"],"quantity":"s3cret","price":"s3cret","#
            + #""code":"s3cret","size":"s3cret","total":"s3cret","gift":"s3cret","at":"s3cret","day":"s3cret"}}"#
        for event in [event, payload] {
            let summary = try EventValidator.sample().verdict(of: event)
            #expect(summary.count >= 6)
            #expect(!summary.contains { $0.contains(secret) })
        }
    }
}
