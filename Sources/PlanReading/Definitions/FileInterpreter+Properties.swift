import EventSchema

extension FileInterpreter {
    private static let itemKeys = [
        "type", "nullable", "swiftName", "swiftCases", "description", "enum", "minimum", "maximum", "minLength",
        "maxLength", "pattern", "items",
        "properties", "examples",
    ]
    private static let propertyKeys = itemKeys + ["required", "deprecated", "sensitive"]

    /// The properties of a payload, or of an object.
    mutating func properties(_ entry: PlistEntry) -> [PropertyDefinition] {
        let entries = dictionary(entry.value, as: quoted(entry.key.text)) ?? []
        return entries.compactMap { property($0) }
    }

    /// A property: the name of its type, or a dictionary.
    mutating func property(_ entry: PlistEntry) -> PropertyDefinition? {
        check(entry.key)
        return property(named: entry.key.text, entry, keys: Self.propertyKeys, as: "a property")
    }

    private mutating func property(
        named name: String,
        _ entry: PlistEntry,
        keys: [String],
        as thing: String
    ) -> PropertyDefinition? {
        let location = entry.key.place.location
        switch entry.value.value {
        case .string(let text):
            let type = type(PlacedText(text: text, place: entry.value.place))
            return PropertyDefinition(name: name, type: type ?? .any, location: location)
        case .dictionary:
            let fields = fields(entry.value, of: thing, at: entry.key.place, known: keys)
            return fields.map { property(named: name, $0, location) }
        default:
            reportKind(of: entry.value, thing, expected: "a type's name or a dictionary")
            return nil
        }
    }

    private mutating func property(
        named name: String,
        _ fields: Fields,
        _ location: PlanLocation
    ) -> PropertyDefinition {
        let type = type(fields)
        var property = PropertyDefinition(
            name: name,
            type: type ?? .any,
            isRequired: boolean(fields["required"], default: true),
            isNullable: boolean(fields["nullable"], default: false),
            swiftName: swiftName(fields["swiftName"]),
            description: text(fields["description"])?.text,
            deprecated: text(fields["deprecated"])?.text,
            items: items(fields["items"]),
            properties: fields["properties"].map { properties($0) },
            location: location
        )
        // Limits and values cannot be checked without a type.
        guard type != nil else { return property }
        property.sensitivity = sensitivity(fields["sensitive"], of: property)
        reportMisplacedKeys(fields, property)
        readLimits(fields, &property)
        readValues(fields, &property)
        if let deprecated = fields["deprecated"], property.isRequired {
            let sentence = "the property is deprecated but required; add 'required' with <false/>"
            report(.requiredAndDeprecated, at: deprecated.key.place, sentence)
        }
        return property
    }

    private mutating func items(_ entry: PlistEntry?) -> PropertyDefinition? {
        entry.flatMap { property(named: "", $0, keys: Self.itemKeys, as: "'items'") }
    }

    // MARK: Types

    /// Other common names of the types.
    private static let synonyms: [String: PropertyType] = [
        "int": .integer, "long": .integer, "double": .number, "float": .number, "real": .number, "money": .decimal,
        "bool": .boolean, "text": .string, "str": .string, "datetime": .timestamp, "time": .timestamp, "day": .date,
        "guid": .uuid, "list": .array, "dict": .object, "dictionary": .object, "json": .any,
    ]

    private mutating func type(_ fields: Fields) -> PropertyType? {
        guard let entry = fields["type"] else {
            let types = PropertyType.allCases.map(\.rawValue).joined(separator: ", ")
            report(.missingKey, at: fields.place, "a property needs a 'type'; types are \(types)")
            return nil
        }
        return text(entry).flatMap { type($0) }
    }

    private mutating func type(_ name: PlacedText) -> PropertyType? {
        if let type = PropertyType(rawValue: name.text) { return type }
        let names = PropertyType.allCases.map(\.rawValue)
        let synonym = Self.synonyms[name.text.lowercased()].map { "did you mean '\($0.rawValue)'?" }
        let hint = synonym ?? Spelling.hint(for: name.text, among: names, listedAs: "types are")
        report(.unknownType, at: name.place, "unknown type \(quoted(name.text)); \(hint)")
        return nil
    }
}
