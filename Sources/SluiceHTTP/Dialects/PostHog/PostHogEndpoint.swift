import EventModel
import EventValidation

/// PostHog's capture API, under each of the paths that its SDKs use.
struct PostHogEndpoint: Dialect {
    /// The time of sending by the client's clock, which posthog-js sends in the query string.
    private let sentAt: Timestamp?

    /// The endpoint of a path; `nil` if there is none.
    init?(path: some Collection<UInt8>, query: some Collection<UInt8>) {
        switch String(decoding: path.prefix(16), as: UTF8.self) {
        case "/batch", "/batch/", "/capture", "/capture/", "/e", "/e/", "/i/v0/e", "/i/v0/e/": break
        default: return nil
        }
        sentAt = query.split(separator: UInt8(ascii: "&")).lazy
            .first { $0.starts(with: "_=".utf8) }
            .flatMap { Int64(String(decoding: $0.dropFirst(2).prefix(20), as: UTF8.self)) }
            .flatMap { milliseconds in
                let (microseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
                return overflow ? nil : Timestamp(microseconds: microseconds)
            }
    }

    func translation(arrival: Timestamp) -> any BodyTranslation {
        FormOrJSONBody(MessageBody(PostHogMessages(arrival: arrival, sentAt: sentAt)))
    }

    /// posthog-js compresses without a `Content-Encoding`, to avoid a CORS preflight request.
    var recognizesGzip: Bool { true }

    var acceptsForms: Bool { true }

    var mayHaveKeyInBody: Bool { true }

    /// 200, because the clients discard a batch that is answered with 400.
    var allRejectedStatus: StaticString { "200 OK" }

    func answer(to body: CheckedBody) -> [UInt8] {
        Array(#"{"status":1,"#.utf8) + VerdictEncoder.verdicts(of: body).dropFirst()
    }

    func answer(to failure: Failure) -> [UInt8] {
        var bytes = Array(#"{"status":0,"#.utf8) + AnswerEncoder.members(of: failure)
        // The Python SDK shows `detail`.
        bytes += Array(#","detail":"#.utf8)
        JSONString.append(failure.message, to: &bytes)
        return bytes + Array("}".utf8)
    }
}
