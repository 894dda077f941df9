// A plan as JSON: what generated code holds. The keys are those of the plist format, so that whoever reads the one can
// read the other. Keys may be added; what older versions of Sluice wrote stays readable.

extension SourceLocation: Codable {
    /// Reads `path:line:column`.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        let text = try value.decode(String.self)
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count >= 3, let line = Int(parts[parts.count - 2]), let column = Int(parts[parts.count - 1]) else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "no place: \(text)")
        }
        self.init(file: parts.dropLast(2).joined(separator: ":"), line: line, column: column)
    }

    /// Writes `path:line:column`.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(description)
    }
}

extension EventDefinition: Codable {
    private enum CodingKeys: String, CodingKey {
        case key, name, swiftName, description, owner, deprecated, location, postgresTrackers
        case trackers = "registeredTrackers"
        case properties = "payload"
        case allowsAdditionalProperties = "additionalProperties"
    }

    /// Reads a definition that was checked before it was encoded.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            key: try values.decode(String.self, forKey: .key),
            name: try values.decodeIfPresent(String.self, forKey: .name),
            description: try values.decodeIfPresent(String.self, forKey: .description),
            swiftName: try values.decodeIfPresent(String.self, forKey: .swiftName),
            owner: try values.decodeIfPresent(String.self, forKey: .owner),
            deprecated: try values.decodeIfPresent(String.self, forKey: .deprecated),
            trackers: try values.decode([String].self, forKey: .trackers),
            properties: try values.decodeIfPresent([PropertyDefinition].self, forKey: .properties) ?? [],
            allowsAdditionalProperties: try values.decodeIfPresent(Bool.self, forKey: .allowsAdditionalProperties)
                ?? false,
            location: try values.decode(SourceLocation.self, forKey: .location)
        )
        postgresTrackers = try values.decodeIfPresent([String].self, forKey: .postgresTrackers) ?? []
    }

    /// Writes what is not as it is unless told.
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
        if !properties.isEmpty { try values.encode(properties, forKey: .properties) }
        if allowsAdditionalProperties { try values.encode(true, forKey: .allowsAdditionalProperties) }
        try values.encode(location, forKey: .location)
    }
}
