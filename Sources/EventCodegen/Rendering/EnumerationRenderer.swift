import EventSchema

/// Writes the enum of a property that allows only some values.
struct EnumerationRenderer {
    private let enumeration: SwiftEnumeration
    private let access: String
    private let names: TypeNames

    init(_ enumeration: SwiftEnumeration, access: String, names: TypeNames) {
        self.enumeration = enumeration
        self.access = access
        self.names = names
    }

    func render() -> [String] {
        let conformances = [rawType, names.swift("CaseIterable"), names.swift("Hashable"), names.swift("Sendable")]
        let cases = enumeration.cases.map { "case \($0.name)\(rawValue(of: $0.value))" }
        let places = enumeration.cases.enumerated().map { "case .\(SwiftName.afterDot($1.name)): \($0)" }
        let ordinal = SwiftText.block(
            "fileprivate var ordinal: \(names.swift("Int"))",
            ["switch self {"] + places + ["}"]
        )
        let name = enumeration.property.name
        let owner = name.isEmpty ? "an element" : "`\(name)`"
        return SwiftText.documentation(["The values that the plan allows for \(owner)."])
            + SwiftText.block(
                "\(access)enum \(enumeration.typeName): \(conformances.compactMap(\.self).joined(separator: ", "))",
                cases + ["", "/// The value's place in the plan."] + ordinal
            )
    }

    /// `nil` for Booleans, because an enum cannot have Boolean raw values.
    private var rawType: String? {
        switch enumeration.property.type.kind {
        case .boolean: nil
        case .integer: names.swift("Int")
        case .number: names.swift("Double")
        default: names.swift("String")
        }
    }

    private func rawValue(of value: PlanValue) -> String {
        switch value {
        case .string(let text): " = " + SwiftText.literal(text)
        case .boolean, .array, .object: ""
        case .integer, .number: " = " + value.text
        }
    }
}
