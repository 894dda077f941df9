import SluiceExec
import Testing
import TrackerKit

@Suite("The answer of a program")
struct LinesAnswerTests {
    private static func answer(_ text: String, of count: Int = 5) throws(TrackerError) -> LinesAnswer {
        try LinesAnswer(Array((text + "\n").utf8), to: 7, of: count)
    }

    @Test(
        "says which events are delivered, refused and to be retried",
        arguments: [
            (#"{"delivery":7}"#, [], []),
            (#" { "delivery" : 7 , "refused" : null , "retry" : null } "#, [], []),
            (
                #"{"delivery":7,"retry":{"from":null,"events":null,"afterSeconds":null,"reason":"later"}}"#, [],
                [0, 1, 2, 3, 4]
            ),
            (#"{"delivery":7,"refused":[]}"#, [], []),
            (#"{"delivery":7,"refused":[{"event":4,"reason":"b"},{"event":0,"reason":"a"}]}"#, [0, 4], []),
            (#"{"delivery":7,"retry":{"reason":"later"}}"#, [], [0, 1, 2, 3, 4]),
            (#"{"delivery":7,"retry":{"from":3,"reason":"later"}}"#, [], [3, 4]),
            (#"{"delivery":7,"retry":{"from":5,"reason":"later"}}"#, [], []),
            (#"{"delivery":7,"retry":{"events":[4,1],"reason":"later"}}"#, [], [1, 4]),
            (#"{"delivery":7,"retry":{"events":[],"reason":"later"}}"#, [], []),
            (
                #"{"delivery":7,"refused":[{"event":4,"reason":"a"}],"retry":{"from":2,"reason":"later"}}"#, [4],
                [2, 3]
            ),
        ]
    )
    func outcomes(text: String, refused: [Int], retried: [Int]) throws {
        let outcome = try Self.answer(text).outcome
        #expect(outcome.refusals.map(\.position) == refused)
        #expect((outcome.retry?.positions ?? []) == retried)
        #expect((outcome.retry == nil) == retried.isEmpty)
    }

    @Test("gives the reason for a retry, without what a terminal would act on")
    func reasons() throws {
        let reason = try Self.answer(#"{"delivery":7,"retry":{"reason":"later\u001b[1m"}}"#).outcome.retry?.reason
        #expect(reason?.code == .failed)
        #expect(reason?.message == #"The program asks for a retry: later\u001b[1m"#)
    }

    @Test(
        "asks for a pause of up to five minutes",
        arguments: [
            ("", Duration.zero), (#","afterSeconds":5"#, .seconds(5)), (#","afterSeconds":0.25"#, .milliseconds(250)),
            (#","afterSeconds":1e300"#, .seconds(300)), (#","afterSeconds":9223372036854775807"#, .seconds(300)),
        ]
    )
    func pauses(member: String, pause: Duration) throws {
        #expect(try Self.answer(#"{"delivery":7,"retry":{"reason":"later"\#(member)}}"#).pause == pause)
    }

    @Test(
        "cannot be used if it is not about this delivery and its events",
        arguments: [
            ("", "it is not JSON"), ("delivered", "it is not JSON"), ("{\"delivery\":7", "it is not JSON"),
            ("{\"delivery\":7} {}", "it is not JSON"), ("7", "it is not an object of JSON"),
            ("[7]", "it is not an object of JSON"), ("\u{FF}", "it is not JSON"),
            ("{}", "it does not name the delivery that it answers"),
            (#"{"delivery":6}"#, "it does not name the delivery that it answers"),
            (#"{"delivery":"7"}"#, "it does not name the delivery that it answers"),
            (#"{"delivery":7,"refuse":[]}"#, "it has an unknown member"),
            (#"{"delivery":7,"retry":{"reason":"a","form":3}}"#, "it has an unknown member"),
            (#"{"delivery":7,"retry":{"reason":"a","events":3}}"#, "its 'events' is not a list"),
            (#"{"delivery":7,"refused":{}}"#, "its 'refused' is not a list"),
            (#"{"delivery":7,"refused":[3]}"#, "its 'refused' has an element without an 'event' and a 'reason'"),
            (
                #"{"delivery":7,"refused":[{"event":3}]}"#,
                "its 'refused' has an element without an 'event' and a 'reason'"
            ),
            (
                #"{"delivery":7,"refused":[{"event":5,"reason":"a"}]}"#,
                "it names an event that the delivery does not have"
            ),
            (
                #"{"delivery":7,"refused":[{"event":-1,"reason":"a"}]}"#,
                "it names an event that the delivery does not have"
            ),
            (
                #"{"delivery":7,"refused":[{"event":1,"reason":"a"},{"event":1,"reason":"b"}]}"#,
                "it names an event twice"
            ),
            (#"{"delivery":7,"retry":true}"#, "its 'retry' is not an object with a 'reason'"),
            (#"{"delivery":7,"retry":{"from":1}}"#, "its 'retry' is not an object with a 'reason'"),
            (
                #"{"delivery":7,"retry":{"from":6,"reason":"a"}}"#, "it names an event that the delivery does not have"
            ),
            (
                #"{"delivery":7,"retry":{"events":[5],"reason":"a"}}"#,
                "it names an event that the delivery does not have"
            ),
            (#"{"delivery":7,"retry":{"events":[1,1],"reason":"a"}}"#, "it names an event twice"),
            (
                #"{"delivery":7,"retry":{"from":1,"events":[1],"reason":"a"}}"#,
                "its 'retry' has both 'from' and 'events'"
            ),
            (
                #"{"delivery":7,"refused":[{"event":1,"reason":"a"}],"retry":{"events":[1],"reason":"a"}}"#,
                "it names an event twice"
            ),
            (
                #"{"delivery":7,"retry":{"reason":"a","afterSeconds":-1}}"#,
                "its 'afterSeconds' is not a number of seconds"
            ),
            (
                #"{"delivery":7,"retry":{"reason":"a","afterSeconds":"5"}}"#,
                "its 'afterSeconds' is not a number of seconds"
            ),
        ]
    )
    func unusable(text: String, reason: String) {
        let error = #expect(throws: TrackerError.self) { _ = try Self.answer(text) }
        #expect(error?.message == "The program's answer cannot be used, so Sluice terminated it: \(reason).")
        #expect(error?.isRetryable == true)
    }

    @Test("keeps the first 512 bytes of a reason")
    func longReasons() throws {
        let reason = String(repeating: "x", count: 600)
        let outcome = try Self.answer(#"{"delivery":7,"refused":[{"event":1,"reason":"\#(reason)"}]}"#).outcome
        #expect(outcome.refusals.first?.reason == String(reason.prefix(512)))
    }
}
