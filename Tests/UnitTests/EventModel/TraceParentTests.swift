import EventModel
import Testing

@Suite("The header traceparent of W3C Trace Context")
struct TraceParentTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00f067aa0ba902b7"

    @Test(
        "is valid as the grammar says",
        arguments: [
            ("00-\(trace)-\(parent)-01", true), ("00-\(trace)-\(parent)-00", true), ("00-\(trace)-\(parent)-ff", true),
            // A later version may have further fields.
            ("01-\(trace)-\(parent)-01", true), ("cc-\(trace)-\(parent)-01-0a-b", true),
            ("00-\(trace)-\(parent)-01-0a", false), ("01-\(trace)-\(parent)-01.x", false),
            ("01-\(trace)-\(parent)-01-\"", false),
            ("01-\(trace)-\(parent)-01-" + String(repeating: "a", count: 80), false),
            ("ff-\(trace)-\(parent)-01", false), ("00-\(trace.uppercased())-\(parent)-01", false),
            ("00-\(String(repeating: "0", count: 32))-\(parent)-01", false),
            ("00-\(trace)-\(String(repeating: "0", count: 16))-01", false), ("00-\(trace)-\(parent)-1", false),
            ("00-\(trace)-\(parent)01-", false), ("00-\(trace)g\(parent)-01", false), ("", false),
            (" 00-\(trace)-\(parent)-01", false),
        ]
    )
    func grammar(text: String, isValid: Bool) {
        #expect(TraceParent.isValid(Array(text.utf8)) == isValid)
    }

    @Test(
        "is found among the members of a context, and not in an object, an array or a text in it",
        arguments: [
            (#","context":{"traceparent":"a"}"#, "a"), (#","context":{"b":1,"traceparent":"a","c":"d"}"#, "a"),
            (#","userId":"u","sessionId":"s","context":{"x":{"traceparent":"no"},"traceparent":"a"}"#, "a"),
            (#","context":{"x":"\"traceparent\":\"no\"","y":["traceparent","{"],"traceparent":"a"}"#, "a"),
            (#","context":{"x":{"traceparent":"no"}}"#, nil), (#","context":{"traceparent":1}"#, nil),
            (#","context":{}"#, nil), ("", nil), (#","context":{"x":"traceparent"}"#, nil),
        ] as [(String, String?)]
    )
    func member(fields: String, value: String?) throws {
        let line = #"{"id":"i","name":"n","time":"t","receivedAt":"r"\#(fields),"payload":{"traceparent":"no"}}"#
        let found = try Array(line.utf8).withUnsafeBytes { bytes in
            let line = try #require(CanonicalLine(bytes))
            return line.contextText(of: TraceParent.key).map { String(decoding: bytes[$0], as: UTF8.self) }
        }
        #expect(found == value)
    }
}
