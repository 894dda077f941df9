import EventSchema
import PlanReading

/// The first stage: translates definitions to the types to generate, with valid Swift names.
struct Translator {
    private let options: CodegenOptions
    private(set) var diagnostics: [Diagnostic] = []

    init(options: CodegenOptions) {
        self.options = options
    }

    /// Translates a plan; names that collide are diagnostics.
    mutating func translate(_ plan: TrackingPlan) -> [SwiftEvent] {
        let events = plan.events.map { definition in
            let name = definition.swiftTypeName
            let object = object(
                named: name,
                definition.properties,
                isOpen: definition.allowsAdditionalProperties,
                location: definition.location
            )
            return SwiftEvent(definition: definition, object: object)
        }
        diagnostics += NamedThing.collisions(
            of:
                events.map { event in
                    NamedThing(
                        "the event \(quoted(event.definition.key))",
                        event.object.typeName,
                        at: event.definition.location
                    )
                }
        )
        reportHiddenNames(events)
        return events
    }

    /// Reports types that would shadow names that generated code uses.
    private mutating func reportHiddenNames(_ events: [SwiftEvent]) {
        for event in events {
            for member in event.object.members {
                guard let name = member.type.nestedName, SwiftName.unescaped(name) == options.namespace else {
                    continue
                }
                let sentence = """
                    the type of \(quoted(member.property.name)) becomes '\(name)' in Swift, which is the name of the \
                    namespace; give the property a 'swiftName'
                    """
                diagnostics.append(Diagnostic(.swiftNameCollision, at: member.property.location, sentence))
            }
        }
        let hidden = Self.moduleNames.union([options.namespace, "catalog"])
        for event in events where hidden.contains(SwiftName.unescaped(event.object.typeName)) {
            let sentence = """
                the event becomes the Swift type '\(event.object.typeName)', which generated code \
                needs as the name of a module, of the namespace or of the catalog; give the event a 'swiftName'
                """
            diagnostics.append(Diagnostic(.swiftNameCollision, at: event.definition.location, sentence))
        }
    }

    /// The modules that generated code names; types within events get an underscore instead.
    private static let moduleNames: Set<String> = ["Swift", "Sluice"]

    private mutating func object(
        named name: String,
        _ properties: [PropertyDefinition],
        isOpen: Bool,
        location: PlanLocation
    ) -> SwiftObject {
        let members = properties.map { property in
            SwiftMember(
                name: property.swiftMemberName,
                property: property,
                type: type(of: property, named: property.swiftNestedTypeName)
            )
        }
        let object = SwiftObject(typeName: name, members: members, isOpen: isOpen, location: location)
        diagnostics += NamedThing.collisions(of: Self.things(in: object))
        return object
    }

    /// Everything that has a name inside a struct.
    private static func things(in object: SwiftObject) -> [NamedThing] {
        let own = NamedThing(
            "the property for what the plan does not name",
            additionalPropertiesName,
            at: object.location
        )
        let properties = object.members.map { member in
            NamedThing("the property \(quoted(member.property.name))", member.name, at: member.property.location)
        }
        let storage = object.members.filter { $0.storageName != $0.name }.map { member in
            NamedThing(
                "the storage of \(quoted(member.property.name))",
                member.storageName,
                at: member.property.location
            )
        }
        let types = object.members.compactMap { member in
            member.type.nestedName.map {
                NamedThing("the type of \(quoted(member.property.name))", $0, at: member.property.location)
            }
        }
        return (object.isOpen ? [own] : []) + properties + storage + types
    }

    /// The name of the property for additional properties.
    static let additionalPropertiesName = "additionalProperties"

    private mutating func type(of property: PropertyDefinition, named name: String) -> SwiftType {
        if let values = property.enumeration {
            return .enumeration(enumeration(named: name, of: property, values))
        }
        if let properties = property.properties {
            return .object(object(named: name, properties, isOpen: false, location: property.location))
        }
        if let items = property.items {
            return .array(type(of: items, named: name), hasOptionalElements: items.isNullable)
        }
        return .scalar(property.type)
    }

    private mutating func enumeration(
        named name: String,
        of property: PropertyDefinition,
        _ values: [PlanValue]
    ) -> SwiftEnumeration {
        let cases = values.map { SwiftEnumeration.Case(name: property.swiftCaseName(for: $0), value: $0) }
        report(cases, at: property.location)
        return SwiftEnumeration(typeName: name, property: property, cases: cases)
    }

    /// Reports values whose cases collide, at the property, because values have no places of their own.
    private mutating func report(_ cases: [SwiftEnumeration.Case], at location: PlanLocation) {
        var known: [String: PlanValue] = [:]
        for second in cases {
            guard let first = known[second.name] else {
                known[second.name] = second.value
                continue
            }
            let sentence = """
                the values \(quoted(first.text)) and \(quoted(second.value.text)) both become the case \
                \(quoted(second.name)); name one of them in 'swiftCases'
                """
            diagnostics.append(Diagnostic(.swiftNameCollision, at: location, sentence))
        }
    }
}
