/// All event definitions of a product, as `PlanReader` reads them from plist files.
public struct TrackingPlan: Sendable, Hashable {
    /// The plan's own version, if a file states one.
    public var version: String?
    /// The keys of the envelope's `context` that the plan protects.
    public var context: [ContextAttribute]
    /// The definitions, in the order of their files and of their keys in each file.
    public var events: [EventDefinition]

    /// Makes a plan without checking its definitions; `PlanReader` checks what it reads.
    public init(version: String? = nil, context: [ContextAttribute] = [], events: [EventDefinition]) {
        self.version = version
        self.context = context
        self.events = events
    }
}

extension TrackingPlan: Codable {
    private enum CodingKeys: String, CodingKey {
        case version, context, events
    }

    /// Reads a plan that was checked before it was encoded.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            version: try values.decodeIfPresent(String.self, forKey: .version),
            context: try values.decodeIfPresent([ContextAttribute].self, forKey: .context) ?? [],
            events: try values.decode([EventDefinition].self, forKey: .events)
        )
    }

    /// Encodes only values that differ from their defaults.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(version, forKey: .version)
        if !context.isEmpty { try values.encode(context, forKey: .context) }
        try values.encode(events, forKey: .events)
    }
}
