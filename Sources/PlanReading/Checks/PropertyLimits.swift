internal import EventModel
package import EventSchema
import PatternMatching

/// The limits of a property, for checking values in the plan itself.
package struct PropertyLimits {
    private let property: PropertyDefinition
    private let pattern: Pattern?

    /// Prepares the limits of a property; a pattern that does not compile is ignored.
    package init(_ property: PropertyDefinition) {
        self.property = property
        pattern = property.pattern.flatMap { try? Pattern($0) }
    }

    /// Whether minimum, maximum, the lengths and the pattern allow a value of the property's type.
    package func allow(_ value: PlanValue) -> Bool {
        if let minimum = property.minimum, Self.isLess(value, than: minimum, as: property.type) { return false }
        if let maximum = property.maximum, Self.isLess(maximum, than: value, as: property.type) { return false }
        guard property.type == .string, case .string(let text) = value else { return true }
        let length = text.unicodeScalars.count
        return length >= property.minLength ?? 0 && length <= property.maxLength ?? .max
            && pattern?.matches(text) != false
    }

    /// Compares two values of a numeric type; `false` for all other types.
    package static func isLess(_ left: PlanValue, than right: PlanValue, as type: PropertyType) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): return left < right
        case (.number(let left), .number(let right)): return left < right
        case (.string(let left), .string(let right)) where type == .decimal:
            guard let left = ExactDecimal(left), let right = ExactDecimal(right) else { return false }
            return left < right
        default: return false
        }
    }
}
