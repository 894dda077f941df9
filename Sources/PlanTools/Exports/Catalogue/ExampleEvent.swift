internal import EventModel
import EventSchema
import PatternMatching
import PlanReading

/// A valid example event of a definition, as a sender would send it.
///
/// Values are the plan's examples, or else values within its limits. If a pattern is too complex to derive a match from it,
/// and there is no example, the value is a placeholder.
struct ExampleEvent {
    private static let id = "0196a3f2-5c1e-7b40-9d52-3f6b8a1c7e04"
    private static let moment = "2026-05-04T12:30:00Z"
    private static let placeholder = "…"

    let json: OrderedJSON

    init(of event: EventDefinition) {
        let properties = event.properties.filter { $0.deprecated == nil || $0.isRequired }
        json = .object([
            ("name", .string(event.name)), ("id", .string(Self.id)), ("time", .string(Self.moment)),
            ("userId", .string("17850")), ("payload", Self.object(properties)),
        ])
    }

    private static func object(_ properties: [PropertyDefinition]) -> OrderedJSON {
        .object(properties.map { ($0.name, value(of: $0)) })
    }

    private static func value(of property: PropertyDefinition) -> OrderedJSON {
        if let stated = property.examples.first ?? property.enumeration?.first { return OrderedJSON(stated) }
        switch property.type.kind {
        case .string: return text(of: property)
        case .integer: return number(of: property, [3, 1, 10, 100, 1000, 0, -1].map(PlanValue.integer))
        case .number: return number(of: property, [2.5, 0.5, 10, 100, 1000, 0, -1].map(PlanValue.number))
        case .decimal: return number(of: property, ["12.50", "0.50", "100", "1000", "0", "-1"].map(PlanValue.string))
        case .boolean: return .boolean(true)
        case .timestamp: return .string(moment)
        case .date: return .string(String(moment.prefix(10)))
        case .uuid: return .string("7c9e6679-7425-40de-944b-e07fc1f90ae7")
        case .array: return .array(property.items.map { [value(of: $0)] } ?? [])
        case .object: return property.properties.map(object) ?? .object([])
        case .any: return .string(placeholder)
        }
    }

    private static func number(of property: PropertyDefinition, _ candidates: [PlanValue]) -> OrderedJSON {
        let limits = PropertyLimits(property)
        let all = candidates + [property.minimum, property.maximum].compactMap(\.self)
        return OrderedJSON(all.first(where: limits.allow) ?? all[0])
    }

    private static func text(of property: PropertyDefinition) -> OrderedJSON {
        let limits = PropertyLimits(property)
        let least = property.minLength ?? 0
        let words = String(repeating: "text ", count: least / 5 + 1)
        let candidates = [
            property.pattern.flatMap(PlainPattern.init)?.sample,
            "text", String(words.prefix(max(least, 1))), String(words.prefix(property.maxLength ?? least)),
        ]
        let allowed = candidates.compactMap(\.self).map(PlanValue.string).first(where: limits.allow)
        return OrderedJSON(allowed ?? .string(placeholder))
    }
}

extension PlainPattern {
    /// The shortest match, of different characters.
    fileprivate var sample: String {
        var text = String.UnicodeScalarView()
        for step in steps {
            let members = (UInt8(0x20)..<0x7F).filter(step.characters.contains)
            guard !members.isEmpty else { continue }
            for _ in 0..<step.least {
                text.append(Unicode.Scalar(members[(text.count + 1) % members.count]))
            }
        }
        return String(text)
    }
}
