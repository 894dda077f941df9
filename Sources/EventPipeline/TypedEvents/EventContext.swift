public import EventModel

/// Who does something, and around what: what events have in common that come from one request or one session.
///
/// Inside `with`, every event that is tracked gets it, so that it is stated once, where a request is received. What a call
/// of `track` states itself wins.
///
///     try await EventContext.with(EventContext(userId: user.id, requestId: request.id)) {
///         try await pipeline.track(event)
///     }
public struct EventContext: Sendable, Hashable {
    /// The person, as your own systems know them.
    public var userId: String?
    /// The person before they are known, a cookie's value for instance.
    public var anonymousId: String?
    /// The visit.
    public var sessionId: String?
    /// What else is worth knowing, by key: the envelope's `context`.
    public var attributes: [String: JSONValue]

    /// States what is known.
    ///
    /// A request's id is the attribute `requestId`.
    public init(
        userId: String? = nil,
        anonymousId: String? = nil,
        sessionId: String? = nil,
        requestId: String? = nil,
        attributes: [String: JSONValue] = [:]
    ) {
        self.userId = userId
        self.anonymousId = anonymousId
        self.sessionId = sessionId
        self.attributes = attributes
        if let requestId { self.attributes["requestId"] = .string(requestId) }
    }

    /// That of the current task; states nothing outside of every `with`.
    @TaskLocal public static var current = EventContext()

    /// Runs `operation` with a context that adds to the current one, and wins where both state something.
    @discardableResult
    public static func with<Result>(
        _ context: EventContext,
        operation: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await $current.withValue(current.merging(context), operation: operation)
    }

    /// Runs `operation` with a context that adds to the current one, and wins where both state something.
    @discardableResult
    public static func with<Result>(_ context: EventContext, operation: () throws -> Result) rethrows -> Result {
        try $current.withValue(current.merging(context), operation: operation)
    }

    /// Both, what `other` states winning.
    public func merging(_ other: EventContext) -> EventContext {
        var merged = self
        merged.userId = other.userId ?? userId
        merged.anonymousId = other.anonymousId ?? anonymousId
        merged.sessionId = other.sessionId ?? sessionId
        merged.attributes.merge(other.attributes) { _, new in new }
        return merged
    }
}
