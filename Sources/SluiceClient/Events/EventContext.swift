public import EventModel

/// Who did what an event reports, and further attributes.
public struct EventContext: Sendable, Hashable {
    /// The user's id in your own systems.
    public var userID: String?
    /// The id of the device, or of a user who is not logged in.
    public var anonymousID: String?
    /// The id of the session.
    public var sessionID: String?
    /// Further attributes by key: the envelope's `context`.
    public var attributes: [String: JSONValue]

    /// Creates a context.
    public init(
        userID: String? = nil,
        anonymousID: String? = nil,
        sessionID: String? = nil,
        attributes: [String: JSONValue] = [:]
    ) {
        self.userID = userID
        self.anonymousID = anonymousID
        self.sessionID = sessionID
        self.attributes = attributes
    }
}
