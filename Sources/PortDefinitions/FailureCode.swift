/// A way in which a request to the public port fails as a whole.
///
/// The codes are stable. They are in the order of their statuses. The server and the OpenAPI document use this table, and a test compares
/// Documentation/Send/HTTP.md with it.
package enum FailureCode: String, CaseIterable, Sendable {
    case badRequest = "bad-request"
    case incompleteRequest = "incomplete-request"
    case malformedJSON = "malformed-json"
    case invalidGzip = "invalid-gzip"
    case invalidStrict = "invalid-strict"
    case missingHost = "missing-host"
    case unauthorized
    case forbiddenOrigin = "forbidden-origin"
    case notFound = "not-found"
    case methodNotAllowed = "method-not-allowed"
    case timeout
    case tooLarge = "too-large"
    case unsupportedMediaType = "unsupported-media-type"
    case unsupportedEncoding = "unsupported-encoding"
    case unknownExpectation = "unknown-expectation"
    case rejectedEvents = "rejected-events"
    case rateLimited = "rate-limited"
    case dailyVolumeExceeded = "daily-volume-exceeded"
    case headerTooLarge = "header-too-large"
    case planTooLarge = "plan-too-large"
    case unknownTransferCoding = "unknown-transfer-coding"
    case queueFull = "queue-full"
    case notStored = "not-stored"
    case journalShareUsed = "journal-share-used"
    case destinationUnavailable = "destination-unavailable"
    case overloaded
    case noMemory = "no-memory"
    case tooManyConnections = "too-many-connections"
    case tooManyConnectionsFromAddress = "too-many-connections-from-address"
    case tooManyConnectionsForKey = "too-many-connections-for-key"
    case shuttingDown = "shutting-down"
    case notReady = "not-ready"
    case outcomeUnknown = "outcome-unknown"

    /// The status, and what the code means.
    private var entry: (status: FailureStatus, meaning: String) {
        switch self {
        case .badRequest:
            (.badRequest, "The bytes are not valid HTTP, or ambiguous.")
        case .incompleteRequest:
            (.badRequest, "The request ended too early.")
        case .malformedJSON:
            (.badRequest, "The body is not JSON at all.")
        case .invalidGzip:
            (.badRequest, "The body is not valid gzip.")
        case .invalidStrict:
            (.badRequest, "`Sluice-Strict` is neither true nor false.")
        case .missingHost:
            (.badRequest, "The settings of clients name the server, and the request has no `Host`.")
        case .unauthorized:
            (.unauthorized, "The key is missing, unknown or expired.")
        case .forbiddenOrigin:
            (.forbidden, "Web pages of this origin may not send with this key.")
        case .notFound:
            (.notFound, "There is nothing at this path.")
        case .methodNotAllowed:
            (.methodNotAllowed, "The path has other methods.")
        case .timeout:
            (.requestTimeout, "The request did not arrive in time.")
        case .tooLarge:
            (.contentTooLarge, "The body, its events or the number of rejected ones exceeds a limit.")
        case .unsupportedMediaType:
            (.unsupportedMediaType, "The type of the body is not supported.")
        case .unsupportedEncoding:
            (.unsupportedMediaType, "The encoding of the body is not gzip.")
        case .unknownExpectation:
            (.expectationFailed, "`Expect` is not `100-continue`.")
        case .rejectedEvents:
            (
                .unprocessableContent,
                "`Sluice-Strict` is true, and events in the format of another client were rejected; nothing was accepted."
            )
        case .rateLimited:
            (.tooManyRequests, "The key sends more events per second than it may; nothing was accepted.")
        case .dailyVolumeExceeded:
            (.tooManyRequests, "The key has sent its events of this day; nothing was accepted.")
        case .headerTooLarge:
            (.headerFieldsTooLarge, "The header has too many bytes or fields.")
        case .planTooLarge:
            (.internalServerError, "The schema of `/v1/plan` exceeds the limit of the server.")
        case .unknownTransferCoding:
            (.notImplemented, "`Transfer-Encoding` is not `chunked`.")
        case .queueFull:
            (.serviceUnavailable, "A tracker's queue is full; nothing was accepted.")
        case .notStored:
            (.serviceUnavailable, "The journal does not accept events; nothing was accepted.")
        case .journalShareUsed:
            (
                .serviceUnavailable,
                "The journal is over 80 % full, and the key has used its part of the rest; nothing was accepted."
            )
        case .destinationUnavailable:
            (
                .serviceUnavailable,
                "With `relay.acknowledge: brokers`, the brokers accept no events; nothing was accepted."
            )
        case .overloaded:
            (.serviceUnavailable, "There is no capacity for this request now; nothing was accepted.")
        case .noMemory:
            (.serviceUnavailable, "There was no memory to check the events; nothing was accepted.")
        case .tooManyConnections:
            (.serviceUnavailable, "There are too many connections; nothing was accepted.")
        case .tooManyConnectionsFromAddress:
            (.serviceUnavailable, "One address has too many connections; nothing was accepted.")
        case .tooManyConnectionsForKey:
            (.serviceUnavailable, "One write key has too many connections; nothing was accepted.")
        case .shuttingDown:
            (.serviceUnavailable, "The server is stopped or drained; nothing was accepted.")
        case .notReady:
            (.serviceUnavailable, "The server does not accept events at this time (`/readyz`).")
        case .outcomeUnknown:
            (.gatewayTimeout, "The disk did not answer in time, so events may have been accepted.")
        }
    }

    /// The status of the answer.
    package var status: FailureStatus { entry.status }

    /// The status of the answer to PostHog's clients, which discard a batch after 429.
    package var statusForPostHog: FailureStatus { status == .tooManyRequests ? .serviceUnavailable : status }

    /// What the code means, as one sentence of Markdown.
    package var meaning: String { entry.meaning }

    /// A table of Markdown with every code.
    package static var table: String {
        let rows = allCases.map { "| \($0.status.rawValue) | `\($0.rawValue)` | \($0.meaning) |" }
        return (["| status | code | meaning |", "|---|---|---|"] + rows).joined(separator: "\n")
    }
}

/// The status of a failed request (RFC 9110, RFC 6585).
package enum FailureStatus: Int, Sendable {
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case requestTimeout = 408
    case contentTooLarge = 413
    case unsupportedMediaType = 415
    case expectationFailed = 417
    case unprocessableContent = 422
    case tooManyRequests = 429
    case headerFieldsTooLarge = 431
    case internalServerError = 500
    case notImplemented = 501
    case serviceUnavailable = 503
    case gatewayTimeout = 504

    /// The status code and the reason phrase.
    package var line: StaticString {
        switch self {
        case .badRequest: "400 Bad Request"
        case .unauthorized: "401 Unauthorized"
        case .forbidden: "403 Forbidden"
        case .notFound: "404 Not Found"
        case .methodNotAllowed: "405 Method Not Allowed"
        case .requestTimeout: "408 Request Timeout"
        case .contentTooLarge: "413 Content Too Large"
        case .unsupportedMediaType: "415 Unsupported Media Type"
        case .expectationFailed: "417 Expectation Failed"
        case .unprocessableContent: "422 Unprocessable Content"
        case .tooManyRequests: "429 Too Many Requests"
        case .headerFieldsTooLarge: "431 Request Header Fields Too Large"
        case .internalServerError: "500 Internal Server Error"
        case .notImplemented: "501 Not Implemented"
        case .serviceUnavailable: "503 Service Unavailable"
        case .gatewayTimeout: "504 Gateway Timeout"
        }
    }
}
