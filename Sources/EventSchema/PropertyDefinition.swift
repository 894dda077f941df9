/// One property of a payload, of an object, or the items of an array.
///
/// The limits mean what they mean in JSON Schema (draft 2020-12); each is `nil` where the plan states none.
public struct PropertyDefinition: Sendable, Hashable {
    /// The key on the wire.
    public var name: String
    /// The type of the value.
    public var type: PropertyType
    /// Whether the key must be there.
    public var isRequired: Bool
    /// Whether the value may be `null`, whatever `enumeration` says.
    public var isNullable: Bool
    /// What generated Swift calls the property, where `SwiftName` alone would not do; for an array's items, what it calls
    /// their type.
    public var swiftName: String?
    /// What generated Swift calls the cases of `enumeration`, by their values' texts, where `SwiftName` alone would not do.
    public var swiftCases: [String: String]
    /// What the property means.
    public var description: String?
    /// What to use instead, when the property should no longer be sent.
    public var deprecated: String?
    /// The only values allowed, all of them of `type`; the reader gives none to `array`, `object` and `any`.
    public var enumeration: [PlanValue]?
    /// The least value allowed; `integer`, `number` and `decimal` only, and of that type.
    public var minimum: PlanValue?
    /// The greatest value allowed; `integer`, `number` and `decimal` only, and of that type.
    public var maximum: PlanValue?
    /// The least length of a string, in Unicode code points.
    public var minLength: Int?
    /// The greatest length of a string, in Unicode code points.
    public var maxLength: Int?
    /// A regular expression (RE2 syntax, unanchored) that a string must contain a match of.
    public var pattern: String?
    private var itemsBox: Box?
    /// What an object holds and nothing else; `nil` for an object of any kind.
    public var properties: [PropertyDefinition]?
    /// Values that show what is meant.
    public var examples: [PlanValue]
    /// Where the property stands.
    public var location: PlanLocation

    /// What generated Swift calls the property.
    public var swiftMemberName: String { swiftName.map(SwiftName.escaped) ?? SwiftName.member(name) }

    /// What generated Swift calls the type of its objects, or of its `enumeration`, within the type that has the property;
    /// with an underscore where the property itself is called so.
    public var swiftNestedTypeName: String {
        let type = SwiftName.nestedType(items?.swiftName ?? swiftName ?? name)
        return type == swiftMemberName ? type + "_" : type
    }

    /// What generated Swift calls the case of one of the values of `enumeration`.
    public func swiftCaseName(for value: PlanValue) -> String {
        swiftCases[value.text].map(SwiftName.escaped) ?? SwiftName.enumCase(value)
    }

    /// What an array holds, under an empty name; `nil` for items of any kind.
    public var items: PropertyDefinition? {
        get { itemsBox?.value }
        set { itemsBox = newValue.map(Box.init) }
    }

    /// Makes a property; the reader does this from a plist, tests do it by hand.
    public init(
        name: String,
        type: PropertyType,
        isRequired: Bool = true,
        isNullable: Bool = false,
        swiftName: String? = nil,
        swiftCases: [String: String] = [:],
        description: String? = nil,
        deprecated: String? = nil,
        enumeration: [PlanValue]? = nil,
        minimum: PlanValue? = nil,
        maximum: PlanValue? = nil,
        minLength: Int? = nil,
        maxLength: Int? = nil,
        pattern: String? = nil,
        items: PropertyDefinition? = nil,
        properties: [PropertyDefinition]? = nil,
        examples: [PlanValue] = [],
        location: PlanLocation
    ) {
        self.name = name
        self.type = type
        self.isRequired = isRequired
        self.isNullable = isNullable
        self.swiftName = swiftName
        self.swiftCases = swiftCases
        self.description = description
        self.deprecated = deprecated
        self.enumeration = enumeration
        self.minimum = minimum
        self.maximum = maximum
        self.minLength = minLength
        self.maxLength = maxLength
        self.pattern = pattern
        self.itemsBox = items.map(Box.init)
        self.properties = properties
        self.examples = examples
        self.location = location
    }

    /// Breaks the recursion that a struct cannot hold itself.
    private final class Box: Sendable, Hashable {
        let value: PropertyDefinition
        init(_ value: PropertyDefinition) { self.value = value }
        static func == (left: Box, right: Box) -> Bool { left.value == right.value }
        func hash(into hasher: inout Hasher) { hasher.combine(value) }
    }
}

/// The types a property can have.
public enum PropertyType: String, Sendable, Hashable, Codable, CaseIterable, BitwiseCopyable {
    /// Unicode text without NUL.
    case string
    /// A 64-bit signed integer; `1.0` is one, as in JSON Schema.
    case integer
    /// An IEEE 754 double, never infinite or NaN.
    case number
    /// An exact decimal number; on the wire a JSON number of at most 15 significant digits, or a string.
    case decimal
    /// `true` or `false`.
    case boolean
    /// A moment, as an RFC 3339 `date-time`.
    case timestamp
    /// A day, as an RFC 3339 `full-date`.
    case date
    /// A UUID in the text form of RFC 9562, in either case.
    case uuid
    /// A JSON array.
    case array
    /// A JSON object.
    case object
    /// Any JSON value but null, unless nullable.
    case any
}

/// A value written in the plan itself: an allowed value, a limit, an example.
public indirect enum PlanValue: Sendable, Hashable {
    /// Text; also how decimals, timestamps, dates and UUIDs are written.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction.
    case number(Double)
    /// A truth value; a plist keeps it apart from 0 and 1.
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
