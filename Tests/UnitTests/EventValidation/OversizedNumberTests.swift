import EventModel
import EventQuarantine
import EventValidation
import TestCases
import Testing

@Suite("Numbers that the parser refuses")
struct OversizedNumberTests {
    let validator = EventValidator(catalog: .sample, now: { Timestamp(microseconds: 1_700_000_000_000_000) })

    @Test("invalid syntax after an oversized number is malformed JSON, and not out of range")
    func syntaxBehindNumber() {
        #expect(throws: MalformedBody.self) {
            try validator.check(#"{"name":"Open","payload":{"a":1e999,"b":tru}}"#)
        }
    }

    @Test("an oversized number alone is out of range")
    func oversized() throws {
        let checked = try validator.check(#"{"name":"Open","payload":{"a":1e999,"b":true}}"#)
        #expect(checked.verdicts == [["out-of-range $"]])
    }

    @Test("an event with such a number comes back from the quarantine unchanged")
    func quarantined() throws {
        let text = #"{"name":"Open","payload":{"a":12345678901234567890123}}"#
        let rejection = try #require(try validator.check(text).rejections.first)
        let records = VerdictRecords([rejection], source: "http", planVersion: nil, at: Timestamp(microseconds: 0))
        let line = try #require(records.bytes.withUnsafeBytes { VerdictRecords.lines(of: $0) })
        #expect(Quarantine.original(ofLine: line.dropLast()).map { String(decoding: $0, as: UTF8.self) } == text)
    }

    @Test("zero is accepted with any exponent", arguments: ["0e1001", "0e-9999999", "0.0e99999999999"])
    func zero(text: String) throws {
        #expect(ExactDecimal(text) == ExactDecimal("0"))
        let checked = try validator.check(#"{"name":"Open","payload":{"a":\#(text)}}"#)
        #expect(checked.lines.first?.hasSuffix(#""payload":{"a":0}}"#) == true)
    }
}
