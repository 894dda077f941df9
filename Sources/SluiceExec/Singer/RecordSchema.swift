package import EventSchema

/// The JSON Schema of the canonical lines of an event, as a Singer target makes a table from it.
///
/// It says what type each value has, and not which values the plan allows: events have been checked, and a target that checked them
/// again could only fail, for example at the hash that replaced a short text. It has no references either, because targets look for
/// types in the schema of a property itself. So it is another schema than the exported one, which is for senders.
package enum RecordSchema {
    private typealias Members = [(key: String, value: OrderedJSON)]

    /// The `multipleOf` of a decimal that is sent as a number; it determines the number of digits after the point.
    ///
    /// With `DecimalPlaces.maximumWhole`, these are the digits for which targets in Python can check that without rounding.
    private static let unit = "0." + String(repeating: "0", count: DecimalPlaces.maximumFraction - 1) + "1"

    /// The schema of the lines of an event, without the properties that the plan hides from the tracker.
    package static func schema(of event: EventDefinition, decimals: SingerDecimals) -> OrderedJSON {
        let payload = object([], event.properties, decimals, isOpen: event.allowsAdditionalProperties)
        let fields: Members = [
            ("id", text(format: "uuid")), ("name", text()), ("time", text(format: "date-time")),
            ("receivedAt", text(format: "date-time")), ("userId", optional("string")),
            ("anonymousId", optional("string")), ("sessionId", optional("string")), ("context", optional("object")),
            ("payload", payload),
        ]
        return .object(
            OrderedJSON.annotations(event.description, deprecated: event.deprecated)
                + [("type", "object"), ("properties", .object(fields))]
        )
    }

    /// A text that every line has.
    private static func text(format: String? = nil) -> OrderedJSON {
        .object([("type", .strings(["string"]))] + (format.map { [("format", .string($0))] } ?? []))
    }

    private static func optional(_ type: String) -> OrderedJSON { .object([self.type(type)]) }

    /// A type or `null`, which also stands for a value that is absent.
    private static func type(_ names: String...) -> (key: String, value: OrderedJSON) {
        ("type", .strings(["null"] + names))
    }

    private static func object(
        _ annotations: Members,
        _ properties: [PropertyDefinition],
        _ decimals: SingerDecimals,
        isOpen: Bool = false
    ) -> OrderedJSON {
        // Without it, targets drop what the schema does not describe.
        let open: Members = isOpen ? [("additionalProperties", .boolean(true))] : []
        let members = properties.filter { !$0.isDropped }.map { (key: $0.name, value: schema(of: $0, decimals)) }
        return .object(annotations + [type("object"), ("properties", .object(members))] + open)
    }

    private static func schema(of property: PropertyDefinition, _ decimals: SingerDecimals) -> OrderedJSON {
        let annotations = OrderedJSON.annotations(property.description, deprecated: property.deprecated)
        switch property.type.kind {
        case .string: return .object(annotations + [type("string")])
        case .integer, .number, .boolean: return .object(annotations + [type(property.type.rawValue)])
        case .decimal: return .object(annotations + decimal(decimals))
        case .timestamp: return .object(annotations + [type("string"), ("format", "date-time")])
        case .date: return .object(annotations + [type("string"), ("format", "date")])
        case .uuid: return .object(annotations + [type("string"), ("format", "uuid")])
        case .any: return .object(annotations + [type("boolean", "number", "string", "array", "object")])
        case .object:
            guard let properties = property.properties else { return .object(annotations + [type("object")]) }
            return object(annotations, properties, decimals)
        case .array:
            guard let items = property.items else { return .object(annotations + [type("array")]) }
            return .object(annotations + [type("array"), ("items", schema(of: items, decimals))])
        }
    }

    private static func decimal(_ decimals: SingerDecimals) -> Members {
        switch decimals {
        case .strings: [type("string"), ("format", "x-singer.decimal")]
        case .numbers: [type("number"), ("multipleOf", .number(unit))]
        }
    }
}
