internal import EventModel

/// Values of one type, each once, in the order in which they came.
struct DistinctValues {
    private(set) var inOrder: [PlanValue] = []
    private var known: Set<Key> = []
    private let type: PropertyType

    init(_ values: [PlanValue] = [], type: PropertyType) {
        self.type = type
        for value in values { insert(value) }
    }

    @discardableResult
    mutating func insert(_ value: PlanValue) -> Bool {
        guard known.insert(key(value)).inserted else { return false }
        inOrder.append(value)
        return true
    }

    func contains(_ value: PlanValue) -> Bool { known.contains(key(value)) }

    /// What makes values the same: for decimals the number, whatever its zeros; for texts their bytes.
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
