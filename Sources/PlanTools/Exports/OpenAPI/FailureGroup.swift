import EventSchema
import PortDefinitions

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
    private static let ofConnection: Set<FailureCode> = [
        .badRequest, .incompleteRequest, .timeout, .unknownExpectation, .unknownTransferCoding,
        .headerTooLarge, .tooManyConnections, .tooManyConnectionsFromAddress,
    ]

    /// The further failures of the group.
    private var others: Set<FailureCode> {
        switch self {
        case .events, .segment, .posthog:
            [
                .malformedJSON, .invalidGzip, .invalidStrict, .unauthorized, .forbiddenOrigin, .tooLarge,
                .unsupportedMediaType, .unsupportedEncoding, .rateLimited, .dailyVolumeExceeded,
                .tooManyConnectionsForKey, .queueFull, .notStored, .journalShareUsed,
                .destinationUnavailable, .overloaded, .noMemory, .shuttingDown, .outcomeUnknown,
            ]
        case .settings: [.missingHost, .unauthorized, .forbiddenOrigin]
        case .plan: [.unauthorized, .forbiddenOrigin, .notFound, .planTooLarge, .overloaded]
        case .live: []
        case .ready: [.notReady]
        case .preflight, .segmentPreflight, .posthogPreflight: [.forbiddenOrigin, .methodNotAllowed]
        }
    }

    /// The group's failures, by their statuses.
    func failures(isOpen: Bool) -> [(status: Int, failures: [FailureCode])] {
        let codes = Self.ofConnection.union(others).subtracting(isOpen ? [.unauthorized] : [])
        let failures = FailureCode.allCases.filter(codes.contains)
        let statuses = Set(failures.map(status)).sorted()
        return statuses.map { status in (status, failures.filter { self.status(of: $0) == status }) }
    }

    private func status(of failure: FailureCode) -> Int {
        (self == .posthog ? failure.statusForPostHog : failure.status).rawValue
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
