// A plan as JSON: what generated code holds. The keys are those of the plist format, so that whoever reads the one can
// read the other. Keys may be added; what older versions of Sluice wrote stays readable.

extension PlanLocation: Codable {
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
        case key, name, swiftName, description, owner, deprecated, file, location, postgresTrackers
        case trackers = "registeredTrackers"
        case properties = "payload"
        case allowsAdditionalProperties = "additionalProperties"
    }

    /// Reads a definition that was checked before it was encoded.
    ///
    /// Its properties are of the same file unless they name another.
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
