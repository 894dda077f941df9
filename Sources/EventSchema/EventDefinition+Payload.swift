extension EventDefinition {
    /// Whether both are events of the same name whose payloads obey the same rules, wherever they stand and whatever is
    /// said about them.
    package func hasSamePayload(as other: EventDefinition) -> Bool {
        name == other.name && allowsAdditionalProperties == other.allowsAdditionalProperties
            && properties.count == other.properties.count
            && zip(properties, other.properties).allSatisfy { $0.rules == $1.rules }
    }
}

extension PropertyDefinition {
    /// The property without what is only said about it.
    fileprivate var rules: PropertyDefinition {
        var rules = self
        rules.description = nil
        rules.swiftName = nil
        rules.swiftCases = [:]
        rules.deprecated = nil
        rules.examples = []
        rules.location = PlanLocation(file: "", line: 0, column: 0)
        rules.items = items?.rules
        rules.properties = properties?.map(\.rules)
        return rules
    }
}
