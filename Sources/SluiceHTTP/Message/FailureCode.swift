/// What a failed request is answered with, in the member `code`; the codes are stable.
///
/// They are in the order of their statuses.
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
}
