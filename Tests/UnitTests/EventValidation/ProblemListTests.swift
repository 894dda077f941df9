import EventValidation
import Foundation
import TestCases
import Testing

@Suite("The list of an event's problems")
struct ProblemListTests {
    @Test("has all of them, and not only the first")
    func all() throws {
        let event = #"""
            {"id":"x","nom":1,"userId":2,"time":"t","name":"Item Purchased","context":{"a":1,"a":2},
             "payload":{"sku":"A","quantity":1.5,"colour":1}}
            """#.replacingOccurrences(of: "\n", with: "")
        #expect(
            try EventValidator.sample().check(event).verdicts == [
                [
                    "unknown-field $.nom", "invalid-id $.id", "invalid-time $.time", "wrong-type $.userId",
                    "malformed-json $.context.a", "unplanned-property $.payload.colour", "too-short $.payload.sku",
                    "wrong-type $.payload.quantity", "missing-required $.payload.price",
                ]
            ]
        )
    }

    @Test("ends after ten")
    func ten() throws {
        let lines = (0..<25).map { _ in #"{"name":1}"# }.joined(separator: ",")
        let rejection = try #require(
            try EventValidator.sample().check(Sent.purchase(",\"lines\":[\(lines)]")).rejections.first
        )
        #expect(rejection.violations.count == 10)
        #expect(rejection.violations.map(\.path) == (0..<10).map { "$.payload.lines[\($0)].name" })
    }

    @Test("starts again with each event")
    func perEvent() throws {
        let checked = try EventValidator.sample().check("[\(Sent.ping(#","id":1"#)),\(Sent.ping()),{},\(Sent.ping())]")
        #expect(checked.verdicts == [["invalid-id $.id"], ["missing-required $.name"]])
        #expect(checked.rejections.map(\.index) == [0, 2])
        #expect(checked.lines.count == 2)
    }

    @Test("includes the envelope of an unknown event")
    func unknownEvent() throws {
        let event = #"{"name":"No","userId":1,"context":{"a":"\u0000"},"payload":{"x":1,"x":2}}"#
        #expect(
            try EventValidator.sample().check(event).verdicts
                == [["unknown-event $.name", "wrong-type $.userId", "malformed-json $.context.a"]]
        )
    }

    @Test(
        "names places as JSONPath",
        arguments: [
            ("plain_1", ".plain_1"), ("é😀", ".é😀"), ("1st", "['1st']"), ("", "['']"), ("it's", #"['it\'s']"#),
            (#"a\\b"#, #"['a\\b']"#), (#"tab\tkey"#, #"['tab\u0009key']"#), ("a b", "['a b']"), ("a.b", "['a.b']"),
        ]
    )
    func paths(key: String, step: String) throws {
        let event = Sent.ping(",\"context\":{\"\(key)\":[0,{\"\(key)\":\"\\u0000\"}]}")
        #expect(try EventValidator.sample().check(event).verdicts == [["malformed-json $.context\(step)[1]\(step)"]])
    }

    @Test("cuts a sender's key after 64 bytes")
    func longKey() throws {
        let key = String(repeating: "k", count: 100)
        #expect(
            try EventValidator.sample().check(Sent.purchase(",\"\(key)\":1")).verdicts
                == [["unplanned-property $.payload." + String(repeating: "k", count: 64)]]
        )
    }
}
