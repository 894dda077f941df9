/// One event of the tracking plan: its name, where it goes, and the properties of its payload.
public struct EventDefinition: Sendable, Hashable {
    /// The key in the plist's `events`.
    public var key: String
    /// The name on the wire.
    public var name: String
    /// What the event means, for the people who read the plan.
    public var description: String?
    /// What generated Swift calls its type, where `SwiftName` alone would not do.
    public var swiftName: String?
    /// The team that answers for the event.
    public var owner: String?
    /// What to use instead, when the event should no longer be sent.
    public var deprecated: String?
    /// The trackers that receive the event, as written in the plan; compare them without regard to case.
    public var trackers: [String]
    /// Those of them that fill PostgreSQL's tables though their name is not `postgres`, in lower case: the plan's
    /// `postgresTrackers` names them.
    public var postgresTrackers: [String] = []
    /// The properties of the payload, in the plan's order.
    public var properties: [PropertyDefinition]
    /// Whether the payload may hold properties that the plan does not name.
    public var allowsAdditionalProperties: Bool
    /// Where the definition stands.
    public var location: PlanLocation

    /// Makes a definition; the reader does this from a plist, tests do it by hand.
    public init(
        key: String,
        name: String? = nil,
        description: String? = nil,
        swiftName: String? = nil,
        owner: String? = nil,
        deprecated: String? = nil,
        trackers: [String],
        properties: [PropertyDefinition] = [],
        allowsAdditionalProperties: Bool = false,
        location: PlanLocation
    ) {
        self.key = key
        self.name = name ?? key
        self.description = description
        self.swiftName = swiftName
        self.owner = owner
        self.deprecated = deprecated
        self.trackers = trackers
        self.properties = properties
        self.allowsAdditionalProperties = allowsAdditionalProperties
        self.location = location
    }

    /// What generated Swift calls its type.
    public var swiftTypeName: String { swiftName.map(SwiftName.escaped) ?? SwiftName.type(key) }
}
