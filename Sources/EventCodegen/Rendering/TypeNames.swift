import EventSchema

/// Qualifies names of types that a generated type, or a type of the same module, would shadow.
struct TypeNames {
    /// The names of the generated types in scope.
    private var visible: Set<String>
    private let library: CodegenOptions.Library

    init(events: [SwiftEvent], namespace: String, library: CodegenOptions.Library) {
        self.library = library
        visible = Set(events.map { SwiftName.unescaped($0.object.typeName) }).union([namespace])
    }

    /// The names in scope inside a struct.
    func inside(_ object: SwiftObject) -> TypeNames {
        var names = self
        names.visible.formUnion(object.nestedTypeNames.map(SwiftName.unescaped))
        return names
    }

    /// A type of the standard library.
    func swift(_ name: String) -> String { visible.contains(name) ? "Swift." + name : name }

    /// A type of the library, always qualified, because a service may have a type of the same name.
    func sluice(_ name: String) -> String { library.rawValue + "." + name }

    /// The type of a property, without its optionality.
    func name(of type: SwiftType) -> String {
        switch type {
        case .scalar(let type): name(of: type)
        case .enumeration(let enumeration): enumeration.typeName
        case .object(let object): object.typeName
        case .array(let element, let hasOptionalElements): "[\(name(of: element))\(hasOptionalElements ? "?" : "")]"
        }
    }

    private func name(of type: PropertyType) -> String {
        switch type.kind {
        case .string: swift("String")
        case .integer: swift("Int")
        case .number: swift("Double")
        case .boolean: swift("Bool")
        case .decimal: sluice("ExactDecimal")
        case .timestamp: sluice("Timestamp")
        case .date: sluice("CalendarDate")
        case .uuid: sluice("EventID")
        case .any: sluice("JSONValue")
        case .array: "[\(sluice("JSONValue"))]"
        case .object: "[\(swift("String")): \(sluice("JSONValue"))]"
        }
    }
}
