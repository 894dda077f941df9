import EventValidation
import NIOHTTP1
package import PortDefinitions

/// A response that says why a request failed.
///
/// Its body is `{"error":{"code":…,"message":…}}`. The codes are stable. A message shows nothing that a sender sent, and nothing
/// that only the operator should know.
package struct Failure: Error {
    /// The stable code, which has the status.
    package let code: FailureCode
    /// One sentence for the developer of the client.
    let message: String
    /// Additional header fields.
    var fields: HTTPHeaders = [:]
    /// Whether the rest of the connection's input cannot be interpreted, so that the connection ends.
    var endsConnection = false

    /// The status line's code and phrase.
    var status: StaticString { code.status.line }
}

extension Failure {
    package static let badRequest = Failure(
        code: .badRequest,
        message: "This is not a valid HTTP request.",
        endsConnection: true
    )
    package static let incompleteRequest = Failure(
        code: .incompleteRequest,
        message: "The request ended too early.",
        endsConnection: true
    )
    static let invalidGzip = Failure(
        code: .invalidGzip,
        message: "The body is not valid gzip."
    )
    static let invalidStrict = Failure(
        code: .invalidStrict,
        message: "Sluice-Strict must be true or false."
    )
    static let unauthorized = Failure(
        code: .unauthorized,
        message: "This needs a write key that is known and has not expired.",
        fields: ["www-authenticate": "Bearer"]
    )
    static let missingHost = Failure(
        code: .missingHost,
        message: "The settings name the server, so the request needs a Host."
    )
    static let forbiddenOrigin = Failure(
        code: .forbiddenOrigin,
        message: "Web pages of this origin may not use this server, or not with this key."
    )
    static let notFound = Failure(
        code: .notFound,
        message: "Unknown path; see Documentation/Send/HTTP.md."
    )
    static let timeout = Failure(
        code: .timeout,
        message: "The request did not arrive in time.",
        endsConnection: true
    )
    static let unsupportedMediaType = Failure(
        code: .unsupportedMediaType,
        message:
            "Content-Type must be application/json, application/x-ndjson, text/plain (JSON) or one of CloudEvents, in UTF-8."
    )
    /// A dialect does not accept the `Content-Type`.
    static let unsupportedMediaTypeOfDialect = Failure(
        code: .unsupportedMediaType,
        message: "This endpoint does not accept this Content-Type, or its charset is not UTF-8."
    )
    static let unsupportedEncoding = Failure(
        code: .unsupportedEncoding,
        message: "Content-Encoding must be gzip or absent.",
        fields: ["accept-encoding": "gzip"]
    )
    static let unknownExpectation = Failure(
        code: .unknownExpectation,
        message: "The only supported expectation is 100-continue.",
        endsConnection: true
    )
    static let rejectedEvents = Failure(
        code: .rejectedEvents,
        message: "Sluice-Strict is true, and events were rejected. Nothing was accepted."
    )
    static let headerTooLarge = Failure(
        code: .headerTooLarge,
        message: "The request's header has too many fields or bytes.",
        endsConnection: true
    )
    static let planTooLarge = Failure(
        code: .planTooLarge,
        message: "The JSON Schema of these events is larger than the server's limit, http.maximumPlanBytes."
    )
    static let unknownTransferCoding = Failure(
        code: .unknownTransferCoding,
        message: "Transfer-Encoding must be chunked or absent.",
        endsConnection: true
    )
    static let shuttingDown = Failure(
        code: .shuttingDown,
        message: "The server accepts no more events, because it is stopped or drained. Nothing was accepted.",
        fields: ["retry-after": "1"],
        endsConnection: true
    )
    static let overloaded = Failure(
        code: .overloaded,
        message: "The server has no capacity for this body now. Nothing was accepted.",
        fields: ["retry-after": "1"],
        endsConnection: true
    )
    static let planUnavailable = Failure(
        code: .overloaded,
        message: "The server has no capacity for the JSON Schema now.",
        fields: ["retry-after": "1"]
    )
    static let noMemory = Failure(
        code: .noMemory,
        message: "There was no memory to check the events. Nothing was accepted.",
        fields: ["retry-after": "1"]
    )
    static let tooManyConnections = Failure(
        code: .tooManyConnections,
        message: "Too many connections at the same time. Nothing was accepted.",
        fields: ["retry-after": "1"],
        endsConnection: true
    )
    static let tooManyConnectionsFromAddress = Failure(
        code: .tooManyConnectionsFromAddress,
        message: "Too many connections from one address at the same time. Nothing was accepted.",
        fields: ["retry-after": "1"],
        endsConnection: true
    )
    static let tooManyConnectionsForKey = Failure(
        code: .tooManyConnectionsForKey,
        message: "Too many connections and HTTP/2 streams with one write key at the same time. Nothing was accepted.",
        fields: ["retry-after": "1"],
        endsConnection: true
    )

