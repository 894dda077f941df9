import EventSchema

/// Reads `payloadKeys`, JustTrack's format of a payload without types.
extension FileInterpreter {
    /// The types that a suffix of a key in `objectPayloadKeys` can state.
    private static let suffixes: [(text: String, type: PropertyType)] = [
        ("_int", .integer), ("_double", .number), ("_bool", .boolean),
    ]

    /// A string is a key whose value is text; a dictionary is a key whose value is an array of objects.
    ///
    /// The format cannot say that a property is required, so every property may be absent or null.
    mutating func justTrackPayload(_ entry: PlistEntry) -> [PropertyDefinition] {
        let nodes = array(entry.value, as: "'payloadKeys'") ?? []
        return withoutRepetitions(nodes.compactMap { justTrackProperty($0) })
    }

    private mutating func justTrackProperty(_ node: PlistNode) -> (PlacedText, PropertyDefinition)? {
        switch node.value {
        case .string(let text):
            let name = PlacedText(text: text, place: node.place)
            return (name, optional(name, .string))
        case .dictionary:
            return justTrackObjects(node)
        default:
            reportKind(of: node, "a payload key", expected: "a string or a dictionary")
            return nil
        }
    }

    private mutating func justTrackObjects(_ node: PlistNode) -> (PlacedText, PropertyDefinition)? {
        let keys = ["name", "objectPayloadKeys"]
        guard let fields = fields(node, of: "a payload object", at: node.place, known: keys) else { return nil }
        for key in keys where fields[key] == nil {
            report(.missingKey, at: node.place, "a payload object needs \(quoted(key))")
        }
        guard let name = text(fields["name"]), let entry = fields["objectPayloadKeys"] else { return nil }
        let nodes = array(entry.value, as: "'objectPayloadKeys'") ?? []
        let members = nodes.compactMap { node -> (PlacedText, PropertyDefinition)? in
            guard let key = text(node, as: "a key in 'objectPayloadKeys'") else { return nil }
            let (whole, type) = Self.cuttingSuffix(key.text)
            // JustTrack sent the keys of objects with the first letter in lower case.
            let text = whole.prefix(1).lowercased() + whole.dropFirst()
            let name = PlacedText(text: text, place: key.place)
            return (name, optional(name, type))
        }
        var property = optional(name, .array)
        property.items = PropertyDefinition(
            name: "",
            type: .object,
            properties: withoutRepetitions(members),
            location: entry.key.place.location
        )
        return (name, property)
    }

    /// Removes one suffix at the end: `user_interest` stays, and `count_int_int` becomes `count_int`.
    private static func cuttingSuffix(_ key: String) -> (String, PropertyType) {
        for suffix in suffixes where key.hasSuffix(suffix.text) {
            return (String(key.dropLast(suffix.text.count)), suffix.type)
        }
        return (key, .string)
    }

    private func optional(_ name: PlacedText, _ type: PropertyType) -> PropertyDefinition {
        PropertyDefinition(
            name: name.text,
            type: type,
            isRequired: false,
            isNullable: true,
            location: name.place.location
        )
    }

    private mutating func withoutRepetitions(
        _ properties: [(name: PlacedText, definition: PropertyDefinition)]
    ) -> [PropertyDefinition] {
        var known: Set<String> = []
        var result: [PropertyDefinition] = []
        for (name, definition) in properties where check(name) {
            if known.insert(name.text).inserted {
                result.append(definition)
            } else {
                report(.duplicateKey, at: name.place, "the payload already has a key \(quoted(name.text)); remove one")
            }
        }
        return result
    }
}
