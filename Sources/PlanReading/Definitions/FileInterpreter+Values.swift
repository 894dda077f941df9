import EventSchema

extension FileInterpreter {
    /// Reads `enum` and `examples`, whose values must be within the limits, which have been read before.
    mutating func readValues(_ fields: Fields, _ property: inout PropertyDefinition) {
        let limits = PropertyLimits(property)
        property.enumeration = enumeration(fields["enum"], of: property, limits)
        property.examples = examples(fields["examples"], of: property, limits)
        property.swiftCases = swiftCases(fields, of: property)
    }

    private mutating func enumeration(
        _ entry: PlistEntry?,
        of property: PropertyDefinition,
        _ limits: PropertyLimits
    ) -> [PlanValue]? {
        guard Self.singleValued.contains(property.type), let entry, let nodes = array(entry.value, as: "'enum'") else {
            return nil
        }
        if nodes.isEmpty {
            report(.emptyEnum, at: entry.value.place, "'enum' is empty; list the allowed values, or remove it")
            return nil
        }
        var values = DistinctValues(type: property.type)
        // Swift compares the raw values of a generated enum by canonical equivalence.
        var inSwift: Set<PlanValue> = []
        for node in nodes where node.value != .unreadable {
            guard let value = PlanValue(node, of: property) else {
                let sentence = "the value does not have the type \(property.type.rawValue), so it can never be sent"
                report(.enumOutsideType, at: node.place, sentence)
                continue
            }
            if !limits.allow(value) {
                report(
                    .enumOutsideLimits,
                    at: node.place,
                    "the value violates the property's own limits; change the value or the limits"
                )
            }
            let isNewToSwift = inSwift.insert(value).inserted
            if !values.insert(value) {
                report(.duplicateEnumValue, at: node.place, "the value is already in this 'enum'; remove it")
            } else if !isNewToSwift {
                let sentence = "the value is already in this 'enum', written with other code points; remove one of them"
                report(.duplicateEnumValue, at: node.place, sentence)
            }
        }
        return values.inOrder
    }

    private mutating func examples(
        _ entry: PlistEntry?,
        of property: PropertyDefinition,
        _ limits: PropertyLimits
    ) -> [PlanValue] {
        guard let entry, let nodes = array(entry.value, as: "'examples'") else { return [] }
        let allowed = property.enumeration.map { DistinctValues($0, type: property.type) }
        var examples: [PlanValue] = []
        for node in nodes where node.value != .unreadable {
            if let value = PlanValue(node, of: property), limits.allow(value), allowed?.contains(value) != false {
                examples.append(value)
            } else {
                let sentence =
                    "the example would be rejected because of the property's type, limits or 'enum'; correct it"
                report(.badExample, at: node.place, sentence)
            }
        }
        return examples
    }
}
