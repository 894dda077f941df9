import EventSchema

/// A struct to be generated: an event's payload, or an object within one.
struct SwiftObject {
    /// The type's name, in backticks if it needs them.
    let typeName: String
    /// Its properties, in the plan's order.
    let members: [SwiftMember]
    /// Whether it may hold properties that the plan does not define.
    let isOpen: Bool
    /// Where the plan describes it.
    let location: PlanLocation

    /// The enums to be generated inside it.
    var enumerations: [SwiftEnumeration] { members.compactMap(\.type.enumeration) }
    /// The structs to be generated inside it.
    var objects: [SwiftObject] { members.compactMap(\.type.object) }
    /// The names of all types inside it.
    var nestedTypeNames: [String] { members.compactMap(\.type.nestedName) }
}

/// An event to be generated.
struct SwiftEvent {
    let definition: EventDefinition
    let object: SwiftObject
}

/// A property to be generated.
struct SwiftMember {
    /// Its name, in backticks if it needs them.
    let name: String
    let property: PropertyDefinition
    let type: SwiftType

    /// Whether there may be no value.
    var isOptional: Bool { !property.isRequired || property.isNullable }
    /// The name of its storage: a deprecated property has one of its own, because nothing may use it without a warning.
    var storageName: String { property.deprecated == nil ? name : "_" + SwiftName.unescaped(name) }
}

/// An enum to be generated.
struct SwiftEnumeration {
    let typeName: String
    let property: PropertyDefinition
    /// Its cases, in the plan's order.
    let cases: [Case]

    struct Case {
        let name: String
        let value: PlanValue
    }
}

/// The type of a property, of an array's elements, or of the values inside them.
indirect enum SwiftType {
    /// One of the types that Swift or EventModel has, by the name of the type.
    case scalar(PropertyType)
    case enumeration(SwiftEnumeration)
    case object(SwiftObject)
    case array(SwiftType, hasOptionalElements: Bool)

    /// The name of the type that is generated for it, if any.
    var nestedName: String? { enumeration?.typeName ?? object?.typeName }

    /// The enum at the bottom of it.
    var enumeration: SwiftEnumeration? {
        switch self {
        case .enumeration(let enumeration): enumeration
        case .array(let element, _): element.enumeration
        default: nil
        }
    }

    /// The struct at the bottom of it.
    var object: SwiftObject? {
        switch self {
        case .object(let object): object
        case .array(let element, _): element.object
        default: nil
        }
    }
}
