/// Any JSON value: what a property of type `any` holds, an object without stated properties, and an event's context.
public indirect enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A whole number of 64 bits.
    case integer(Int64)
    /// A number; one that is infinite or NaN is no JSON, and keeps the event from being taken.
    case number(Double)
    /// Text; a NUL character keeps the event from being taken.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// Members by key; encoded in the order of the keys' UTF-8.
    case object([String: JSONValue])
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Makes `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Makes a truth value.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Makes a whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Makes a number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Makes a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes a list.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Makes an object; of a key that is written twice the last value stands.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
