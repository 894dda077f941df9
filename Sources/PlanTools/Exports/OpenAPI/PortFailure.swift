import EventSchema

/// A way in which a request fails as a whole: its code, its status, and what it means.
struct PortFailure {
    let code: String
    let status: Int
    let meaning: String

    /// All failures, in the order of their statuses.
    static let all: [PortFailure] = [
        PortFailure("bad-request", 400, "The bytes are not valid HTTP, or ambiguous."),
        PortFailure("incomplete-request", 400, "The request ended too early."),
        PortFailure("malformed-json", 400, "The body is not JSON at all."),
        PortFailure("invalid-gzip", 400, "The body is not valid gzip."),
        PortFailure("invalid-strict", 400, "`Sluice-Strict` is neither true nor false."),
        PortFailure("missing-host", 400, "The settings name the server, and the request has no `Host`."),
        PortFailure("unauthorized", 401, "The key is missing, unknown or expired."),
        PortFailure("forbidden-origin", 403, "Web pages of this origin may not send with this key."),
        PortFailure("not-found", 404, "There is nothing at this path."),
        PortFailure("method-not-allowed", 405, "The path has other methods."),
        PortFailure("timeout", 408, "The request did not arrive in time."),
        PortFailure("too-large", 413, "The body, its events or the number of rejected ones exceeds a limit."),
        PortFailure("unsupported-media-type", 415, "The type of the body is not supported."),
        PortFailure("unsupported-encoding", 415, "The encoding of the body is not gzip."),
        PortFailure("unknown-expectation", 417, "`Expect` is not `100-continue`."),
        PortFailure("rejected-events", 422, "`Sluice-Strict` is true, and events were rejected; nothing was accepted."),
        PortFailure("rate-limited", 429, "The key sends more events per second than it may; nothing was accepted."),
        PortFailure("daily-volume-exceeded", 429, "The key has sent its events of this day; nothing was accepted."),
        PortFailure("header-too-large", 431, "The header has too many bytes or fields."),
        PortFailure("plan-too-large", 500, "The schema exceeds the limit of the server."),
        PortFailure("unknown-transfer-coding", 501, "`Transfer-Encoding` is not `chunked`."),
        PortFailure("queue-full", 503, "A tracker's queue is full; nothing was accepted."),
        PortFailure("not-stored", 503, "The journal does not accept events; nothing was accepted."),
        PortFailure("journal-share-used", 503, "The key has used its part of the journal; nothing was accepted."),
        PortFailure("destination-unavailable", 503, "The destination accepts no events; nothing was accepted."),
        PortFailure("overloaded", 503, "There is no capacity for this request now; nothing was accepted."),
        PortFailure("no-memory", 503, "There was no memory to check the events; nothing was accepted."),
        PortFailure("too-many-connections", 503, "There are too many connections; nothing was accepted."),
        PortFailure("too-many-connections-from-address", 503, "One address has too many; nothing was accepted."),
        PortFailure("too-many-connections-for-key", 503, "One write key has too many; nothing was accepted."),
        PortFailure("shutting-down", 503, "The server is stopped or drained; nothing was accepted."),
        PortFailure("not-ready", 503, "The server does not accept events at this time."),
        PortFailure("outcome-unknown", 504, "The disk did not answer in time, so events may have been accepted."),
    ]

    private init(_ code: String, _ status: Int, _ meaning: String) {
        self.code = code
        self.status = status
        self.meaning = meaning
    }
}

/// The operations that fail in the same ways, and whose failures have the same form.
enum FailureGroup: String, CaseIterable {
    /// `/v1/events` and `/v1/validate`.
    case events
    /// The endpoints of Segment's and RudderStack's clients.
    case segment
    /// The endpoints of PostHog's clients.
    case posthog
    /// The settings of clients.
    case settings
    /// `/v1/plan`.
    case plan
    case live
    case ready
    /// CORS preflight requests.
    case preflight
    case segmentPreflight = "segment-preflight"
    case posthogPreflight = "posthog-preflight"

    /// The failures that each request may have, whatever it asks for.
    private static let ofConnection: Set = [
        "bad-request", "incomplete-request", "timeout", "unknown-expectation", "unknown-transfer-coding",
        "header-too-large", "too-many-connections", "too-many-connections-from-address",
    ]

    /// The further failures of the group.
    private var others: Set<String> {
        switch self {
        case .events, .segment, .posthog:
            [
                "malformed-json", "invalid-gzip", "invalid-strict", "unauthorized", "forbidden-origin", "too-large",
                "unsupported-media-type", "unsupported-encoding", "rate-limited", "daily-volume-exceeded",
                "too-many-connections-for-key", "queue-full", "not-stored", "journal-share-used",
                "destination-unavailable", "overloaded", "no-memory", "shutting-down", "outcome-unknown",
            ]
        case .settings: ["missing-host", "unauthorized", "forbidden-origin"]
        case .plan: ["unauthorized", "forbidden-origin", "not-found", "plan-too-large", "overloaded"]
        case .live: []
        case .ready: ["not-ready"]
        case .preflight, .segmentPreflight, .posthogPreflight: ["forbidden-origin", "method-not-allowed"]
        }
    }

    /// The group's failures, by their statuses.
    func failures(isOpen: Bool) -> [(status: Int, failures: [PortFailure])] {
        let codes = Self.ofConnection.union(others).subtracting(isOpen ? ["unauthorized"] : [])
        let failures = PortFailure.all.filter { codes.contains($0.code) }
        let statuses = Set(failures.map(status)).sorted()
        return statuses.map { status in (status, failures.filter { self.status(of: $0) == status }) }
    }

    /// PostHog's clients discard a batch after 429, so they get 503.
    private func status(of failure: PortFailure) -> Int {
        self == .posthog && failure.status == 429 ? 503 : failure.status
    }

    /// The schemas of the bodies; more than one if the form depends on what of the request was read.
    var forms: [FailureForm] {
        switch self {
        case .events: [.own, .cloudEvents]
        case .segment, .segmentPreflight: [.segment, .own]
        case .posthog, .posthogPreflight: [.posthog, .own]
        case .settings, .plan, .live, .ready, .preflight: [.own]
        }
    }
}

/// The form of the body of a failure.
enum FailureForm {
    case own, cloudEvents, segment, posthog

    /// The schema for some codes.
    func schema(_ codes: [String]) -> OrderedJSON {
        let members = members(codes)
        return self == .own ? .closedObject([("error", .closedObject(members))]) : .closedObject(members)
    }

    /// The members that describe a failure with one of some codes.
    func members(_ codes: [String]) -> OrderedJSON.Members {
        let code: OrderedJSON = ["type": "string", "enum": .strings(codes)]
        let message: OrderedJSON = ["type": "string", "description": "One sentence for the developer of the client."]
        let described: OrderedJSON.Members = [("code", code), ("message", message)]
        switch self {
        case .own, .cloudEvents: return described
        case .segment: return [("success", ["const": false])] + described
        case .posthog: return [("status", ["const": 0])] + described + [("detail", message)]
        }
    }
}
