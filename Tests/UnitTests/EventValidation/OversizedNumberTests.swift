import EventModel
import EventQuarantine
import EventValidation
import TestCases
import TestPromises
import Testing

@Suite("Numbers beyond 64 bits and beyond doubles")
struct OversizedNumberTests {
    let validator = EventValidator(catalog: .sample, now: { Timestamp(microseconds: 1_700_000_000_000_000) })

    @Test("invalid syntax after an oversized number is malformed JSON, and not out of range")
    func syntaxBehindNumber() {
        #expect(throws: MalformedBody.self) {
            try validator.check(#"{"name":"Open","payload":{"a":1e999,"b":tru}}"#)
        }
    }

    @Test("an oversized number alone is out of range, with its path and the event's id")
    func oversized() throws {
        let id = "0192a3f4-5b6c-7d8e-9f00-112233445566"
        let event = #"{"name":"Open","id":"\#(id)","payload":{"x":[{"b":1e999}],"c":true}}"#
        for text in [event, "[\(event)]"] {
            let checked = try validator.check(text)
            #expect(checked.verdicts == [["out-of-range $.payload.x[0].b"]])
            #expect(checked.rejections.map(\.id) == [id])
        }
    }

    @Test(
        "a number that the plan does not describe keeps all its digits, wherever it is",
        .promise("exact-numbers"),
        arguments: [
            ("18446744073709551616", "18446744073709551616"), ("18446744073709552000", "1.8446744073709552e+19"),
            ("-9223372036854775809", "-9223372036854775809"), ("12345678901234567.89", "12345678901234567.89"),
            ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"), ("1e-400", "1e-400"),
            ("1.2345678901e-320", "1.2345678901e-320"), ("0.1", "0.1"), ("1e20", "1e+20"), ("0.0", "0"), ("-0e0", "0"),
            ("1.50000000000000000000", "1.5"), ("100000000000000000000", "1e+20"),
        ]
    )
    func exact(sent: String, stored: String) throws {
        let event =
            #"{"name":"Open","context":{"c":\#(sent)},"payload":{"x":\#(sent),"y":[1.25,\#(sent),{"d":\#(sent)}]}}"#
        let wanted = #""context":{"c":\#(stored)},"payload":{"x":\#(stored),"y":[1.25,\#(stored),{"d":\#(stored)}]}}"#
        for text in [event, "[\(event)]"] {
            let lines = try validator.check(text).lines
            #expect(lines.count == 1 && lines[0].hasSuffix(wanted), "\(lines)")
        }
        let again = EventValidator(catalog: .sample, acceptsReceivedAt: true)
        let line = try #require(try validator.check(event, as: .lines).lines.first)
        #expect(try again.check(line, as: .lines).lines == [line])
    }

    @Test(
        "a number is rejected where it cannot be kept",
        arguments: ["1e309", "-1e309", "0." + String(repeating: "3", count: 1000), "1e-1000", "1e-99999999999"]
    )
    func inexact(sent: String) throws {
        let checked = try validator.check(#"{"name":"Open","context":{"c":\#(sent)},"payload":{"x":[\#(sent)]}}"#)
        #expect(checked.verdicts == [["out-of-range $.context.c", "out-of-range $.payload.x[0]"]])
    }

    @Test("an event with such a number comes back from the quarantine unchanged, as JSON")
    func quarantined() throws {
        let text = #"{"name":"Unknown","payload":{"a":12345678901234567890123}}"#
        let rejection = try #require(try validator.check(text).rejections.first)
        let records = VerdictRecords([rejection], source: "http", planVersion: nil, at: Timestamp(microseconds: 0))
        let line = try #require(records.bytes.withUnsafeBytes { VerdictRecords.lines(of: $0) })
        #expect(String(decoding: line, as: UTF8.self).hasSuffix(#""event":\#(text)}\#n"#))
        #expect(Quarantine.original(ofLine: line.dropLast()).map { String(decoding: $0, as: UTF8.self) } == text)
    }

    @Test("zero is accepted with any exponent", arguments: ["0e1001", "0e-1000", "0e-9999999", "0.0e99999999999"])
    func zero(text: String) throws {
        #expect(ExactDecimal(text) == ExactDecimal("0"))
        let checked = try validator.check(#"{"name":"Open","payload":{"a":\#(text)}}"#)
        #expect(checked.lines.first?.hasSuffix(#""payload":{"a":0}}"#) == true)
    }
}
