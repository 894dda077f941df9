package import EventSchema

/// Random plans that the reader of plans would accept.
package struct GeneratedPlan {
    private var line = 0

    package static func make(_ source: inout CaseSource) -> TrackingPlan {
        var generator = GeneratedPlan()
        let names = ["Ordered", "Item Purchased", "a", "quoted \"name\"", "Käufe 😀"]
        return TrackingPlan(
            events: names.prefix(source.number(1...names.count)).map { name in
                EventDefinition(
                    key: name,
                    trackers: ["console"],
                    properties: generator.properties(&source, depth: 0),
                    allowsAdditionalProperties: source.once(in: 3),
                    location: generator.place()
                )
            }
        )
    }

    private mutating func place() -> PlanLocation {
        line += 1
        return .line(line)
    }

    package static let keys = [
        "a", "b", "id", "sku", "unitPrice", "unit_price", "a longer key with spaces", "é", "quantity", "x\"y", "x'y",
        "😀",
        "k0123456789012345678901234567890123456789", "sevenly", "eightlyy", "nineeeeee", "0", "tab\tkey",
    ]

    private mutating func properties(_ source: inout CaseSource, depth: Int) -> [PropertyDefinition] {
        let count = source.once(in: 6) ? source.number(9...Self.keys.count) : source.number(0...6)
        return Self.keys.shuffled(using: &source).prefix(count).map { property($0, &source, depth: depth) }
    }

    private mutating func property(_ name: String, _ source: inout CaseSource, depth: Int) -> PropertyDefinition {
        var types = PropertyType.allCases
        if depth > 2 { types.removeAll { $0 == .array || $0 == .object } }
        var property = PropertyDefinition(
            name: name,
            type: source.pick(types),
            isRequired: source.once(in: 2),
            isNullable: source.once(in: 4),
            location: place()
        )
        limit(&property, &source)
        if property.type == .array, !source.once(in: 4) {
            property.items = self.property("", &source, depth: depth + 1)
        }
        if property.type == .object, !source.once(in: 4) { property.properties = properties(&source, depth: depth + 1) }
        return property
    }

    private func limit(_ property: inout PropertyDefinition, _ source: inout CaseSource) {
        switch property.type.kind {
        case .string:
            if source.once(in: 4) { property.minLength = source.number(0...4) }
            if source.once(in: 4) { property.maxLength = source.number(3...9) }
            if source.once(in: 4) { property.pattern = source.pick(ReferencePattern.allCases).rawValue }
            if source.once(in: 6) {
                property.enumeration = ["small", "A1", "a\u{301}", "", "x\n"].map(PlanValue.string)
            }
        case .integer:
            if source.once(in: 3) { property.minimum = .integer(Int64(source.pick([-5, 0, 1, .min]))) }
            if source.once(in: 3) {
                property.maximum = .integer(Int64(source.pick([5, 9, .max, 9_007_199_254_740_993])))
            }
            if source.once(in: 6) { property.enumeration = [0, 1, -3, 1000, .max].map(PlanValue.integer) }
        case .number:
            if source.once(in: 3) { property.minimum = .number(source.pick([-5, 0, 0.5, 1e-6])) }
            if source.once(in: 3) { property.maximum = .number(source.pick([5, 9.75, 1e16])) }
            if source.once(in: 6) {
                property.enumeration = [0, 1, 2.5, 1e15, 1e16, 1e-6, 9_007_199_254_740_992].map(PlanValue.number)
            }
        case .decimal:
            if source.once(in: 3) { property.minimum = .string(source.pick(["-5", "0", "0.10", "1e-3"])) }
            if source.once(in: 3) { property.maximum = .string(source.pick(["5.5", "9", "1e16"])) }
            if source.once(in: 6) { property.enumeration = ["0", "1.50", "1000", "0.1"].map(PlanValue.string) }
        case .timestamp:
            let times = ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00.5+02:00"]
            if source.once(in: 8) { property.enumeration = times.map(PlanValue.string) }
        case .date: if source.once(in: 8) { property.enumeration = [.string("2020-01-01"), .string("2024-02-29")] }
        case .uuid:
            let ids = ["0190a2b4-7c1e-7d3a-9f00-1234567890ab", "00000000-0000-4000-8000-000000000000"]
            if source.once(in: 8) { property.enumeration = ids.map(PlanValue.string) }
        case .boolean, .array, .object, .any: break
        }
    }
}