    /// The trackers need most of the journal, and the key has used its part of the rest.
    static let journalShareUsed = Failure(
        code: .journalShareUsed,
        message: "The journal is over 80 % full, and the key has used its share of the rest. Nothing was accepted.",
        fields: ["retry-after": "5"]
    )

    /// It does not say why, because anyone may ask.
    static let notReady = Failure(
        code: .notReady,
        message: "The service does not accept events at this time.",
        fields: ["retry-after": "1"]
    )

    /// It has no `Retry-After`, because only the sender knows whether a repetition is harmless.
    static let outcomeUnknown = Failure(
        code: .outcomeUnknown,
        message:
            "The disk did not finish the write in time, so it is unknown whether the events were accepted. Send them again only if they have their own ids."
    )

    static func methodNotAllowed(allow: String) -> Failure {
        Failure(
            code: .methodNotAllowed,
            message: "This path allows \(allow).",
            fields: ["allow": allow]
        )
    }

    static func tooLarge(limit: Int) -> Failure {
        Failure(
            code: .tooLarge,
            message: "The body is larger than \(limit) bytes."
        )
    }

    /// A body is refused as a whole, because of its form, or of what its events take together.
    static func malformed(_ body: MalformedBody) -> Failure {
        let violation = body.violation
        return Failure(
            // Whatever the parser found first: a body that is refused as a whole is too large, or no JSON.
            code: violation.code == .tooLarge ? .tooLarge : .malformedJSON,
            message: "The whole body is refused: expected \(violation.expected), found \(violation.found)."
        )
    }

    /// The key has sent too many events.
    ///
    /// `isBrowser` says whether a browser sends; Segment's client for browsers reads the time to wait from another field.
    static func limited(_ refusal: KeyLimiter.Refusal, isBrowser: Bool) -> Failure {
        func fields(_ retryAfter: Duration) -> HTTPHeaders {
            let seconds = wholeSeconds(retryAfter)
            return isBrowser ? ["retry-after": seconds, "x-ratelimit-reset": seconds] : ["retry-after": seconds]
        }
        switch refusal {
        case .rate(let retryAfter):
            return Failure(
                code: .rateLimited,
                message: "The write key sends more events per second than it may. Nothing was accepted.",
                fields: fields(retryAfter)
            )
        case .volume(let retryAfter):
            return Failure(
                code: .dailyVolumeExceeded,
                message:
                    "The write key has reached its daily limit of events, which is reset at midnight UTC. Nothing was accepted.",
                fields: fields(retryAfter)
            )
        }
    }

    /// The journal is full or cannot be written.
    static func notStored(retryAfter: Duration) -> Failure {
        Failure(
            code: .notStored,
            message: "The journal does not accept events at this time. Nothing was accepted.",
            fields: ["retry-after": wholeSeconds(retryAfter)]
        )
    }

    /// A queue stayed full for the given time, which is also when a retry makes sense.
    static func queueFull(retryAfter: Duration) -> Failure {
        Failure(
            code: .queueFull,
            message: "A tracker's queue is full. Nothing was accepted.",
            fields: ["retry-after": wholeSeconds(retryAfter)]
        )
    }

    /// A tracker that has to deliver before a sender gets its answer does not deliver.
    static func unavailable(retryAfter: Duration) -> Failure {
        Failure(
            code: .destinationUnavailable,
            message: "The destination does not accept events at this time. Nothing was accepted.",
            fields: ["retry-after": wholeSeconds(retryAfter)]
        )
    }

    /// Rounded up, and at least 1, because a retry that comes too early fails.
    private static func wholeSeconds(_ duration: Duration) -> String {
        let parts = duration.components
        return String(max(1, parts.seconds + (parts.attoseconds > 0 ? 1 : 0)))
    }
}
