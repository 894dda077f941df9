import EventQuarantine
import Testing

/// Records whose verdicts a database has stored.
@Suite("Quarantine: stored verdicts")
struct StoredVerdictTests {
    private func line(_ verdict: String, _ original: String) -> String? {
        var bytes: [UInt8] = []
        guard QuarantineLine.append(storedVerdict: verdict, Array(original.utf8), to: &bytes) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("the members are in the order of a line, whatever order they were stored in, and absent ones stay absent")
    func order() {
        let errors = [
            #"{"path": "$.a", "code": "wrong-type", "found": "]},\"event\":", "expected": "é"}"#,
            #"{"code": "parked"}"#,
        ]
        let stored = #"{"name": "Sold", "errors": [\#(errors.joined(separator: ", "))], "at": "2026-01-01T00:00:00Z", "#
        let ordered = [
            #"{"quarantine":{"at":"2026-01-01T00:00:00Z","source":"tracker:postgres","stage":"delivery","#,
            #""name":"Sold","errors":["#,
            #"{"code":"wrong-type","path":"$.a","expected":"é","found":"]},\"event\":"},{"code":"parked"}]},"event":{"a":1}}"#,
        ]
        #expect(
            line(stored + #""stage": "delivery", "source": "tracker:postgres"}"#, #"{"a":1}"#)
                == ordered.joined() + "\n"
        )
    }

    @Test(
        "an event that may not be JSON is a text",
        arguments: [
            (#"{"code":"malformed-json"}"#, true), (#"{"code":"too-deep"}"#, true), (#"{"code":"too-large"}"#, true),
            (#"{"code":"out-of-range","path":"$"}"#, false), (#"{"code":"out-of-range","path":"$.a"}"#, false),
            (#"{"code":"refused"}"#, false),
        ]
    )
    func text(error: String, isText: Bool) {
        let verdict = #"{"errors":[\#(error)],"at":"a","source":"b","stage":"c"}"#
        let end = isText ? #"]},"eventText":"1"}"# : #"]},"event":1}"#
        #expect(line(verdict, "1")?.hasSuffix(end + "\n") == true)
    }

    @Test("what is no verdict is not written", arguments: ["{}", "", "[1]", #"{"at":"a","source":"b","stage":"c"}"#])
    func invalid(verdict: String) {
        #expect(line(verdict, "{}") == nil)
    }
}
