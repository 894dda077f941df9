extension PropertyDefinition: Codable {
    private enum CodingKeys: String, CodingKey {
        case name, type, swiftName, swiftCases, description, deprecated, minimum, maximum, minLength, maxLength, pattern
        case items, properties, examples, file, location
        case isRequired = "required"
        case isNullable = "nullable"
        case enumeration = "enum"
        case sensitivity = "sensitive"
    }

    /// Reads a property that was checked before it was encoded.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys) throws -> Value? {
            try values.decodeIfPresent(Value.self, forKey: key)
        }
        self.init(
            name: try value(.name) ?? "",
            type: try values.decode(PropertyType.self, forKey: .type),
            isRequired: try value(.isRequired) ?? true,
            isNullable: try value(.isNullable) ?? false,
            swiftName: try value(.swiftName),
            swiftCases: try value(.swiftCases) ?? [:],
            description: try value(.description),
            deprecated: try value(.deprecated),
            sensitivity: try value(.sensitivity),
            enumeration: try value(.enumeration),
            minimum: try value(.minimum),
            maximum: try value(.maximum),
            minLength: try value(.minLength),
            maxLength: try value(.maxLength),
            pattern: try value(.pattern),
            items: try value(.items),
            properties: try value(.properties),
            examples: try value(.examples) ?? [],
            location: try value(.location) ?? PlanLocation(file: try value(.file) ?? "")
        )
    }

    /// Encodes only values that differ from their defaults.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        if !name.isEmpty { try values.encode(name, forKey: .name) }
        try values.encode(type, forKey: .type)
        if !isRequired { try values.encode(false, forKey: .isRequired) }
        if isNullable { try values.encode(true, forKey: .isNullable) }
        try values.encodeIfPresent(swiftName, forKey: .swiftName)
        if !swiftCases.isEmpty { try values.encode(swiftCases, forKey: .swiftCases) }
        try values.encodeIfPresent(description, forKey: .description)
        try values.encodeIfPresent(deprecated, forKey: .deprecated)
        try values.encodeIfPresent(sensitivity, forKey: .sensitivity)
        try values.encodeIfPresent(enumeration, forKey: .enumeration)
        try values.encodeIfPresent(minimum, forKey: .minimum)
        try values.encodeIfPresent(maximum, forKey: .maximum)
        try values.encodeIfPresent(minLength, forKey: .minLength)
        try values.encodeIfPresent(maxLength, forKey: .maxLength)
        try values.encodeIfPresent(pattern, forKey: .pattern)
        try values.encodeIfPresent(items, forKey: .items)
        try values.encodeIfPresent(properties, forKey: .properties)
        if !examples.isEmpty { try values.encode(examples, forKey: .examples) }
        if location.line > 0 {
            try values.encode(location, forKey: .location)
        } else if !location.file.isEmpty {
            try values.encode(location.file, forKey: .file)
        }
    }
}

extension PropertyDefinition {
    /// Replaces a file by another one in all places that have no line.
    func replacingFile(_ file: String, with other: String) -> PropertyDefinition {
        var property = self
        if location == PlanLocation(file: file) { property.location = PlanLocation(file: other) }
        property.items = items?.replacingFile(file, with: other)
        property.properties = properties?.map { $0.replacingFile(file, with: other) }
        return property
    }
}
