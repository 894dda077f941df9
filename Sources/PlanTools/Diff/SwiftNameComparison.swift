import EventSchema

/// The second stage, for what generated Swift calls a property and what comes of it, stated or not.
enum SwiftNameComparison {
    /// What says that the property, or the type that is made for it, has another name.
    static func ownNames(from old: PropertyDefinition, to new: PropertyDefinition) -> [String] {
        // What an array holds has no name of its own; its type is the property's.
        guard !new.name.isEmpty else { return [] }
        let member = sentence("the Swift name", old.swiftMemberName, new.swiftMemberName)
        guard old.hasNestedType, new.hasNestedType else { return [member].compactMap(\.self) }
        let type = sentence("the Swift type", old.swiftNestedTypeName, new.swiftNestedTypeName)
        return [member, type].compactMap(\.self)
    }

    /// What says that an allowed value that stayed has another case, one for each.
    static func cases(from old: PropertyDefinition, to new: PropertyDefinition) -> [String] {
        // Other types have other cases altogether, and are told as such.
        guard old.type == new.type, let before = old.enumeration, let after = new.enumeration else { return [] }
        let known = DistinctValues(before, type: old.type)
        return after.compactMap { value in
            known.first(sameAs: value).flatMap {
                sentence("the Swift case", old.swiftCaseName(for: $0), new.swiftCaseName(for: value))
            }
        }
    }

    private static func sentence(_ thing: String, _ old: String, _ new: String) -> String? {
        guard old != new else { return nil }
        return ChangeSentence.change(of: thing, from: SwiftName.unescaped(old), to: SwiftName.unescaped(new))
    }
}

extension PropertyDefinition {
    /// Whether generated Swift has a type for its objects or its allowed values.
    fileprivate var hasNestedType: Bool { enumeration != nil || properties != nil || items?.hasNestedType == true }
}
