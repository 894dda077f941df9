// Generated code contains the plan as JSON, with the keys of the plist format. Keys may be added; JSON that older versions
// of Sluice generated must stay readable.

extension EventDefinition: Codable {
    private enum CodingKeys: String, CodingKey {
        case key, name, swiftName, description, owner, deprecated, file, location, postgresTrackers
        case trackers = "registeredTrackers"
        case properties = "payload"
        case allowsAdditionalProperties = "additionalProperties"
    }

    /// Reads a definition that was checked before it was encoded.
    ///
    /// Its properties have the same file unless they state another one.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let location =
            try values.decodeIfPresent(PlanLocation.self, forKey: .location)
            ?? PlanLocation(file: try values.decode(String.self, forKey: .file))
        let properties = try values.decodeIfPresent([PropertyDefinition].self, forKey: .properties) ?? []
        self.init(
            key: try values.decode(String.self, forKey: .key),
            name: try values.decodeIfPresent(String.self, forKey: .name),
            description: try values.decodeIfPresent(String.self, forKey: .description),
            swiftName: try values.decodeIfPresent(String.self, forKey: .swiftName),
            owner: try values.decodeIfPresent(String.self, forKey: .owner),
            deprecated: try values.decodeIfPresent(String.self, forKey: .deprecated),
            trackers: try values.decode([String].self, forKey: .trackers),
            properties: properties.map { $0.replacingFile("", with: location.file) },
            allowsAdditionalProperties: try values.decodeIfPresent(Bool.self, forKey: .allowsAdditionalProperties)
                ?? false,
            location: location
        )
        postgresTrackers = try values.decodeIfPresent([String].self, forKey: .postgresTrackers) ?? []
    }

    /// Encodes only values that differ from their defaults.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(key, forKey: .key)
        if name != key { try values.encode(name, forKey: .name) }
        try values.encodeIfPresent(description, forKey: .description)
        try values.encodeIfPresent(swiftName, forKey: .swiftName)
        try values.encodeIfPresent(owner, forKey: .owner)
        try values.encodeIfPresent(deprecated, forKey: .deprecated)
        try values.encode(trackers, forKey: .trackers)
        if !postgresTrackers.isEmpty { try values.encode(postgresTrackers, forKey: .postgresTrackers) }
        if !properties.isEmpty {
            let properties = properties.map { $0.replacingFile(location.file, with: "") }
            try values.encode(properties, forKey: .properties)
        }
        if allowsAdditionalProperties { try values.encode(true, forKey: .allowsAdditionalProperties) }
        if location.line > 0 {
            try values.encode(location, forKey: .location)
        } else {
            try values.encode(location.file, forKey: .file)
        }
    }
}
