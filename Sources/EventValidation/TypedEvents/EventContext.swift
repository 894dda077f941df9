public import EventModel

/// The context of events: the user, the session, and further attributes that all events of a request have in common.
///
/// Every event that is tracked inside `with` gets the context, so that it is stated once, where a request is received. What a
/// call of `track` states itself takes precedence. Each of the three ids takes at most 512 bytes.
///
///     try await EventContext.with(EventContext(userID: user.id, requestID: request.id)) {
///         try await pipeline.track(event)
///     }
public struct EventContext: Sendable, Hashable {
    /// The user's id in your own systems.
    public var userID: String?
    /// The id of a user who is not logged in, such as the value of a cookie.
    public var anonymousID: String?
    /// The id of the session.
    public var sessionID: String?
    /// Further attributes by key: the envelope's `context`.
    public var attributes: [String: JSONValue]

    /// Creates a context; `requestID` becomes the attribute `requestId`.
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

    /// The context of the current task; empty outside of `with`.
    @TaskLocal public static var current = EventContext()

    /// Runs `operation` with the current context and `context` together; `context` takes precedence.
    @discardableResult
    public static func with<Result>(
        _ context: EventContext,
        operation: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await $current.withValue(current.merging(context), operation: operation)
    }

    /// Runs `operation` with the current context and `context` together; `context` takes precedence.
    @discardableResult
    public static func with<Result>(_ context: EventContext, operation: () throws -> Result) rethrows -> Result {
        try $current.withValue(current.merging(context), operation: operation)
    }

    /// This context and `other` together; `other` takes precedence.
    public func merging(_ other: EventContext) -> EventContext {
        var merged = self
        merged.userID = other.userID ?? userID
        merged.anonymousID = other.anonymousID ?? anonymousID
        merged.sessionID = other.sessionID ?? sessionID
        merged.attributes.merge(other.attributes) { _, new in new }
        return merged
    }
}
