package import EventSchema

/// Events that mostly follow a plan.
package struct GeneratedEvent {
    /// An event that follows the plan, except that a value may exceed a limit.
    package static func make(of plan: TrackingPlan, _ source: inout CaseSource) -> ReferenceJSON {
        let definition = source.pick(plan.events)
        var members = [member("name", .text(definition.name))]
        if !source.once(in: 4) { members.append(member("id", .text(GeneratedText.uuid(&source)))) }
        if source.once(in: 2) { members.append(member("time", .text(GeneratedTime.timestamp(&source)))) }
        for field in ["userId", "anonymousId", "sessionId"] where source.once(in: 3) {
            members.append(member(field, .string(GeneratedText.string(&source))))
        }
        if source.once(in: 4) { members.append(member("context", freeObject(&source, depth: 0))) }
        let payload = object(definition.properties, isOpen: definition.allowsAdditionalProperties, &source)
        if !(definition.properties.isEmpty && source.once(in: 2)) { members.append(member("payload", payload)) }
        if source.once(in: 3) { members.shuffle(using: &source) }
        return .object(members)
    }

    package static func member(_ key: String, _ value: ReferenceJSON) -> ReferenceMember {
        ReferenceMember(key: key.unicodeScalars.map(\.value), value: value)
    }

    private static func object(
        _ properties: [PropertyDefinition],
        isOpen: Bool,
        _ source: inout CaseSource
    ) -> ReferenceJSON {
        var members: [ReferenceMember] = []
        for property in properties where property.isRequired || source.once(in: 2) {
            members.append(member(property.name, value(of: property, &source)))
        }
        if isOpen, source.once(in: 2) {
            for index in 0..<source.number(1...11) { members.append(member("more \(index)", free(&source, depth: 1))) }
        }
        if source.once(in: 4) { members.shuffle(using: &source) }
        return .object(members)
    }

    private static func value(of property: PropertyDefinition, _ source: inout CaseSource) -> ReferenceJSON {
        if property.isNullable, source.once(in: 4) { return .null }
        if let allowed = property.enumeration, !source.once(in: 3) {
            return written(source.pick(allowed), of: property.type, &source)
        }
        switch property.type.kind {
        case .string: return .string(GeneratedText.string(&source))
        case .integer: return .number(GeneratedText.integer(&source))
        case .number: return .number(GeneratedText.number(&source))
        case .decimal: return decimal(GeneratedText.decimal(&source), &source)
        case .boolean: return .boolean(source.once(in: 2))
        case .timestamp: return .text(GeneratedTime.timestamp(&source))
        case .date: return .text(GeneratedTime.date(&source))
        case .uuid: return .text(GeneratedText.uuid(&source))
        case .any: return free(&source, depth: 0)
        case .object:
            return property.properties.map { object($0, isOpen: false, &source) } ?? freeObject(&source, depth: 0)
        case .array:
            return .array(
                (0..<source.number(0...4)).map { _ in
                    property.items.map { value(of: $0, &source) } ?? free(&source, depth: 0)
                }
            )
        }
    }

    private static func decimal(_ text: String, _ source: inout CaseSource) -> ReferenceJSON {
        let isNumber = ReferenceDecimal(text) != nil && !text.isEmpty
        return isNumber && source.once(in: 2) ? .number(text) : .text(text)
    }

    private static func written(
        _ value: PlanValue,
        of type: PropertyType,
        _ source: inout CaseSource
    ) -> ReferenceJSON {
        switch value {
        case .string(let text) where type == .uuid && source.once(in: 2): .text(text.uppercased())
        case .string(let text) where type == .timestamp && source.once(in: 2):
            .text(text.replacing("Z", with: source.pick(["+00:00", "-00:00", ".000Z"])))
        case .string(let text): .text(text)
        case .integer(let number): .number(source.once(in: 3) ? "\(number).0" : String(number))
        case .number(let number):
            .number(source.once(in: 2) && number == number.rounded() ? String(Int64(number)) : number.description)
        default: .null
        }
    }

    // MARK: Without a plan

    package static func free(_ source: inout CaseSource, depth: Int) -> ReferenceJSON {
        switch source.number(0...(depth > 3 ? 4 : 6)) {
        case 0: .null
        case 1: .boolean(source.once(in: 2))
        case 2, 3: .string(GeneratedText.string(&source))
        case 4: .number(GeneratedText.number(&source))
        case 5: .array((0..<source.number(0...4)).map { _ in free(&source, depth: depth + 1) })
        default: freeObject(&source, depth: depth)
        }
    }

    private static func freeObject(_ source: inout CaseSource, depth: Int) -> ReferenceJSON {
        let count = source.once(in: 5) ? source.number(9...14) : source.number(0...4)
        return .object(
            (0..<count).map { ReferenceMember(key: [0x61 + UInt32($0)], value: free(&source, depth: depth + 1)) }
        )
    }
}
