import EventSchema

/// Writes the struct of an event or of an object, with its nested types.
struct ObjectRenderer {
    private let object: SwiftObject
    private let access: String
    private let names: TypeNames

    init(_ object: SwiftObject, access: String, names: TypeNames) {
        self.object = object
        self.access = access
        self.names = names.inside(object)
    }

    /// The struct; `extra` has the members that only an event has.
    func render(documentation: [String], protocolName: String, extra: [String] = []) -> [String] {
        let parts = [properties, initializers.joined(separator: [""]).map(\.self), extra, encode, nested]
        let body = parts.filter { !$0.isEmpty }.joined(separator: [""]).map(\.self)
        let conformances = [names.sluice(protocolName), names.swift("Hashable"), names.swift("Sendable")]
        return documentation
            + SwiftText.block("\(access)struct \(object.typeName): \(conformances.joined(separator: ", "))", body)
    }

    // MARK: Properties

    private var properties: [String] {
        var lines: [String] = []
        for member in object.members {
            lines += documentation(of: member)
            guard let message = member.property.deprecated else {
                lines.append("\(access)var \(member.name): \(type(of: member))")
                continue
            }
            lines.append("@available(*, deprecated, message: \(SwiftText.literal(message)))")
            lines += SwiftText.block(
                "\(access)var \(member.name): \(type(of: member))",
                ["get { \(member.storageName) }", "set { \(member.storageName) = newValue }"]
            )
            lines.append("private var \(member.storageName): \(type(of: member))")
        }
        if object.isOpen {
            lines.append("/// The properties that the plan does not name, by their keys.")
            lines.append("\(access)var \(Translator.additionalPropertiesName): \(additionalPropertiesType)")
        }
        return lines
    }

    private var additionalPropertiesType: String { "[\(names.swift("String")): \(names.sluice("JSONValue"))]" }

    private func documentation(of member: SwiftMember) -> [String] {
        let property = member.property
        let example = property.examples.first.map { "For example `\($0.text)`." }
        let limits = LimitText.sentence(for: property)
        let key = SwiftName.unescaped(member.name) == property.name ? nil : "`\(property.name)` on the wire."
        return SwiftText.documentation([property.description ?? key, limits, example])
    }

    private func type(of member: SwiftMember) -> String {
        names.name(of: member.type) + (member.isOptional ? "?" : "")
    }

    // MARK: Initialisers

    /// The initialiser, and if properties are deprecated a preferred one without them.
    private var initializers: [[String]] {
        let current = object.members.filter { $0.property.deprecated == nil || !$0.isOptional }
        guard current.count < object.members.count else {
            return [initializer(taking: object.members, isDeprecated: false)]
        }
        return [
            initializer(taking: current, isDeprecated: false), initializer(taking: object.members, isDeprecated: true),
        ]
    }

    private func initializer(taking members: [SwiftMember], isDeprecated: Bool) -> [String] {
        // If both initialisers match, Swift prefers the one with fewer defaults: that without deprecated properties.
        var parameters = members.map { "\($0.name): \(type(of: $0))" + ($0.isOptional ? " = nil" : "") }
        if object.isOpen {
            parameters.append("\(Translator.additionalPropertiesName): \(additionalPropertiesType) = [:]")
        }
        var body = object.members.map { member in
            let isTaken = members.contains { $0.name == member.name }
            return "self.\(SwiftName.afterDot(member.storageName)) = \(isTaken ? member.name : "nil")"
        }
        if object.isOpen {
            body.append("self.\(Translator.additionalPropertiesName) = \(Translator.additionalPropertiesName)")
        }
        let taken = isDeprecated ? "the properties, deprecated ones as well" : "the properties"
        var lines = SwiftText.documentation(["Takes \(taken), in the order of the plan."])
        if isDeprecated {
            let messages = object.members.compactMap { member in
                member.property.deprecated.map { "\(SwiftName.unescaped(member.name)): \($0)" }
            }
            lines.append("@available(*, deprecated, message: \(SwiftText.literal(messages.joined(separator: "; "))))")
        }
        let oneLine = "\(access)init(\(parameters.joined(separator: ", ")))"
        guard oneLine.count > 100 else { return lines + SwiftText.block(oneLine, body) }
        let broken = parameters.enumerated().map { "    \($1)\($0 == parameters.count - 1 ? "" : ",")" }
        return lines + ["\(access)init("] + broken + SwiftText.block(")", body)
    }

    // MARK: Encoding

    private var encode: [String] {
        var calls = object.members.map { member in
            // The parameter has the same name.
            let value = member.storageName == "payload" ? "self.payload" : member.storageName
            return "payload." + call(for: member.type, on: value, isOptional: member.isOptional)
        }
        if object.isOpen { calls.append("payload.additionalProperties(\(Translator.additionalPropertiesName))") }
        return SwiftText.documentation(["Encodes the properties, in the order of the plan."])
            + SwiftText.block("\(access)func encode(into payload: inout \(names.sluice("PayloadEncoder")))", calls)
    }

    private func call(for type: SwiftType, on value: String, isOptional: Bool) -> String {
        switch type {
        case .scalar(let type): "\(type.rawValue)(\(value))"
        case .enumeration: "enumeration(\(value)\(isOptional ? "?" : "").ordinal)"
        case .object: "object(\(value))"
        case .array(let element, let hasOptionalElements):
            "array(\(value)) { $0.\(call(for: element, on: "$1", isOptional: hasOptionalElements)) }"
        }
    }

    // MARK: Types inside

    private var nested: [String] {
        let enumerations = object.enumerations.map { EnumerationRenderer($0, access: access, names: names).render() }
        let objects = object.objects.map { nested in
            ObjectRenderer(nested, access: access, names: names).render(
                documentation: SwiftText.documentation(["An object of ``\(SwiftName.unescaped(object.typeName))``."]),
                protocolName: "PayloadObject"
            )
        }
        return (enumerations + objects).joined(separator: [""]).map(\.self)
    }
}

/// Describes limits that the type does not express, and that are checked when an event is tracked.
private enum LimitText {
    /// A sentence; `nil` if there are no limits.
    static func sentence(for property: PropertyDefinition) -> String? {
        var limits: [String] = []
        if let minimum = property.minimum { limits.append("at least \(minimum.text)") }
        if let maximum = property.maximum { limits.append("at most \(maximum.text)") }
        if let length = property.minLength { limits.append("at least \(characters(length))") }
        if let length = property.maxLength { limits.append("at most \(characters(length))") }
        if let pattern = property.pattern { limits.append("matches `\(pattern)`") }
        guard let first = limits.first else { return nil }
        return first.prefix(1).uppercased() + first.dropFirst() + limits.dropFirst().map { ", " + $0 }.joined() + "."
    }

    private static func characters(_ count: Int) -> String { "\(count) character\(count == 1 ? "" : "s")" }
}
