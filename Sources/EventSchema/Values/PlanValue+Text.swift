extension PlanValue {
    /// The value as its author would write it: text as it is, numbers in the fewest digits, and what holds others as JSON.
    public var text: String {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .number(let number): Self.digits(of: number)
        case .boolean(let truth): String(truth)
        case .array, .object: OrderedJSON(self).line
        }
    }

    /// The fewest digits that give the double back, without a point where it is whole and short.
    static func digits(of number: Double) -> String {
        if let whole = Int64(exactly: number), abs(number) < 1e15 { return String(whole) }
        return number.description
    }
}
