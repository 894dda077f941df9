@_spi(CanonicalJSON) import EventModel
import EventSchema
import PatternMatching

/// Compiles a plan's definitions into the tables of a `CompiledPlan`.
final class PlanCompiler {
    let arena = PlanArena()
    private(set) var objects: [CompiledPlan.Object] = []
    private(set) var objectLocations: [PlanLocation] = []
    /// `nil` only while the objects in a property are being compiled.
    private(set) var properties: [CompiledPlan.Property?] = []
    private(set) var definitions: [PropertyDefinition] = []
    private(set) var patterns: [Pattern] = []
    private(set) var decimalLimits: [Int: CompiledPlan.DecimalLimits] = [:]
    private(set) var allowedValues: [Int: AllowedValues] = [:]

    var envelopeKeys: CompiledPlan.EnvelopeKeys {
        CompiledPlan.EnvelopeKeys(
            id: allocate("{\"id\":\""),
            receivedAt: allocate("\",\"receivedAt\":\""),
            userID: allocate(",\"userId\":"),
            anonymousID: allocate(",\"anonymousId\":"),
            sessionID: allocate(",\"sessionId\":"),
            context: allocate(",\"context\":"),
            payload: allocate(",\"payload\":")
        )
    }

    var quotedFields: UnsafePointer<ByteTable.Name> {
        arena.allocate(CompiledPlan.fieldNames.map { allocate("\"\($0)\":") })
    }

    func compile(_ event: EventDefinition) -> CompiledPlan.Event {
        CompiledPlan.Event(
            nameAndTimeKey: allocate("\",\"name\":" + json(event.name) + ",\"time\":\""),
            payload: compile(event.properties, isOpen: event.allowsAdditionalProperties, location: event.location),
            requiredProperties: event.properties.count(where: \.mustBePresent),
            isFlat: Self.areFlat(event.properties) && event.properties.allSatisfy { Treatment($0.sensitivity) == .keep }
        )
    }

    private func compile(_ members: [PropertyDefinition], isOpen: Bool, location: PlanLocation) -> Int {
        // An object's properties are adjacent, so their places are reserved before anything in them is compiled.
        let firstProperty = properties.count
        properties.append(contentsOf: members.map { _ in nil })
        definitions.append(contentsOf: members)
        for (offset, member) in members.enumerated() {
            properties[firstProperty + offset] = compile(member, at: firstProperty + offset)
        }
        let keys = ByteTable(members.map { Array($0.name.utf8) }, in: arena)
        objects.append(
            CompiledPlan.Object(
                keys: keys,
                suggestions: SuggestionTable(keys, in: arena),
                firstProperty: firstProperty,
                index: objects.count,
                isOpen: isOpen,
                isFlat: Self.areFlat(members)
            )
        )
        objectLocations.append(location)
        return objects.count - 1
    }

    private static func areFlat(_ members: [PropertyDefinition]) -> Bool {
        !members.contains { [.array, .object, .any].contains($0.type) }
    }

    private func compile(_ property: PropertyDefinition, at index: Int) -> CompiledPlan.Property {
        compileExactly(property, at: index)
        return CompiledPlan.Property(
            type: property.type.kind,
            isRequired: property.mustBePresent,
            isNullable: property.isNullable,
            treatment: Treatment(property.sensitivity),
            hasRange: property.minimum != nil || property.maximum != nil,
            hasLength: property.minLength != nil || property.maxLength != nil,
            key: allocate("," + json(property.name) + ":"),
            leastInteger: property.minimum?.integer ?? .min,
            greatestInteger: property.maximum?.integer ?? .max,
            leastNumber: property.minimum?.number ?? -.infinity,
            greatestNumber: property.maximum?.number ?? .infinity,
            leastLength: property.minLength ?? 0,
            greatestLength: property.maxLength ?? .max,
            index: index,
            pattern: property.pattern.map(compile(pattern:)) ?? -1,
            plainPattern: property.pattern.flatMap(PlainPattern.init).map { pattern in
                UnsafeBufferPointer(start: arena.allocate(pattern.steps), count: pattern.steps.count)
            },
            enumeration: property.enumeration.map { values in
                ByteTable(values.map { Array(canonical($0, as: property.type).utf8) }, in: arena)
            },
            items: property.items.map(compile(items:)) ?? -1,
            object: property.properties.map { compile($0, isOpen: false, location: property.location) } ?? -1
        )
    }

    private func compile(items: PropertyDefinition) -> Int {
        let index = properties.count
        properties.append(nil)
        definitions.append(items)
        properties[index] = compile(items, at: index)
        return index
    }

    private func compile(pattern: String) -> Int {
        do {
            patterns.append(try Pattern(pattern))
        } catch {
            preconditionFailure("the reader of plans refuses invalid patterns: \(error)")
        }
        return patterns.count - 1
    }

    /// Keeps the limits and values that neither a double nor a text represents exactly.
    private func compileExactly(_ property: PropertyDefinition, at index: Int) {
        if property.type == .decimal, property.minimum != nil || property.maximum != nil {
            decimalLimits[index] = CompiledPlan.DecimalLimits(
                least: property.minimum?.decimal,
                greatest: property.maximum?.decimal
            )
        }
        allowedValues[index] = property.enumeration.flatMap { AllowedValues($0, of: property.type) }
    }

    private func canonical(_ value: PlanValue, as type: PropertyType) -> String {
        switch (type, value) {
        case (.timestamp, .string(let text)): json(value.timestamp.map(\.description) ?? text)
        case (.uuid, .string(let text)): json(text.lowercased())
        case (.decimal, .string(let text)): json(ExactDecimal(text).map(\.description) ?? text)
        default: json(value)
        }
    }

    private func json(_ value: PlanValue) -> String {
        switch value {
        case .string(let text): return json(text)
        case .integer(let number): return String(number)
        case .number(let number):
            var builder = ByteBuilder(capacity: 32)
            builder.append(number)
            return String(decoding: builder.bytes, as: UTF8.self)
        case .boolean(let truth): return truth ? "true" : "false"
        case .array(let values): return "[" + values.map(json).joined(separator: ",") + "]"
        case .object(let members):
            return "{" + members.map { json($0.key) + ":" + json($0.value) }.joined(separator: ",") + "}"
        }
    }

    private func json(_ text: String) -> String {
        String(decoding: JSONString.canonical(text), as: UTF8.self)
    }

    private func allocate(_ text: String) -> ByteTable.Name {
        ByteTable.Name(start: arena.allocate(text: Array(text.utf8)), count: text.utf8.count)
    }
}
