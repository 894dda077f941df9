import SluiceClient
import Testing

@Suite("What the client sends next")
struct SendStateTests {
    private static let later = BatchOutcome.later(after: nil, reason: "no")

    /// A state with a batch that has one event since time zero.
    private static func opened() -> SendState {
        var state = SendState(linger: .seconds(5))
        state.began(now: .zero)
        return state
    }

    private static func next(_ state: inout SendState, events: Int? = 1, at seconds: Int) -> SendState.Step {
        state.next(events: events, mayGrow: false, now: .seconds(seconds))
    }

    @Test("a batch that may grow waits for more events, and any other does not")
    func linger() {
        var state = Self.opened()
        #expect(state.next(events: nil, mayGrow: false, now: .zero) == .wait(until: nil))
        #expect(state.next(events: 1, mayGrow: true, now: .seconds(1)) == .wait(until: .seconds(5)))
        var full = state
        #expect(full.next(events: 1, mayGrow: false, now: .seconds(1)) == .send(0..<1))
        #expect(state.next(events: 1, mayGrow: true, now: .seconds(5)) == .send(0..<1))
        // While a request is on its way, nothing else is sent.
        #expect(state.next(events: 1, mayGrow: false, now: .seconds(6)) == .wait(until: nil))
    }

    @Test("pauses double up to five minutes, vary by half, and end with a success")
    func backoff() {
        var state = Self.opened()
        var now = 0
        for expected in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            #expect(Self.next(&state, at: now) == .send(0..<1))
            let isRemoved = state.returned(Self.later, of: 0..<1, events: 1, now: .seconds(now), jitter: 1)
            #expect(!isRemoved)
            #expect(Self.next(&state, at: now) == .wait(until: .seconds(now + expected)))
            now += expected
        }
        #expect(Self.next(&state, at: now) == .send(0..<1))
        let settled = state.returned(.settled([]), of: 0..<1, events: 1, now: .seconds(now), jitter: 0)
        #expect(settled)
        #expect(Self.next(&state, at: now) == .send(0..<1))
        _ = state.returned(Self.later, of: 0..<1, events: 1, now: .seconds(now), jitter: 0)
        #expect(Self.next(&state, at: now) == .wait(until: .seconds(now) + .milliseconds(500)))
    }

    @Test("a pause is as long as the server asks for, even beyond the longest of its own")
    func retryAfter() {
        var state = Self.opened()
        #expect(Self.next(&state, at: 0) == .send(0..<1))
        let outcome = BatchOutcome.later(after: .seconds(1000), reason: "no")
        _ = state.returned(outcome, of: 0..<1, events: 1, now: .zero, jitter: 0)
        #expect(Self.next(&state, at: 0) == .wait(until: .seconds(1000)))
    }

    @Test("a wrong key is tried again only after minutes")
    func refused() {
        var state = Self.opened()
        #expect(Self.next(&state, at: 0) == .send(0..<1))
        _ = state.returned(.refused("no"), of: 0..<1, events: 1, now: .zero, jitter: 1)
        #expect(Self.next(&state, at: 0) == .wait(until: .seconds(256)))
    }

    @Test("a batch that is too large is sent in halves, until only events that are too large alone are left out")
    func tooLarge() {
        var state = Self.opened()
        var sent: [Range<Int>] = []
        var isRemoved = false
        while !isRemoved, case .send(let range) = Self.next(&state, events: 5, at: 0) {
            sent.append(range)
            // The server takes two events, but not the fourth.
            let fits = range.count <= 2 && !range.contains(3)
            let outcome = fits ? BatchOutcome.settled([]) : .tooLarge
            isRemoved = state.returned(outcome, of: range, events: 5, now: .zero, jitter: 0)
        }
        #expect(sent == [0..<5, 0..<3, 0..<2, 2..<4, 2..<3, 3..<4, 4..<5])
        #expect(isRemoved)
        #expect(Self.next(&state, events: 5, at: 0) == .send(0..<5))
    }

    @Test(
        "an answer settles events, or keeps them for another attempt",
        arguments: [
            (
                TransportAnswer(status: 200, body: Array(#"{"accepted":1,"rejected":[]}"#.utf8)),
                BatchOutcome.settled([])
            ),
            (TransportAnswer(status: 413), .tooLarge),
            (TransportAnswer(status: 503, retryAfter: "7"), .later(after: .seconds(7), reason: "the status was 503")),
            (TransportAnswer(status: 429, retryAfter: "x"), .later(after: nil, reason: "the status was 429")),
            (TransportAnswer(status: 504), .later(after: nil, reason: "the status was 504")),
            (TransportAnswer(status: 302), .later(after: nil, reason: "the status was 302")),
            (
                TransportAnswer(status: 401, body: Array(#"{"error":{"code":"unauthorized","message":"No."}}"#.utf8)),
                .refused("No. [unauthorized]")
            ),
            (
                TransportAnswer(status: 400, body: Array(#"{"error":{"code":"bad-request","message":"No."}}"#.utf8)),
                .refused("No. [bad-request]")
            ),
            // Something between the client and the server answered.
            (TransportAnswer(status: 400), .later(after: nil, reason: "the status was 400")),
            (TransportAnswer(status: 403), .later(after: nil, reason: "the status was 403")),
            (
                TransportAnswer(status: 503, retryAfter: "999999999"),
                .later(after: .seconds(86_400), reason: "the status was 503")
            ),
            (
                TransportAnswer(status: 200, body: Array(#"{"accepted":0,"rejected":[],"rejectedCount":1}"#.utf8)),
                .settled([RejectedEvent(id: nil, codes: [])])
            ),
            // The answer to another request.
            (
                TransportAnswer(status: 200, body: Array(#"{"accepted":2,"rejected":[]}"#.utf8)),
                .later(after: nil, reason: "the answer was not one of Sluice")
            ),
            (
                TransportAnswer(status: 200, body: Array(#"{"accepted":0,"rejectedCount":-9223372036854775808}"#.utf8)),
                .later(after: nil, reason: "the answer was not one of Sluice")
            ),
            (
                TransportAnswer(status: 200, body: Array("<!doctype html>".utf8)),
                .later(after: nil, reason: "the answer was not one of Sluice")
            ),
            (TransportAnswer(status: 422), .later(after: nil, reason: "the answer was not one of Sluice")),
        ]
    )
    func outcomes(answer: TransportAnswer, outcome: BatchOutcome) {
        #expect(BatchOutcome(answer, events: 1) == outcome)
    }

    @Test("no answer says nothing about the events, so they are sent again")
    func noAnswer() {
        #expect(BatchOutcome(nil, events: 1) == .later(after: nil, reason: "there was no answer"))
    }
}
