import EventSchema

/// A property's type before and after a change, and how the values of both are related.
struct TypeChange {
    let old: PropertyType
    let new: PropertyType

    init(from old: PropertyType, to new: PropertyType) {
        self.old = old
        self.new = new
    }

    /// Whether all values that were valid still are, limits aside.
    var takesAllOldValues: Bool {
        switch (old, new) {
        case (_, _) where old == new: true
        case (_, .any), (.integer, .number): true
        case (.timestamp, .string), (.date, .string), (.uuid, .string): true
        // A number such as 1e300 has too many digits for a decimal, so `number` is not in this list.
        case (.integer, .decimal): true
        default: false
        }
    }

    /// Whether nearly all values that were valid still are.
    var takesMostOldValues: Bool { takesAllOldValues || (old == .number && new == .decimal) }

    /// Whether the columns of both have the same type.
    var keepsColumnType: Bool { old == new || (Self.inJSONColumn.contains(old) && Self.inJSONColumn.contains(new)) }

    /// Whether code that reads the old values from JSON can read all new ones.
    var yieldsOldValuesOnly: Bool {
        switch (old, new) {
        case (_, _) where old == new: true
        case (.number, .integer), (.string, .timestamp), (.string, .date), (.string, .uuid), (.string, .decimal): true
        // Decimals are strings in the canonical form, whatever was sent.
        case (.any, _): new != .decimal
        default: false
        }
    }

    /// Whether some of the new values have the form of the old ones in JSON.
    var yieldsOldValuesToo: Bool {
        switch (old, new) {
        case (_, .any), (.integer, .number): true
        case (.decimal, .string), (.timestamp, .string), (.date, .string), (.uuid, .string): true
        default: false
        }
    }

    private static let inJSONColumn: Set<PropertyType> = [.array, .object, .any]

    /// The old property converted to the new type, so that its limits can be compared with those of the new one; `nil` if
    /// they cannot be compared.
    func carryOver(_ property: PropertyDefinition, to newProperty: PropertyDefinition) -> PropertyDefinition? {
        if old == new { return property }
        guard takesMostOldValues else { return nil }
        var carried = property
        carried.type = new
        carried.minimum = property.minimum.flatMap(carryOver)
        carried.maximum = property.maximum.flatMap(carryOver)
        carried.enumeration =
            allowsAllSpellings(of: property.enumeration, newProperty.enumeration)
            ? property.enumeration?.compactMap(carryOver) : nil
        return carried
    }

    /// Whether a list of texts allows all spellings of a list of values, so that the lists can be compared.
    ///
    /// A string has one spelling, a UUID one for each combination of upper and lower case, and a time any number, because of
    /// its fraction of a second and its offset.
    private func allowsAllSpellings(of values: [PlanValue]?, _ texts: [PlanValue]?) -> Bool {
        switch (old, new) {
        case (_, .any): return false
        case (.timestamp, .string): return false
        case (.uuid, .string):
            let spellings = Dictionary(grouping: Set((texts ?? []).map(\.text))) { $0.lowercased() }
            return (values ?? []).allSatisfy { value in
                let letters = value.text.count(where: \.isLetter)
                return spellings[value.text.lowercased()]?.count == 1 << letters
            }
        default: return true
        }
    }

    private func carryOver(_ value: PlanValue) -> PlanValue? {
        switch (value, new) {
        case (_, .any): nil
        case (.integer(let integer), .number): .number(Double(integer))
        case (.integer(let integer), .decimal): .string(String(integer))
        case (.number(let number), .decimal): .string(String(number))
        default: value
        }
    }
}
