internal import EventModel

/// Distinct values of one type, in the order in which they were inserted.
package struct DistinctValues {
    package private(set) var inOrder: [PlanValue] = []
    private var known: [Key: PlanValue] = [:]
    private let type: PropertyType

    package init(_ values: [PlanValue] = [], type: PropertyType) {
        self.type = type
        for value in values { insert(value) }
    }

    @discardableResult
    package mutating func insert(_ value: PlanValue) -> Bool {
        let key = key(value)
        guard known[key] == nil else { return false }
        known[key] = value
        inOrder.append(value)
        return true
    }

    package func contains(_ value: PlanValue) -> Bool { first(sameAs: value) != nil }

    /// Whether both have the same values in the same order.
    package func hasSameOrder(as other: DistinctValues) -> Bool { inOrder.map(key) == other.inOrder.map(other.key) }

    /// The value, as it was inserted, that equals the given one.
    package func first(sameAs value: PlanValue) -> PlanValue? { known[key(value)] }

    /// What values are compared by: decimals by their number, whatever their trailing zeros; texts by their bytes.
    private enum Key: Hashable {
        case decimal(ExactDecimal)
        case text(ExactText)
        case value(PlanValue)
    }

    private func key(_ value: PlanValue) -> Key {
        if type == .decimal, case .string(let text) = value, let decimal = ExactDecimal(text) {
            return .decimal(decimal)
        }
        if case .string(let text) = value { return .text(ExactText(text)) }
        return .value(value)
    }
}
