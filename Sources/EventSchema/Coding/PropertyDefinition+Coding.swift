extension PropertyDefinition: Codable {
    private enum CodingKeys: String, CodingKey {
        case name, type, swiftName, swiftCases, description, deprecated, minimum, maximum, minLength, maxLength, pattern
        case items, properties, examples, file, location
        case isRequired = "required"
        case isNullable = "nullable"
        case enumeration = "enum"
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

extension PlanValue: Codable {
    /// Each kind of value has a key of its own: in JSON alone 1 and 1.0 are the same.
    private enum CodingKeys: String, CodingKey {
        case string, integer, number, boolean, array, object
    }

    /// Reads the value of the one key there is.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        switch values.allKeys.first {
        case .string: self = .string(try values.decode(String.self, forKey: .string))
        case .integer: self = .integer(try values.decode(Int64.self, forKey: .integer))
        case .number: self = .number(try values.decode(Double.self, forKey: .number))
        case .boolean: self = .boolean(try values.decode(Bool.self, forKey: .boolean))
        case .array: self = .array(try values.decode([PlanValue].self, forKey: .array))
        case .object: self = .object(try values.decode([PlanMember].self, forKey: .object))
        case nil: throw DecodingError.dataCorrupted(.init(codingPath: values.codingPath, debugDescription: "no value"))
        }
    }

    /// Writes the value under the key of its kind.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .string(let text): try values.encode(text, forKey: .string)
        case .integer(let number): try values.encode(number, forKey: .integer)
        case .number(let number): try values.encode(number, forKey: .number)
        case .boolean(let truth): try values.encode(truth, forKey: .boolean)
        case .array(let elements): try values.encode(elements, forKey: .array)
        case .object(let members): try values.encode(members, forKey: .object)
        }
    }
}

extension PropertyDefinition {
    /// The property with another file instead of the given one, where only the file is known.
    func replacingFile(_ file: String, with other: String) -> PropertyDefinition {
        var property = self
        if location == PlanLocation(file: file) { property.location = PlanLocation(file: other) }
        property.items = items?.replacingFile(file, with: other)
        property.properties = properties?.map { $0.replacingFile(file, with: other) }
        return property
    }
}
