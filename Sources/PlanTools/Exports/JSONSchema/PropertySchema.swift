internal import EventModel
import EventSchema

/// The schemas of payloads and of their properties.
enum PropertySchema {
    typealias Members = [(key: String, value: OrderedJSON)]

    /// The payload of an event.
    static func payload(of event: EventDefinition) -> OrderedJSON {
        let others: OrderedJSON =
            event.allowsAdditionalProperties ? .object([SharedSchemas.reference(to: "value")]) : .boolean(false)
        var members: Members = [("type", .string("object"))] + object(event.properties, others: others)
        if event.allowsAdditionalProperties {
            members.append(("propertyNames", .object([SharedSchemas.reference(to: "text")])))
        }
        return .object(members)
    }

    private static func object(_ properties: [PropertyDefinition], others: OrderedJSON) -> Members {
        var members: Members = [("properties", .object(properties.map { ($0.name, schema(of: $0)) }))]
        let required = properties.filter(\.mustBePresent).map(\.name)
        if !required.isEmpty { members.append(("required", .strings(required))) }
        return members + [("additionalProperties", others)]
    }

    private static func schema(of property: PropertyDefinition) -> OrderedJSON {
        var members = OrderedJSON.annotations(property.description, deprecated: property.deprecated)
        members.append(type(of: property))
        members += rules(of: property)
        if !property.examples.isEmpty {
            members.append(("examples", .array(property.examples.map(OrderedJSON.init))))
        }
        return .object(members)
    }

    private static func type(of property: PropertyDefinition) -> (key: String, value: OrderedJSON) {
        var kinds =
            switch property.type.kind {
            case .string, .timestamp, .date, .uuid: ["string"]
            case .integer, .number, .boolean, .array, .object: [property.type.rawValue]
            case .decimal: ["number", "string"]
            case .any: ["boolean", "number", "string", "array", "object"]
            }
        if property.isNullable { kinds.append("null") }
        return ("type", kinds.count == 1 ? .string(kinds[0]) : .strings(kinds))
    }

    private static func rules(of property: PropertyDefinition) -> Members {
        switch property.type.kind {
        case .string: return [SharedSchemas.reference(to: "text")] + text(property) + enumeration(property)
        case .integer, .number:
            return [SharedSchemas.reference(to: property.type.rawValue)] + bounds(property) + enumeration(property)
        case .boolean: return enumeration(property)
        case .decimal: return [SharedSchemas.reference(to: "decimal")] + DecimalSchema.rules(of: property)
        case .timestamp:
            return [("format", .string("date-time")), SharedSchemas.reference(to: "timestamp")] + moments(property)
        case .date:
            return [("format", .string("date")), SharedSchemas.reference(to: "date")] + enumeration(property)
        case .uuid: return [("format", .string("uuid")), SharedSchemas.reference(to: "uuid")] + identifiers(property)
        case .any: return [SharedSchemas.reference(to: "value")]
        case .object:
            guard let properties = property.properties else { return [SharedSchemas.reference(to: "value")] }
            return object(properties, others: .boolean(false))
        case .array:
            guard let items = property.items else { return [SharedSchemas.reference(to: "value")] }
            return [("items", schema(of: items))]
        }
    }

    // MARK: Rules

    private static func bounds(_ property: PropertyDefinition) -> Members {
        [("minimum", property.minimum), ("maximum", property.maximum)].compactMap { key, limit in
            limit.map { (key, OrderedJSON($0)) }
        }
    }

    private static func text(_ property: PropertyDefinition) -> Members {
        var members: Members = []
        if let least = property.minLength { members.append(("minLength", .integer(least))) }
        if let greatest = property.maxLength { members.append(("maxLength", .integer(greatest))) }
        guard let source = property.pattern else { return members }
        guard let pattern = PortablePattern.translation(of: source) else {
            let sentence = "Sluice also requires a match of this pattern, which only RE2 can express: \(source)"
            return members + [("$comment", .string(sentence))]
        }
        members.append(("pattern", .string(pattern)))
        if pattern != source { members.append(("$comment", .string("The plan's pattern, in RE2's syntax: \(source)"))) }
        return members
    }

    private static func enumeration(_ property: PropertyDefinition) -> Members {
        guard let values = property.enumeration else { return [] }
        return [("enum", .array(values.map(OrderedJSON.init) + (property.isNullable ? [.null] : [])))]
    }

    /// One point in time has many spellings, because of the offset, so allowed timestamps cannot be listed.
    private static func moments(_ property: PropertyDefinition) -> Members {
        guard let values = property.enumeration else { return [] }
        let list = values.map { OrderedJSON($0).line }.joined(separator: ", ")
        return [("$comment", .string("Sluice accepts only these moments, in any UTC offset: \(list)"))]
    }

    /// A pattern for the allowed UUIDs, in upper or lower case.
    private static func identifiers(_ property: PropertyDefinition) -> Members {
        guard let values = property.enumeration else { return [] }
        let spellings = values.map { value in
            guard case .string(let text) = value else { return "" }
            return PortablePattern.translation(of: "(?i)" + text) ?? ""
        }
        return [("pattern", .string("^(?:" + spellings.joined(separator: "|") + ")" + PortablePattern.end))]
    }
}

/// The rules that a schema can express for decimals, which are sent as numbers or as strings.
private enum DecimalSchema {
    typealias Members = [(key: String, value: OrderedJSON)]

    static func rules(of property: PropertyDefinition) -> Members {
        let (least, greatest) = (property.minimum.flatMap(decimal), property.maximum.flatMap(decimal))
        var members: Members = []
        if let least { members.append(("minimum", .number(least.description))) }
        if let greatest { members.append(("maximum", .number(greatest.description))) }
        if let least, !least.isNegative { members.append(("pattern", .string(SchemaPattern.notNegative))) }
        if let values = property.enumeration?.compactMap(decimal) {
            members += enumeration(values, isNullable: property.isNullable)
        } else if !members.isEmpty {
            let sentence =
                "Sluice applies the same limits to decimals in strings; a schema can only express their sign."
            members.append(("$comment", .string(sentence)))
        }
        return members
    }

    private static func enumeration(_ values: [ExactDecimal], isNullable: Bool) -> Members {
        let numbers = values.map { OrderedJSON.number($0.description) } + (isNullable ? [.null] : [])
        let spellings = values.map(spelling).joined(separator: "|")
        return [
            ("if", .object([("type", .string("string"))])),
            ("then", .object([("pattern", .string("^(?:\(spellings))" + PortablePattern.end))])),
            ("else", .object([("enum", .array(numbers))])),
            ("$comment", .string("In a string, Sluice also accepts the allowed values with an exponent.")),
        ]
    }

    private static func decimal(_ value: PlanValue) -> ExactDecimal? {
        if case .string(let text) = value { ExactDecimal(text) } else { nil }
    }

    /// A pattern for the number with any trailing zeros.
    private static func spelling(of value: ExactDecimal) -> String {
        let parts = value.description.split(separator: ".", omittingEmptySubsequences: false)
        let fraction = parts.count > 1 ? String(parts[1].reversed().drop { $0 == "0" }.reversed()) : ""
        let zero = value.significantDigits == 0 ? "-?" : ""
        return zero + parts[0] + (fraction.isEmpty ? #"(?:\.0+)?"# : #"\."# + fraction + "0*")
    }
}
