/// A value written in the plan itself: an allowed value, a limit, an example.
///
/// The cases are the kinds of values that JSON has, without null, and no others will be added.
public indirect enum PlanValue: Sendable, Hashable {
    /// Text; also how decimals, timestamps, dates and UUIDs are written.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction.
    case number(Double)
    /// A Boolean; a plist distinguishes it from 0 and 1.
    case boolean(Bool)
    /// A list.
    case array([PlanValue])
    /// A dictionary, in the order of its keys in the file.
    case object([PlanMember])
}

/// A key and its value in a dictionary that the plan itself holds.
public struct PlanMember: Sendable, Hashable, Codable {
    /// The key.
    public var key: String
    /// The value.
    public var value: PlanValue

    /// Makes a member.
    public init(key: String, value: PlanValue) {
        self.key = key
        self.value = value
    }
}

// MARK: - Text

extension PlanValue {
    /// The value as its author would write it: text unchanged, numbers in the fewest digits, arrays and objects as JSON.
    package var text: String {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .number(let number): Self.digits(of: number)
        case .boolean(let truth): String(truth)
        case .array, .object: OrderedJSON(self).line
        }
    }

    /// The shortest digits that round-trip, without a decimal point for whole numbers below 10^15.
    static func digits(of number: Double) -> String {
        if let whole = Int64(exactly: number), abs(number) < 1e15 { return String(whole) }
        return number.description
    }
}

// MARK: - Coding

extension PlanValue: Codable {
    /// Each kind of value has its own key, because JSON does not distinguish 1 and 1.0.
    private enum CodingKeys: String, CodingKey {
        case string, integer, number, boolean, array, object
    }

    /// Reads the value of the only key.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        switch values.allKeys.first {
        case .string: self = .string(try values.decode(String.self, forKey: .string))
        case .integer: self = .integer(try values.decode(Int64.self, forKey: .integer))
        case .number: self = .number(try values.decode(Double.self, forKey: .number))
        case .boolean: self = .boolean(try values.decode(Bool.self, forKey: .boolean))
        case .array: self = .array(try values.decode([PlanValue].self, forKey: .array))
        case .object: self = .object(try values.decode([PlanMember].self, forKey: .object))
        case nil: throw DecodingError.dataCorrupted(.init(codingPath: values.codingPath, debugDescription: "no value"))
        }
    }

    /// Writes the value under the key of its kind.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .string(let text): try values.encode(text, forKey: .string)
        case .integer(let number): try values.encode(number, forKey: .integer)
        case .number(let number): try values.encode(number, forKey: .number)
        case .boolean(let truth): try values.encode(truth, forKey: .boolean)
        case .array(let elements): try values.encode(elements, forKey: .array)
        case .object(let members): try values.encode(members, forKey: .object)
        }
    }
}
