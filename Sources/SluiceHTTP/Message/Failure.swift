import EventPipeline

/// An answer that says why a request got nothing done.
///
/// Every one is `{"error":{"code":…,"message":…}}`. The codes are stable; no message holds anything a sender sent, or that
/// only the operator should know.
struct Failure: Sendable {
    /// The status line's code and phrase.
    let status: StaticString
    /// The stable code.
    let code: String
    /// One sentence for the person who reads it.
    let message: String
    /// More codes that say why, as a member `reasons`; there is none where this is empty.
    var reasons: [String] = []
    /// Header fields of its own, each ending in CRLF.
    var fields = ""
    /// Whether the rest of the connection's input means nothing any more.
    var endsConnection = false
}

extension Failure {
    static let badRequest = Failure(
        status: "400 Bad Request",
        code: "bad-request",
        message: "This is not a valid HTTP request.",
        endsConnection: true
    )
    static let incompleteRequest = Failure(
        status: "400 Bad Request",
        code: "incomplete-request",
        message: "The request ended too early.",
        endsConnection: true
    )
    static let invalidGzip = Failure(
        status: "400 Bad Request",
        code: "invalid-gzip",
        message: "The body is not whole and undamaged gzip, as Content-Encoding says."
    )
    static let notFound = Failure(
        status: "404 Not Found",
        code: "not-found",
        message: "There are /v1/events, /livez and /readyz."
    )
    static let timeout = Failure(
        status: "408 Request Timeout",
        code: "timeout",
        message: "The request did not arrive in time.",
        endsConnection: true
    )
    static let unsupportedMediaType = Failure(
        status: "415 Unsupported Media Type",
        code: "unsupported-media-type",
        message: "Content-Type must be application/json or application/x-ndjson, in UTF-8."
    )
    static let unsupportedEncoding = Failure(
        status: "415 Unsupported Media Type",
        code: "unsupported-encoding",
        message: "Content-Encoding must be gzip or absent.",
        fields: "accept-encoding: gzip\r\n"
    )
    static let unknownExpectation = Failure(
        status: "417 Expectation Failed",
        code: "unknown-expectation",
        message: "The only expectation that can be met is 100-continue.",
        endsConnection: true
    )
    static let headerTooLarge = Failure(
        status: "431 Request Header Fields Too Large",
        code: "header-too-large",
        message: "The request's header has too many fields or bytes.",
        endsConnection: true
    )
    static let unknownTransferCoding = Failure(
        status: "501 Not Implemented",
        code: "unknown-transfer-coding",
        message: "Transfer-Encoding must be chunked or absent.",
        endsConnection: true
    )
    static let shuttingDown = Failure(
        status: "503 Service Unavailable",
        code: "shutting-down",
        message: "The service is shutting down. Nothing was taken.",
        fields: "retry-after: 1\r\n",
        endsConnection: true
    )
    static let overloaded = Failure(
        status: "503 Service Unavailable",
        code: "overloaded",
        message: "Too many large bodies at one time. Nothing was taken.",
        fields: "retry-after: 1\r\n",
        endsConnection: true
    )
    static let noMemory = Failure(
        status: "503 Service Unavailable",
        code: "no-memory",
        message: "There was no memory to check the events. Nothing was taken.",
        fields: "retry-after: 1\r\n"
    )
    static let tooManyConnections = Failure(
        status: "503 Service Unavailable",
        code: "too-many-connections",
        message: "Too many connections at one time. Nothing was taken.",
        fields: "retry-after: 1\r\n",
        endsConnection: true
    )

    static func notReady(_ reasons: [UnreadyReason]) -> Failure {
        Failure(
            status: "503 Service Unavailable",
            code: "not-ready",
            message: "The service does not take events at this time.",
            reasons: reasons.map(\.description),
            fields: "retry-after: 1\r\n"
        )
    }

    /// Without `Retry-After`: whether repeating does harm is for the sender to know.
    static let outcomeUnknown = Failure(
        status: "504 Gateway Timeout",
        code: "outcome-unknown",
        message:
            "The disk did not answer in time, so the events may have been taken or not. Repeat them only with their own ids."
    )

    static func methodNotAllowed(allow: String) -> Failure {
        Failure(
            status: "405 Method Not Allowed",
            code: "method-not-allowed",
            message: "This path allows \(allow).",
            fields: "allow: \(allow)\r\n"
        )
    }

    static func tooLarge(limit: Int) -> Failure {
        Failure(
            status: "413 Content Too Large",
            code: "too-large",
            message: "The body is larger than \(limit) bytes."
        )
    }

    /// The journal is full, or its disk does not write.
    static func notStored(retryAfter: Duration) -> Failure {
        Failure(
            status: "503 Service Unavailable",
            code: "not-stored",
            message: "The journal does not take events at this time. Nothing was taken.",
            fields: "retry-after: \(wholeSeconds(retryAfter))\r\n"
        )
    }

    /// A queue stayed full for so long, which is also when it makes sense to try again.
    static func queueFull(retryAfter: Duration) -> Failure {
        Failure(
            status: "503 Service Unavailable",
            code: "queue-full",
            message: "A tracker's queue is full. Nothing was taken.",
            fields: "retry-after: \(wholeSeconds(retryAfter))\r\n"
        )
    }

    /// At least one, and rounded up: a sender that comes too early comes for nothing.
    private static func wholeSeconds(_ duration: Duration) -> Int64 {
        let parts = duration.components
        return max(1, parts.seconds + (parts.attoseconds > 0 ? 1 : 0))
    }
}
