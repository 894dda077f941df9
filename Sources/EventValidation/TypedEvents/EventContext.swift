public import EventModel

/// Who does something, and around what: what events have in common that come from one request or one session.
///
/// Inside `with`, every event that is tracked gets it, so that it is stated once, where a request is received. What a call
/// of `track` states itself wins.
///
///     try await EventContext.with(EventContext(userID: user.id, requestID: request.id)) {
///         try await pipeline.track(event)
///     }
public struct EventContext: Sendable, Hashable {
    /// The person, as your own systems know them.
    public var userID: String?
    /// The person before they are known, a cookie's value for instance.
    public var anonymousID: String?
    /// The visit.
    public var sessionID: String?
    /// What else is worth knowing, by key: the envelope's `context`.
    public var attributes: [String: JSONValue]

    /// States what is known.
    ///
    /// A request's id is the attribute `requestId`.
    public init(
        userID: String? = nil,
        anonymousID: String? = nil,
        sessionID: String? = nil,
        requestID: String? = nil,
        attributes: [String: JSONValue] = [:]
    ) {
        self.userID = userID
        self.anonymousID = anonymousID
        self.sessionID = sessionID
        self.attributes = attributes
        if let requestID { self.attributes["requestId"] = .string(requestID) }
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
        merged.userID = other.userID ?? userID
        merged.anonymousID = other.anonymousID ?? anonymousID
        merged.sessionID = other.sessionID ?? sessionID
        merged.attributes.merge(other.attributes) { _, new in new }
        return merged
    }
}
