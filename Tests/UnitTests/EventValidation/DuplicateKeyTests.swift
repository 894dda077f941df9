import EventValidation
import TestCases
import Testing

@Suite("A duplicate key")
struct DuplicateKeyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let event: String
        let path: String

        init(_ place: String, _ event: String, _ path: String) {
            (testDescription, self.event, self.path) = (place, event, path)
        }
    }

    static let few = #""a":1,"b":2,"a":1"#
    static let many = (0..<12).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + #","k3":3"#

    static let cases = [
        Case("the envelope", Sent.ping(#","userId":"a","userId":"a""#), "$.userId"),
        Case("the envelope's name", #"{"name":"Ping","name":"Ping"}"#, "$.name"),
        Case("the envelope, spelt with an escape", Sent.ping(#","userId":"a","user\u0049d":"a""#), "$.userId"),
        Case("the payload", Sent.purchase(#","sku":"AB""#), "$.payload.sku"),
        Case("the payload, spelt with an escape", Sent.purchase(#","s\u006bu":"AB""#), "$.payload.sku"),
        Case(
            "an object of the plan",
            Sent.purchase(#","lines":[{"name":"a"},{"name":"a","name":"a"}]"#),
            "$.payload.lines[1].name"
        ),
        Case("an object of any kind", Sent.purchase(",\"bag\":{\(few)}"), "$.payload.bag.a"),
        Case("a value of any kind", Sent.purchase(",\"extra\":[{\(few)}]"), "$.payload.extra[0].a"),
        Case("the context", Sent.ping(",\"context\":{\(few)}"), "$.context.a"),
        Case("the context, deep down", Sent.ping(",\"context\":{\"x\":{\"y\":[{\(few)}]}}"), "$.context.x.y[0].a"),
        Case("the context, spelt with an escape", Sent.ping(#","context":{"a":1,"\u0061":1}"#), "$.context.a"),
        Case("additional properties", Sent.open(#""x":1,"a":2,"x":1"#), "$.payload.x"),
        Case("a planned property among additional ones", Sent.open(#""x":1,"a":2,"a":2"#), "$.payload.a"),
        Case("many keys of the context", Sent.ping(",\"context\":{\(many)}"), "$.context.k3"),
        Case("many additional properties", Sent.open(many), "$.payload.k3"),
        Case("an empty key", Sent.ping(#","context":{"":1,"":1}"#), "$.context['']"),
    ]

    @Test("is one violation, in", arguments: cases)
    func twice(_ sent: Case) throws {
        let summary = try EventValidator.sample().verdict(of: sent.event)
        #expect(summary == ["malformed-json \(sent.path): each key once / the key again"])
    }

    @Test("is one violation for each repetition", arguments: [3, 20])
    func again(times: Int) throws {
        let members = (0..<times).map { _ in #""k":0"# }.joined(separator: ",")
        let verdicts = try EventValidator.sample().check(Sent.ping(",\"context\":{\(members)}")).verdicts
        #expect(verdicts == [[String](repeating: "malformed-json $.context.k", count: min(10, times - 1))])
    }

    @Test("is not a violation in different objects, or if the case or the Unicode composition differs")
    func distinct() throws {
        let event = Sent.ping(
            #","context":{"a":{"a":[{"a":1},{"a":1}]},"A":1,"\u00e9":1,"e\u0301":1,"a ":1,"a\u0001":1}"#
        )
        #expect(try EventValidator.sample().verdict(of: event) == [])
    }
}
