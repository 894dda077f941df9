import EventSchema

/// The first stage: definitions become the types that are to be generated, with names that Swift takes.
struct Translator {
    private let options: CodegenOptions
    private(set) var diagnostics: [Diagnostic] = []

    init(options: CodegenOptions) {
        self.options = options
    }

    /// Translates a plan; what it cannot name is a diagnostic.
    mutating func translate(_ plan: TrackingPlan) -> [SwiftEvent] {
        let events = plan.events.map { definition in
            let name = definition.swiftTypeName(prefix: options.typePrefix)
            let object = object(
                named: name,
                definition.properties,
                isOpen: definition.allowsAdditionalProperties,
                location: definition.location
            )
            return SwiftEvent(definition: definition, object: object)
        }
        report(events.map { ($0.object.typeName, $0.definition.location) }, as: "type")
        for event in events where Self.moduleNames.contains(event.object.typeName) {
            let sentence = """
                the event becomes the Swift type '\(event.object.typeName)', which hides the module of that name; give \
                it a 'swiftName', or all events a type prefix
                """
            diagnostics.append(Diagnostic(.swiftNameCollision, at: event.definition.location, sentence))
        }
        return events
    }

    /// The modules that generated code names; types within events get an underscore instead.
    private static let moduleNames: Set<String> = ["Swift", "EventModel", "EventPipeline"]

    private mutating func object(
        named name: String,
        _ properties: [PropertyDefinition],
        isOpen: Bool,
        location: SourceLocation
    ) -> SwiftObject {
        let members = properties.map { property in
            SwiftMember(
                name: property.swiftMemberName,
                property: property,
                type: type(of: property, named: property.swiftNestedTypeName)
            )
        }
        let object = SwiftObject(typeName: name, members: members, isOpen: isOpen, location: location)
        let nested =
            members.map { ($0.name, $0.property.location) }
            + object.enumerations.map { ($0.typeName, $0.property.location) }
            + object.objects.map { ($0.typeName, $0.location) }
        report(nested, as: "name")
        if isOpen {
            let own = [(Self.additionalPropertiesName, location)]
            report(own + members.map { ($0.name, $0.property.location) }, as: "property")
        }
        return object
    }

    /// The property that holds what the plan does not name.
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
        report(cases.map { ($0.name, property.location) }, as: "case", remedy: "name one of them in 'swiftCases'")
        return SwiftEnumeration(typeName: name, property: property, cases: cases)
    }

    /// Reports each name that stands for a second thing.
    private mutating func report(
        _ names: [(name: String, location: SourceLocation)],
        as thing: String,
        remedy: String = "give one of them a 'swiftName'"
    ) {
        var known: [String: SourceLocation] = [:]
        for (name, location) in names {
            guard let first = known.updateValue(location, forKey: name) else { continue }
            let sentence = """
                two things become the Swift \(thing) '\(name)', the other one at \(first); \(remedy)
                """
            diagnostics.append(Diagnostic(.swiftNameCollision, at: location, sentence))
        }
    }
}

extension EventDefinition {
    /// The name of the event's type.
    func swiftTypeName(prefix: String) -> String {
        prefix.isEmpty ? swiftTypeName : prefix + SwiftName.unescaped(swiftTypeName)
    }
}
