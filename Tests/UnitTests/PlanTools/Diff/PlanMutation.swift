import EventSchema
import TestCases

/// Changes a plan as an author might, into another valid plan.
enum PlanMutation {
    static func mutate(_ plan: TrackingPlan, _ source: inout CaseSource) -> TrackingPlan {
        var plan = plan
        let index = source.number(0...plan.events.count - 1)
        switch source.number(0...9) {
        case 0: plan.events[index].name += " 2"
        case 1: plan.events[index].allowsAdditionalProperties.toggle()
        case 2: plan.events[index].properties.shuffle(using: &source)
        default: plan.events[index].properties = mutate(plan.events[index].properties, &source)
        }
        return plan
    }

    private static func mutate(_ properties: [PropertyDefinition], _ source: inout CaseSource) -> [PropertyDefinition] {
        var properties = properties
        let known = Set(properties.map(\.name))
        let unused = GeneratedPlan.keys.filter { !known.contains($0) }
        if properties.isEmpty || source.once(in: 6), !unused.isEmpty {
            let added = PropertyDefinition(
                name: source.pick(unused),
                type: source.pick(PropertyType.allCases),
                isRequired: source.once(in: 2),
                location: .line(1)
            )
            properties.insert(added, at: source.number(0...properties.count))
        } else if source.once(in: 6) {
            properties.remove(at: source.number(0...properties.count - 1))
        } else {
            mutate(&properties[source.number(0...properties.count - 1)], &source)
        }
        return properties
    }

    private static func mutate(_ property: inout PropertyDefinition, _ source: inout CaseSource) {
        if let nested = property.properties, source.once(in: 2) { return property.properties = mutate(nested, &source) }
        if var items = property.items, source.once(in: 2) {
            mutate(&items, &source)
            return property.items = items
        }
        switch source.number(0...6) {
        case 6:
            // The allowed values may stay if each has only one spelling in the new type.
            property.type = .string
            property.minimum = nil
            property.maximum = nil
            property.items = nil
            property.properties = nil
            property.enumeration = property.enumeration.flatMap { values in
                let texts = values.map { PlanValue.string($0.text) }
                return source.pick([nil, texts, texts])
            }
        case 0 where !property.name.isEmpty: property.isRequired.toggle()
        case 1: property.isNullable.toggle()
        case 2:
            property = PropertyDefinition(
                name: property.name,
                type: source.pick(PropertyType.allCases),
                isRequired: property.isRequired,
                isNullable: property.isNullable,
                location: property.location
            )
        default: limit(&property, &source)
        }
    }

    private static func limit(_ property: inout PropertyDefinition, _ source: inout CaseSource) {
        switch property.type.kind {
        case .string:
            property.minLength = source.pick([nil, 1, 3])
            property.maxLength = source.pick([nil, 3, 5, 9])
            property.pattern = source.pick([nil, property.pattern, "[0-9]", "^a"])
            let more = property.enumeration.map { $0.contains(.string("one more")) ? $0 : $0 + [.string("one more")] }
            let fewer: [PlanValue] = [.string("small"), .string("a\u{301}")]
            property.enumeration = source.pick([nil, property.enumeration, more, fewer])
        case .integer:
            property.minimum = source.pick([nil, .integer(-7), .integer(0)])
            property.maximum = source.pick([nil, .integer(4), .integer(.max)])
            property.enumeration = source.pick([nil, property.enumeration, [.integer(0), .integer(1), .integer(2)]])
        case .number: property.minimum = source.pick([nil, .number(-7), .number(0.25)])
        case .decimal: property.maximum = source.pick([nil, .string("5.5"), .string("4")])
        case .array: property.items = source.pick([nil, property.items])
        case .object: property.properties = source.pick([nil, property.properties])
        case .timestamp:
            let times = [PlanValue.string("2020-01-01T00:00:00Z"), .string("2021-01-01T00:00:00Z")]
            property.enumeration = source.pick([nil, property.enumeration, times])
        case .uuid:
            let ids = [PlanValue.string("0190a2b4-7c1e-7d3a-9f00-1234567890ab")]
            property.enumeration = source.pick([nil, property.enumeration, ids])
        case .boolean, .date, .any: property.description = "other words"
        }
    }
}
