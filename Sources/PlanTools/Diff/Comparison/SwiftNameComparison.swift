import EventSchema

/// The second stage for the names of a property in generated Swift, stated or derived.
enum SwiftNameComparison {
    /// Sentences that the property, or the type that is generated for it, has another name.
    static func ownNames(from old: PropertyDefinition, to new: PropertyDefinition) -> [String] {
        // The items of an array have no name; their type is named after the property.
        guard !new.name.isEmpty else { return [] }
        let member = sentence("the Swift name", old.swiftMemberName, new.swiftMemberName)
        guard old.hasNestedType, new.hasNestedType else { return [member].compactMap(\.self) }
        let type = sentence("the Swift type", old.swiftNestedTypeName, new.swiftNestedTypeName)
        return [member, type].compactMap(\.self)
    }

    /// A sentence for each remaining allowed value whose case has another name.
    static func cases(from old: PropertyDefinition, to new: PropertyDefinition) -> [String] {
        // A change of type is reported as such.
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
