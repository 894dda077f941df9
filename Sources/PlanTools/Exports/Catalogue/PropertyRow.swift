import EventModel
import EventSchema

/// A property with its path in the payload, as a row of a list.
struct PropertyRow {
    /// The path to it, such as `lines[].` or `address.`; empty for the payload itself.
    let parent: String
    let name: String
    /// The number of enclosing objects and arrays below the payload.
    let depth: Int
    /// Whether it is the row of an array's items, which are neither required nor optional.
    var isItem = false
    let definition: PropertyDefinition

    /// The properties of a payload, each followed by its nested properties.
    static func rows(of properties: [PropertyDefinition], parent: String = "", depth: Int = 0) -> [PropertyRow] {
        properties.flatMap { property in
            [PropertyRow(parent: parent, name: property.name, depth: depth, definition: property)]
                + inner(of: property, path: parent + property.name, depth: depth + 1)
        }
    }

    private static func inner(of property: PropertyDefinition, path: String, depth: Int) -> [PropertyRow] {
        if let properties = property.properties { return rows(of: properties, parent: path + ".", depth: depth) }
        guard let items = property.items else { return [] }
        let item = PropertyRow(parent: path, name: "[]", depth: depth, isItem: true, definition: items)
        let isWorthALine = items.description != nil || !PropertyFact.facts(of: items).isEmpty
        return (isWorthALine ? [item] : []) + inner(of: items, path: path + "[]", depth: depth)
    }

    /// `string`, `array of object`.
    var type: String {
        var words = [definition.type.rawValue]
        var items = definition.items
        while let item = items {
            words += ["of", item.type.rawValue]
            items = item.items
        }
        return words.joined(separator: " ")
    }
}

/// A limit, a list of allowed values, or examples of a property, for people.
struct PropertyFact {
    enum Content {
        /// Text.
        case words(String)
        /// Values as they would be sent.
        case values([String])
    }

    let label: String
    let content: Content

    /// Its limits, its allowed values, its examples and how it is protected.
    static func facts(of property: PropertyDefinition) -> [PropertyFact] {
        limits(of: property) + allowedValues(of: property) + examples(of: property) + privacy(of: property)
    }

    static func privacy(of property: PropertyDefinition) -> [PropertyFact] {
        guard let sensitivity = property.sensitivity else { return [] }
        return [PropertyFact(label: "Sensitive", content: .words(sensitivity.explanation))]
    }

    static func limits(of property: PropertyDefinition) -> [PropertyFact] {
        var facts: [PropertyFact] = []
        if let least = property.minimum { facts.append(PropertyFact(label: "At least", [least])) }
        if let greatest = property.maximum { facts.append(PropertyFact(label: "At most", [greatest])) }
        if let length = length(of: property) { facts.append(PropertyFact(label: "Length", content: .words(length))) }
        if let pattern = property.pattern {
            facts.append(PropertyFact(label: "Pattern", content: .values([pattern])))
        }
        return facts
    }

    static func allowedValues(of property: PropertyDefinition) -> [PropertyFact] {
        property.enumeration.map { [PropertyFact(label: "One of", $0)] } ?? []
    }

    static func examples(of property: PropertyDefinition) -> [PropertyFact] {
        guard !property.examples.isEmpty else { return [] }
        return [PropertyFact(label: property.examples.count == 1 ? "Example" : "Examples", property.examples)]
    }

    private init(label: String, content: Content) {
        self.label = label
        self.content = content
    }

    private init(label: String, _ values: [PlanValue]) {
        self.init(label: label, content: .values(values.map(Self.text)))
    }

    private static func length(of property: PropertyDefinition) -> String? {
        switch (property.minLength, property.maxLength) {
        case (nil, nil): nil
        case (let least?, nil): "at least \(least.of("character"))"
        case (nil, let greatest?): "at most \(greatest.of("character"))"
        case (let least?, let greatest?) where least == greatest: "exactly \(least.of("character"))"
        case (let least?, let greatest?): "\(least) to \(greatest.of("character"))"
        }
    }

    /// A text as it is, unless white space or control characters make it ambiguous; anything else as JSON.
    private static func text(of value: PlanValue) -> String {
        guard case .string(let text) = value else { return OrderedJSON(value).line }
        let scalars = text.unicodeScalars
        let isPlain = !scalars.contains { $0.properties.generalCategory == .control }
        let ends = [scalars.first, scalars.last].compactMap(\.self)
        let isBounded = ends.count == 2 && !ends.contains { $0.properties.isWhitespace }
        return isPlain && isBounded ? text : OrderedJSON(value).line
    }
}
