import EventModel
import SluiceWebhook
import Testing
import TrackerKit

@Suite("What an answer to a webhook says")
struct AnswerVerdictTests {
    private static let now = Timestamp(microseconds: 784_111_777_000_000)  // Sun, 06 Nov 1994 08:49:37 GMT

    private enum Kind: Equatable { case delivered, refused, tooLarge, retry(TrackerError.Code, isRetryable: Bool) }

    private func kind(_ status: Int) -> Kind {
        switch AnswerVerdict(webhook: ReceiverAnswer(status: status), now: Self.now) {
        case .delivered, .partly: .delivered
        case .refused: .refused
        case .tooLarge: .tooLarge
        case .retry(let error, _): .retry(error.code, isRetryable: error.isRetryable)
        }
    }

    @Test("each status has the meaning of the table")
    func statuses() {
        for status in 200...599 {
            let expected: Kind =
                switch status {
                case 200...299: .delivered
                case 413: .tooLarge
                case 400, 409, 422: .refused
                case 408, 425, 429, 502, 503, 504: .retry(.unavailable, isRetryable: true)
                case 500...599: .retry(.failed, isRetryable: true)
                default: .retry(.misconfigured, isRetryable: false)
                }
            #expect(kind(status) == expected, "\(status)")
        }
    }

    @Test("a refusal has the status and the first 512 bytes of the answer, without control characters")
    func reason() {
        let body = Array("no\u{1B}[2J".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 1000)
        guard case .refused(let reason) = AnswerVerdict(webhook: .init(status: 422, body: body), now: Self.now) else {
            Issue.record("not refused")
            return
        }
        #expect(reason == #"status 422: no\u001b[2J"# + String(repeating: "x", count: 506))
    }

    @Test(
        "Retry-After is a number of seconds or a date, and at most five minutes",
        arguments: [
            ("0", 0), ("7", 7), ("300", 300), ("301", 300), ("99999999999999999999", 300),
            ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
            ("Sun, 06 Nov 1994 07:49:37 GMT", 0), ("Tue, 06 Dec 1994 08:49:37 GMT", 300),
        ]
    )
    func retryAfter(text: String, seconds: Int) {
        #expect(RetryAfter.pause(text, now: Self.now) == .seconds(seconds))
    }

    @Test(
        "another Retry-After is ignored",
        arguments: ["", "-1", "1.5", "soon", "Sun, 06 Nov 1994 08:49:47 CET", "Sun, 06 Foo 1994 08:49:47 GMT"]
    )
    func malformedRetryAfter(text: String) {
        #expect(RetryAfter.pause(text, now: Self.now) == nil)
    }
}

@Suite("What the answer of another Sluice says")
struct SluiceAnswerTests {
    private func verdict(_ status: Int, _ body: String, to count: Int = 3) -> AnswerVerdict {
        SluiceAnswer.verdict(ReceiverAnswer(status: status, body: Array(body.utf8)), to: count, now: .now())
    }

    @Test("all events were accepted")
    func accepted() {
        guard case .delivered = verdict(200, #"{"accepted":3,"rejected":[]}"#) else {
            Issue.record("not delivered")
            return
        }
    }

    @Test("rejected events are refused with their verdicts, also those whose verdicts did not fit into the answer")
    func rejected() throws {
        let body =
            #"{"accepted":1,"rejected":[{"index":0,"id":null,"errors":[{"code":"wrong-type","path":"$.payload.a"},"#
            + #"{"code":"too-deep"}]}],"rejectedCount":3,"rejectedIndexes":[[0,0],[2,3]],"rejectedCodes":{}}"#
        guard case .partly(let refusals) = verdict(200, body, to: 4) else {
            Issue.record("not partly")
            return
        }
        #expect(
            refusals == [
                .init(position: 0, reason: "wrong-type at $.payload.a; too-deep"),
                .init(position: 2, reason: "rejected by the receiver"),
                .init(position: 3, reason: "rejected by the receiver"),
            ]
        )
    }

    @Test(
        "an answer that does not say which events were accepted is none",
        arguments: [
            "", "{}", "OK", #"{"accepted":2,"rejected":[]}"#, #"{"accepted":3}"#,
            #"{"accepted":2,"rejected":[],"rejectedIndexes":[[3,3]]}"#,
            #"{"accepted":1,"rejected":[],"rejectedIndexes":[[1,1],[1,1]]}"#,
            #"{"accepted":2,"rejected":[],"rejectedIndexes":[[-1,-1]]}"#,
            #"{"accepted":0,"rejected":[],"rejectedIndexes":[[2,0]]}"#,
            #"{"accepted":2,"rejected":[],"rejectedIndexes":[[0,9223372036854775807]]}"#,
        ]
    )
    func other(body: String) {
        guard case .retry(let error, _) = verdict(200, body) else {
            Issue.record("\(body) is an answer")
            return
        }
        #expect(error.code == .misconfigured)
    }
}
