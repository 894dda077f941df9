/// How a sensitive value is protected.
public enum Sensitivity: Sendable, Hashable {
    /// The value is checked and then removed: neither the journal nor the quarantine nor any tracker gets it.
    case drop
    /// The value, a string, is replaced by a keyed hash (HMAC-SHA-256) before the journal, the quarantine and the trackers get it.
    case hash
    /// Only the trackers of these names, in lower case, get the value; the journal and the quarantine hold it.
    case trackers([String])

    /// Whether the value never reaches the tracker of this name, which is compared without regard to case.
    public func hides(from tracker: String) -> Bool {
        switch self {
        case .drop: true
        case .hash: false
        case .trackers(let names): !names.contains(tracker.lowercased())
        }
    }

    /// Whether some trackers get the value and others do not.
    package var isForSomeTrackers: Bool { if case .trackers = self { true } else { false } }
}

extension Sensitivity {
    /// What happens to the value, for people; words without a capital or a full stop.
    package var explanation: String {
        switch self {
        case .drop: "removed when the event is accepted"
        case .hash: "stored and sent as a hash"
        case .trackers(let names): "only for " + names.joined(separator: ", ")
        }
    }
}

extension Sensitivity: Codable {
    private enum CodingKeys: String, CodingKey {
        case trackers
    }

    /// Reads the form of the plist: `drop`, `hash`, or a dictionary with `trackers`.
    public init(from decoder: any Decoder) throws {
        if let values = try? decoder.container(keyedBy: CodingKeys.self) {
            self = .trackers(try values.decode([String].self, forKey: .trackers))
            return
        }
        let container = try decoder.singleValueContainer()
        switch try container.decode(String.self) {
        case "drop": self = .drop
        case "hash": self = .hash
        default: throw DecodingError.dataCorruptedError(in: container, debugDescription: "neither 'drop' nor 'hash'")
        }
    }

    /// Writes the form of the plist.
    public func encode(to encoder: any Encoder) throws {
        if case .trackers(let names) = self {
            var values = encoder.container(keyedBy: CodingKeys.self)
            return try values.encode(names, forKey: .trackers)
        }
        var container = encoder.singleValueContainer()
        try container.encode(self == .drop ? "drop" : "hash")
    }
}

/// A key of the envelope's `context` that the plan protects; other keys may have any value and go to all trackers.
public struct ContextAttribute: Sendable, Hashable {
    /// The key.
    public var name: String
    /// How its value is protected.
    public var sensitivity: Sensitivity
    /// What the value means.
    public var description: String?
    /// The place in the plan file.
    public var location: PlanLocation

    /// Makes an attribute without checking it; `PlanReader` checks what it reads.
    public init(name: String, sensitivity: Sensitivity, description: String? = nil, location: PlanLocation) {
        self.name = name
        self.sensitivity = sensitivity
        self.description = description
        self.location = location
    }
}

extension ContextAttribute: Codable {
    private enum CodingKeys: String, CodingKey {
        case name, description, file, location
        case sensitivity = "sensitive"
    }

    /// Reads an attribute that was checked before it was encoded.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try values.decode(String.self, forKey: .name),
            sensitivity: try values.decode(Sensitivity.self, forKey: .sensitivity),
            description: try values.decodeIfPresent(String.self, forKey: .description),
            location: try values.decodeIfPresent(PlanLocation.self, forKey: .location)
                ?? PlanLocation(file: try values.decode(String.self, forKey: .file))
        )
    }

    /// Encodes only values that differ from their defaults.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        try values.encode(sensitivity, forKey: .sensitivity)
        try values.encodeIfPresent(description, forKey: .description)
        if location.line > 0 {
            try values.encode(location, forKey: .location)
        } else {
            try values.encode(location.file, forKey: .file)
        }
    }
}

// MARK: - What a tracker may see

extension TrackingPlan {
    /// The plan for one tracker: everything that is hidden from it is dropped.
    package func visible(to tracker: String) -> TrackingPlan {
        var plan = self
        plan.events = events.map { event in
            var event = event
            event.properties = event.properties.map { $0.visible(to: tracker) }
            return event
        }
        plan.context = context.map { attribute in
            var attribute = attribute
            if attribute.sensitivity.hides(from: tracker) { attribute.sensitivity = .drop }
            return attribute
        }
        return plan
    }
}

extension TrackingPlan {
    /// What only some trackers may see: context keys and properties, in the plan's order.
    package var restrictedValues: [String] {
        let keys = context.filter { $0.sensitivity.isForSomeTrackers }.map { "context.\($0.name)" }
        return keys
            + events.flatMap { event in
                event.properties.flatMap(\.restrictedPaths).map { "\($0) of '\(event.name)'" }
            }
    }
}

extension PropertyDefinition {
    /// The path of this property, or of those within it, that only some trackers may see.
    fileprivate var restrictedPaths: [String] {
        if let sensitivity, sensitivity.isForSomeTrackers { return [name] }
        // The items of an array have no name of their own.
        let within = (items?.restrictedPaths ?? []) + (properties ?? []).flatMap(\.restrictedPaths)
        return within.map { $0.isEmpty ? name : name.isEmpty ? $0 : "\(name).\($0)" }
    }

    /// Whether the value is removed when the event is accepted.
    package var isDropped: Bool { sensitivity == .drop }

    /// Whether an event without the property is rejected; one that was read from the journal does not have dropped properties.
    package var mustBePresent: Bool { isRequired && !isDropped }

    fileprivate func visible(to tracker: String) -> PropertyDefinition {
        var property = self
        if let sensitivity, sensitivity.hides(from: tracker) { property.sensitivity = .drop }
        property.items = items?.visible(to: tracker)
        property.properties = properties?.map { $0.visible(to: tracker) }
        return property
    }
}
