/// One event of the tracking plan: its name, where it goes, and the properties of its payload.
public struct EventDefinition: Sendable, Hashable {
    /// The key in the plist's `events`.
    public var key: String
    /// The name on the wire.
    public var name: String
    /// What the event means, for the people who read the plan.
    public var description: String?
    /// The name of the generated type, if the plan states one; otherwise the key decides.
    public var swiftName: String?
    /// The team that is responsible for the event.
    public var owner: String?
    /// Says what to use instead, if the event is deprecated.
    public var deprecated: String?
    /// The trackers that receive the event, as written in the plan; their names are case-insensitive.
    public var trackers: [String]
    /// The trackers of the event, in lower case, that the plan lists in `postgresTrackers`: they write to PostgreSQL under
    /// a name other than `postgres`.
    public var postgresTrackers: [String] = []
    /// The properties of the payload, in the plan's order.
    public var properties: [PropertyDefinition]
    /// Whether the payload may have properties that the plan does not define.
    public var allowsAdditionalProperties: Bool
    /// The place of the definition in its plan file.
    public var location: PlanLocation

    /// Makes a definition without checking it, as a test may need it; `PlanReader` checks what it reads.
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

    /// The name of the generated type.
    package var swiftTypeName: String { swiftName.map(SwiftName.escaped) ?? SwiftName.type(key) }
}

extension EventDefinition {
    /// Whether both events have the same name and the same rules for their payload; descriptions, places and names in Swift
    /// make no difference.
    package func hasSamePayload(as other: EventDefinition) -> Bool {
        name == other.name && allowsAdditionalProperties == other.allowsAdditionalProperties
            && properties.count == other.properties.count
            && zip(properties, other.properties).allSatisfy { $0.rules == $1.rules }
    }
}

extension TrackingPlan {
    /// The parts of the plan that decide whether an event is valid, how it is encoded, and which trackers receive it.
    package var rules: TrackingPlan {
        TrackingPlan(
            context: context.map { attribute in
                ContextAttribute(name: attribute.name, sensitivity: attribute.sensitivity, location: .nowhere)
            },
            events: events.map { event in
                EventDefinition(
                    key: event.name,
                    trackers: event.trackers,
                    properties: event.properties.map(\.rules),
                    allowsAdditionalProperties: event.allowsAdditionalProperties,
                    location: .nowhere
                )
            }
        )
    }
}

extension PlanLocation {
    fileprivate static let nowhere = PlanLocation(file: "")
}

extension PropertyDefinition {
    /// The property without what no check depends on.
    fileprivate var rules: PropertyDefinition {
        var rules = self
        rules.description = nil
        rules.swiftName = nil
        rules.swiftCases = [:]
        rules.deprecated = nil
        rules.examples = []
        rules.location = .nowhere
        rules.items = items?.rules
        rules.properties = properties?.map(\.rules)
        return rules
    }
}
