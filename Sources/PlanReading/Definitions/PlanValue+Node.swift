internal import EventModel
import EventSchema

extension PlanValue {
    /// Converts a node to a value of a property; `nil` if it does not have the property's type.
    ///
    /// Equal values get the same form: values of type `number` are `.number` even if they are whole, and UUIDs are in lower
    /// case.
    init?(_ node: PlistNode, of property: PropertyDefinition) {
        let value: PlanValue? =
            switch property.type.kind {
            case .string: Self.text(node) { $0.unicodeScalars.contains("\0") ? nil : $0 }
            case .integer: Self.integer(node)
            case .number: Self.number(node)
            case .decimal: Self.decimal(node)
            case .boolean: Self.boolean(node)
            case .timestamp: Self.timestamp(node)
            case .date: Self.text(node) { CalendarDate($0) == nil ? nil : $0 }
            case .uuid: Self.text(node) { EventID($0)?.description }
            case .array: Self.array(node, of: property.items)
            case .object: Self.object(node, of: property.properties)
            case .any: Self.any(node)
            }
        guard let value else { return nil }
        self = value
    }

    private static func text(_ node: PlistNode, _ check: (String) -> String?) -> PlanValue? {
        guard case .string(let text) = node.value else { return nil }
        return check(text).map(PlanValue.string)
    }

    private static func integer(_ node: PlistNode) -> PlanValue? {
        switch node.value {
        case .integer(let integer): .integer(integer)
        case .real(let real): Int64(exactly: real).map(PlanValue.integer)
        default: nil
        }
    }

    private static func number(_ node: PlistNode) -> PlanValue? {
        switch node.value {
        case .integer(let integer): .number(Double(integer))
        case .real(let real): .number(real)
        default: nil
        }
    }

    private static func decimal(_ node: PlistNode) -> PlanValue? {
        let text: String
        switch node.value {
        case .integer(let integer): text = String(integer)
        // A double preserves up to 15 significant decimal digits.
        case .real(let real):
            text = String(real)
            guard let decimal = ExactDecimal(text), decimal.significantDigits <= 15 else { return nil }
        case .string(let string): text = string
        default: return nil
        }
        return ExactDecimal(text) == nil ? nil : .string(text)
    }

    private static func boolean(_ node: PlistNode) -> PlanValue? {
        guard case .boolean(let boolean) = node.value else { return nil }
        return .boolean(boolean)
    }

    private static func timestamp(_ node: PlistNode) -> PlanValue? {
        if case .date(let time) = node.value { return .string(time.description) }
        return text(node) { Timestamp($0) == nil ? nil : $0 }
    }

    private static func array(_ node: PlistNode, of items: PropertyDefinition?) -> PlanValue? {
        guard case .array(let nodes) = node.value else { return nil }
        let values = nodes.compactMap { node in items.map { PlanValue(node, of: $0) } ?? any(node) }
        return values.count == nodes.count ? .array(values) : nil
    }

    private static func object(_ node: PlistNode, of properties: [PropertyDefinition]?) -> PlanValue? {
        guard case .dictionary(let entries) = node.value else { return nil }
        guard let properties else { return any(node) }
        let known = Dictionary(properties.map { ($0.name, $0) }) { first, _ in first }
        let members = entries.compactMap { entry in
            known[entry.key.text]
                .flatMap { PlanValue(entry.value, of: $0) }
                .map { PlanMember(key: entry.key.text, value: $0) }
        }
        let present = Set(entries.map(\.key.text))
        let isComplete = properties.allSatisfy { !$0.isRequired || present.contains($0.name) }
        return isComplete && members.count == entries.count ? .object(members) : nil
    }

    private static func any(_ node: PlistNode) -> PlanValue? {
        switch node.value {
        case .string(let text): return .string(text)
        case .integer(let integer): return .integer(integer)
        case .real(let real): return .number(real)
        case .boolean(let boolean): return .boolean(boolean)
        case .date(let time): return .string(time.description)
        case .data, .unreadable: return nil
        case .array: return array(node, of: nil)
        case .dictionary(let entries):
            let members = entries.compactMap { entry in
                any(entry.value).map { PlanMember(key: entry.key.text, value: $0) }
            }
            return members.count == entries.count ? .object(members) : nil
        }
    }
}
