import EventModel
import EventSchema

/// A difference of a property.
struct PropertyDifference {
    let kind: PlanChange.Kind
    /// The property, or the object whose properties changed their order.
    let path: PropertyPath
    /// The same as `new` if there was none.
    let old: PropertyDefinition
    /// The same as `old` if there is none.
    let new: PropertyDefinition
    let sentence: String
}

/// The second stage for the properties of an event or of an object.
enum PropertyComparison {
    /// The differences of the properties at a path; those of an object come before those within it.
    ///
    /// Properties are paired by their name on the wire, and those left by the column that their names become.
    static func differences(
        from old: [PropertyDefinition],
        to new: [PropertyDefinition],
        path: PropertyPath
    ) -> [PropertyDifference] {
        let pairing = Pairing(from: old, to: new, by: [\.name, { SQLName.snakeCase($0.name) }])
        var differences = reordering(of: old, as: pairing, path)
        for (earlier, property) in pairing.pairs {
            let path = path.property(property.name)
            if let earlier {
                differences += self.differences(from: earlier, to: property, path: path)
            } else {
                differences.append(addition(of: property, path))
            }
        }
        differences += pairing.removed.map { property in
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

    /// Whether the remaining properties changed their order.
    private static func reordering(
        of old: [PropertyDefinition],
        as pairing: Pairing<PropertyDefinition>,
        _ path: PropertyPath
    ) -> [PropertyDifference] {
        let removed = Set(pairing.removed.map { ExactText($0.name) })
        let before = old.map { ExactText($0.name) }.filter { !removed.contains($0) }
        let now = pairing.pairs.compactMap { pair in pair.old.map { (ExactText($0.name), pair.new) } }
        guard let moved = zip(before, now).first(where: { $0 != $1.0 })?.1.1 else { return [] }
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
        if let comparable = TypeChange(from: old.type, to: new.type).carryOver(old, to: new) {
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
        if ExactText(old.name) == ExactText(new.name) {
            facts += SwiftNameComparison.ownNames(from: old, to: new).map { (.swiftNameChanged, $0) }
        } else {
            let sentence = ChangeSentence.change(of: "the name on the wire", from: old.name, to: new.name)
            facts.append((.nameChanged, sentence))
        }
        facts += SwiftNameComparison.cases(from: old, to: new).map { (.swiftNameChanged, $0) }
        if old.description != new.description { facts.append((.descriptionChanged, "the description changed")) }
        if let kind = EventComparison.deprecation(from: old.deprecated, to: new.deprecated) {
            facts.append((kind, EventComparison.deprecationSentence(from: old.deprecated, to: new.deprecated)))
        }
        let sensitivity = SensitivityChange(old: old.sensitivity, new: new.sensitivity)
        if old.sensitivity != new.sensitivity { facts.append((.sensitivityChanged, sensitivity.sentence)) }
        if old.examples != new.examples { facts.append((.examplesChanged, "the examples changed")) }
        return facts
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

/// The path to a property through objects and arrays.
struct PropertyPath: Sendable, Hashable {
    /// `lines[].price`; empty for the payload itself.
    private(set) var text = ""
    /// The number of enclosing objects and arrays; 1 for a property of the payload itself.
    private(set) var depth = 0

    /// Whether it is a property of the payload itself, which has a column.
    var hasColumn: Bool { depth == 1 }

    /// The property of an object.
    func property(_ name: String) -> PropertyPath {
        PropertyPath(text: text.isEmpty ? printable(name) : "\(text).\(printable(name))", depth: depth + 1)
    }

    /// The items of an array.
    var items: PropertyPath { PropertyPath(text: text + "[]", depth: depth + 1) }
}
