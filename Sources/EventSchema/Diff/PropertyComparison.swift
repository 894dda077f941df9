/// A fact about a property: what of it is different.
struct PropertyDifference {
    let kind: PlanChange.Kind
    /// The property, or the object whose properties changed their order.
    let path: PropertyPath
    /// The same as `new` where there was none.
    let old: PropertyDefinition
    /// The same as `old` where there is none.
    let new: PropertyDefinition
    let sentence: String
}

/// The second stage, for the properties of an event or of an object.
enum PropertyComparison {
    /// What is different about the properties that stand at a path; each object's own before those within it.
    static func differences(
        from old: [PropertyDefinition],
        to new: [PropertyDefinition],
        path: PropertyPath
    ) -> [PropertyDifference] {
        let before = Dictionary(old.map { (ExactText($0.name), $0) }) { first, _ in first }
        let after = Set(new.map { ExactText($0.name) })
        var differences = reordering(of: old.filter { after.contains(ExactText($0.name)) }, as: new, path)
        for property in new {
            let path = path.property(property.name)
            if let earlier = before[ExactText(property.name)] {
                differences += self.differences(from: earlier, to: property, path: path)
            } else {
                differences.append(addition(of: property, path))
            }
        }
        differences += old.filter { !after.contains(ExactText($0.name)) }.map { property in
            PropertyDifference(
                kind: .propertyRemoved,
                path: path.property(property.name),
                old: property,
                new: property,
                sentence: "the property was removed"
            )
        }
        return differences
    }

    private static func addition(of property: PropertyDefinition, _ path: PropertyPath) -> PropertyDifference {
        PropertyDifference(
            kind: property.isRequired ? .requiredPropertyAdded : .optionalPropertyAdded,
            path: path,
            old: property,
            new: property,
            sentence: "the \(property.isRequired ? "required" : "optional") property was added"
        )
    }

    /// Whether the properties that stayed still follow each other as they did.
    private static func reordering(
        of kept: [PropertyDefinition],
        as new: [PropertyDefinition],
        _ path: PropertyPath
    ) -> [PropertyDifference] {
        let names = kept.map { ExactText($0.name) }
        let known = Set(names)
        let now = new.filter { known.contains(ExactText($0.name)) }
        guard let moved = zip(names, now).first(where: { $0.0 != ExactText($0.1.name) })?.1 else { return [] }
        let sentence = "the properties were reordered, from \(quoted(moved.name)) on"
        return [
            PropertyDifference(kind: .propertiesReordered, path: path, old: moved, new: moved, sentence: sentence)
        ]
    }

    // MARK: One property

    /// What is different about one property, or about an array's items.
    private static func differences(
        from old: PropertyDefinition,
        to new: PropertyDefinition,
        path: PropertyPath
    ) -> [PropertyDifference] {
        func difference(_ kind: PlanChange.Kind, _ sentence: String) -> PropertyDifference {
            PropertyDifference(kind: kind, path: path, old: old, new: new, sentence: sentence)
        }
        var differences: [PropertyDifference] = []
        if old.type != new.type {
            let sentence = "the type changed from \(old.type.rawValue) to \(new.type.rawValue)"
            differences.append(difference(.typeChanged, sentence))
        }
        differences += presence(from: old, to: new).map { difference($0, $1) }
        differences += words(from: old, to: new).map { difference($0, $1) }
        if let comparable = TypeChange(from: old.type, to: new.type).carryOver(old) {
            differences += LimitComparison.differences(from: comparable, to: new).map { difference($0, $1) }
        }
        guard old.type == new.type else { return differences }
        return differences + shape(from: old, to: new, path: path)
    }

    private static func presence(
        from old: PropertyDefinition,
        to new: PropertyDefinition
    ) -> [(PlanChange.Kind, String)] {
        var facts: [(PlanChange.Kind, String)] = []
        if old.isRequired != new.isRequired {
            facts.append(
                new.isRequired ? (.becameRequired, "it became required") : (.becameOptional, "it became optional")
            )
        }
        if old.isNullable != new.isNullable {
            facts.append(
                new.isNullable
                    ? (.becameNullable, "it may be null now") : (.becameNonNullable, "it may no longer be null")
            )
        }
        return facts
    }

    private static func words(
        from old: PropertyDefinition,
        to new: PropertyDefinition
    ) -> [(PlanChange.Kind, String)] {
        var facts: [(PlanChange.Kind, String)] = []
        if hasOtherSwiftNames(old, new) {
            facts.append((.swiftNameChanged, "'swiftName' or 'swiftCases' gives another name in Swift"))
        }
        if old.description != new.description { facts.append((.descriptionChanged, "the description changed")) }
        if let kind = EventComparison.deprecation(from: old.deprecated, to: new.deprecated) {
            facts.append((kind, EventComparison.deprecationSentence(from: old.deprecated, to: new.deprecated)))
        }
        if old.examples != new.examples { facts.append((.examplesChanged, "the examples changed")) }
        return facts
    }

    private static func hasOtherSwiftNames(_ old: PropertyDefinition, _ new: PropertyDefinition) -> Bool {
        let kept = (old.enumeration ?? []).map(\.text).filter {
            (new.enumeration ?? []).map(\.text).contains($0)
        }
        return old.swiftName != new.swiftName || kept.contains { old.swiftCases[$0] != new.swiftCases[$0] }
    }

    /// What is within an array or an object.
    private static func shape(
        from old: PropertyDefinition,
        to new: PropertyDefinition,
        path: PropertyPath
    ) -> [PropertyDifference] {
        func difference(_ kind: PlanChange.Kind, _ sentence: String) -> [PropertyDifference] {
            [PropertyDifference(kind: kind, path: path, old: old, new: new, sentence: sentence)]
        }
        switch (old.items, new.items) {
        case (let before?, let after?): return differences(from: before, to: after, path: path.items)
        case (nil, .some): return difference(.shapeAdded, "'items' says now what the array holds")
        case (.some, nil): return difference(.shapeRemoved, "the array may hold anything now")
        case (nil, nil): break
        }
        switch (old.properties, new.properties) {
        case (let before?, let after?): return differences(from: before, to: after, path: path)
        case (nil, .some): return difference(.shapeAdded, "'properties' says now what the object holds")
        case (.some, nil): return difference(.shapeRemoved, "the object may hold anything now")
        case (nil, nil): return []
        }
    }
}
