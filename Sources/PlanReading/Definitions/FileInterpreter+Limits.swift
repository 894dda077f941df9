import EventSchema
import PatternMatching

extension FileInterpreter {
    /// The types that each limit applies to.
    private static let applicability: [(keys: [String], types: Set<PropertyType>, noun: String)] = [
        (["minimum", "maximum"], [.integer, .number, .decimal], "integer, number or decimal"),
        (["minLength", "maxLength", "pattern"], [.string], "string"),
        (
            ["enum"], singleValued, "string, integer, number, decimal, boolean, timestamp, date or uuid"
        ),
        (["items"], [.array], "array"),
        (["properties"], [.object], "object"),
    ]

    /// The types whose values are equal if their canonical text or their number is equal.
    ///
    /// Equality of arrays and objects, as JSON Schema defines it, would have to compare their members recursively.
    static let singleValued: Set<PropertyType> = [
        .string, .integer, .number, .decimal, .boolean, .timestamp, .date, .uuid,
    ]

    mutating func reportMisplacedKeys(_ fields: Fields, _ property: PropertyDefinition) {
        for (keys, types, noun) in Self.applicability where !types.contains(property.type) {
            for entry in keys.compactMap({ fields[$0] }) {
                let sentence =
                    "\(quoted(entry.key.text)) applies only to type \(noun); the type here is \(property.type.rawValue)"
                report(.misplacedKey, at: entry.key.place, sentence)
            }
        }
    }

    mutating func readLimits(_ fields: Fields, _ property: inout PropertyDefinition) {
        if [.integer, .number, .decimal].contains(property.type) {
            property.minimum = bound(fields["minimum"], of: property)
            property.maximum = bound(fields["maximum"], of: property)
        }
        if property.type == .string {
            property.minLength = length(fields["minLength"])
            property.maxLength = length(fields["maxLength"])
            property.pattern = pattern(fields["pattern"])
        }
        reportImpossibleLimits(fields, property)
    }

    private mutating func reportImpossibleLimits(_ fields: Fields, _ property: PropertyDefinition) {
        if let least = property.minimum, let greatest = property.maximum,
            PropertyLimits.isLess(greatest, than: least, as: property.type)
        {
            reportImpossible(fields["maximum"], "'maximum' is less than 'minimum'")
        }
        if let least = property.minLength, let greatest = property.maxLength, greatest < least {
            reportImpossible(fields["maxLength"], "'maxLength' is less than 'minLength'")
        }
    }

    private mutating func reportImpossible(_ entry: PlistEntry?, _ reason: String) {
        guard let entry else { return }
        report(.impossibleLimits, at: entry.value.place, "no value can satisfy the limits: \(reason)")
    }

    private mutating func bound(_ entry: PlistEntry?, of property: PropertyDefinition) -> PlanValue? {
        guard let entry, entry.value.value != .unreadable else { return nil }
        if let value = PlanValue(entry.value, of: property) { return value }
        let article = property.type == .integer ? "an" : "a"
        let advice = property.type == .decimal ? "; write it as a string" : ""
        let sentence = "\(quoted(entry.key.text)) must be \(article) \(property.type.rawValue)\(advice)"
        report(.badLimit, at: entry.value.place, sentence)
        return nil
    }

    private mutating func length(_ entry: PlistEntry?) -> Int? {
        guard let entry else { return nil }
        guard case .integer(let integer) = entry.value.value else {
            reportKind(of: entry.value, quoted(entry.key.text), expected: "an integer")
            return nil
        }
        guard let length = Int(exactly: integer), length >= 0 else {
            report(
                .badLimit,
                at: entry.value.place,
                "\(quoted(entry.key.text)) is a number of characters and cannot be negative"
            )
            return nil
        }
        return length
    }

    private mutating func pattern(_ entry: PlistEntry?) -> String? {
        guard let source = text(entry) else { return nil }
        do {
            return try Pattern(source.text).source
        } catch {
            let sentence = "the pattern is not a valid regular expression (RE2 syntax): \(quoted(error.reason))"
            report(.badPattern, at: source.place, sentence)
            return nil
        }
    }
}
