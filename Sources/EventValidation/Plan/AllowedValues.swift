import EventModel
import EventSchema

/// The values of an enumeration in which equal values can have different texts: 1.50 is 1.5, and 1e3 is 1000.
enum AllowedValues {
    case decimals(Set<ExactDecimal>)
    case numbers(Set<Double>)
    /// In microseconds.
    case moments(Set<Int64>)

    /// `nil` for types whose values are equal only if their canonical text is.
    init?(_ values: [PlanValue], of type: PropertyType) {
        switch type {
        case .decimal: self = .decimals(Set(values.compactMap(\.decimal)))
        case .number: self = .numbers(Set(values.compactMap(\.number)))
        case .timestamp: self = .moments(Set(values.compactMap { $0.timestamp?.microseconds }))
        default: return nil
        }
    }

    func contains(_ value: ExactDecimal) -> Bool {
        if case .decimals(let values) = self { values.contains(value) } else { false }
    }

    func contains(_ value: Double) -> Bool {
        if case .numbers(let values) = self { values.contains(value) } else { false }
    }

    func contains(_ time: Timestamp) -> Bool {
        if case .moments(let values) = self { values.contains(time.microseconds) } else { false }
    }
}

extension PlanValue {
    /// The value as a limit or an allowed value of an integer.
    var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The value as a limit or an allowed value of a number.
    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The value as a limit or an allowed value of a decimal.
    var decimal: ExactDecimal? {
        switch self {
        case .integer(let value): ExactDecimal(String(value))
        case .number(let value): ExactDecimal(value.description)
        case .string(let text): ExactDecimal(text)
        default: nil
        }
    }

    /// The value as an allowed value of a timestamp.
    var timestamp: Timestamp? {
        if case .string(let text) = self { Timestamp(text) } else { nil }
    }
}
