/// One property of a payload, of an object, or the items of an array.
///
/// The limits have the same meaning as in JSON Schema (draft 2020-12); a limit is `nil` if the plan states none.
public struct PropertyDefinition: Sendable, Hashable {
    /// The key on the wire.
    public var name: String
    /// The type of the value.
    public var type: PropertyType
    /// Whether the key must be present.
    public var isRequired: Bool
    /// Whether the value may be `null`, even if `enumeration` lists other values.
    public var isNullable: Bool
    /// The name of the generated property, if the plan states one; for an array's items, the name of their type.
    public var swiftName: String?
    /// The names of the generated cases that the plan states, by the text of the value in `enumeration`.
    public var swiftCases: [String: String]
    /// What the property means.
    public var description: String?
    /// Says what to use instead, if the property is deprecated.
    public var deprecated: String?
    /// How the value is protected; `nil` if it is not sensitive.
    public var sensitivity: Sensitivity?
    /// The allowed values, all of type `type`; `nil` if all are allowed, as always for `array`, `object` and `any`.
    public var enumeration: [PlanValue]?
    /// The smallest allowed value, of type `type`; only for `integer`, `number` and `decimal`.
    public var minimum: PlanValue?
    /// The largest allowed value, of type `type`; only for `integer`, `number` and `decimal`.
    public var maximum: PlanValue?
    /// The minimum length of a string, in Unicode code points.
    public var minLength: Int?
    /// The maximum length of a string, in Unicode code points.
    public var maxLength: Int?
    /// A regular expression (RE2 syntax, unanchored) that a string must contain a match of.
    public var pattern: String?
    private var itemsBox: Box?
    /// The properties of an object, which may have no others; `nil` if the object may have any.
    public var properties: [PropertyDefinition]?
    /// Example values, for the people who read the plan.
    public var examples: [PlanValue]
    /// The place of the property in its plan file.
    public var location: PlanLocation

    /// The name of the generated property.
    package var swiftMemberName: String { swiftName.map(SwiftName.escaped) ?? SwiftName.member(name) }

    /// The name of the type that is generated for the property's object or `enumeration`, nested in the type that has the
    /// property; it ends in an underscore if the property itself has the same name.
    package var swiftNestedTypeName: String {
        let type = SwiftName.nestedType(items?.swiftName ?? swiftName ?? name)
        return type == swiftMemberName ? type + "_" : type
    }

    /// The name of the generated case for a value of `enumeration`.
    package func swiftCaseName(for value: PlanValue) -> String {
        swiftCases[value.text].map(SwiftName.escaped) ?? SwiftName.enumCase(value)
    }

    /// The items of an array, a property with an empty name; `nil` if the items may be anything.
    public var items: PropertyDefinition? {
        get { itemsBox?.value }
        set { itemsBox = newValue.map(Box.init) }
    }

    /// Makes a property without checking it, as a test may need it; `PlanReader` checks what it reads.
    public init(
        name: String,
        type: PropertyType,
        isRequired: Bool = true,
        isNullable: Bool = false,
        swiftName: String? = nil,
        swiftCases: [String: String] = [:],
        description: String? = nil,
        deprecated: String? = nil,
        sensitivity: Sensitivity? = nil,
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
        self.sensitivity = sensitivity
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

    /// A reference, because a struct cannot contain itself.
    private final class Box: Sendable, Hashable {
        let value: PropertyDefinition
        init(_ value: PropertyDefinition) { self.value = value }
        static func == (left: Box, right: Box) -> Bool { left.value == right.value }
        func hash(into hasher: inout Hasher) { hasher.combine(value) }
    }
}
