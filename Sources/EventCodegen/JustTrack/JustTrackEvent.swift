import EventSchema

/// An event as JustTrack knew it: keys with text, and keys with lists of objects.
struct JustTrackEvent {
    let definition: EventDefinition
    /// The keys with text, in the plan's order; they come before the objects, as in JustTrack's initialisers.
    let texts: [PropertyDefinition]
    /// The keys with lists of objects.
    let objects: [PropertyDefinition]

    var className: String { JustTrackName.eventClass(definition.key) }

    /// Takes a definition; says what in it JustTrack has no form for.
    static func translate(_ definition: EventDefinition) -> (event: JustTrackEvent, diagnostics: [Diagnostic]) {
        var texts: [PropertyDefinition] = []
        var objects: [PropertyDefinition] = []
        var diagnostics: [Diagnostic] = []
        for property in definition.properties {
            if property.type == .string {
                texts.append(property)
            } else if let members = property.items?.properties, members.allSatisfy({ literal(for: $0.type) != nil }) {
                objects.append(property)
            } else {
                let sentence = """
                    the style 'justtrack' has text, and lists of objects with text, integers, numbers and truth values; \
                    use the style 'sluice' for \(property.type.rawValue)
                    """
                diagnostics.append(Diagnostic(.noJustTrackForm, at: property.location, sentence))
            }
        }
        let event = JustTrackEvent(definition: definition, texts: texts, objects: objects)
        return (event, diagnostics + event.collisions)
    }

    /// The type of an object's member, and what it is at first.
    static func literal(for type: PropertyType) -> (type: String, value: String)? {
        switch type {
        case .string: ("String", "\"\"")
        case .integer: ("Int", "0")
        case .number: ("Double", "0.0")
        case .boolean: ("Bool", "false")
        default: nil
        }
    }

    private var collisions: [Diagnostic] {
        let keys = texts + objects
        let members = Self.meeting(
            keys.map { ($0.location, JustTrackName.member($0.name)) }
                + keys.map { ($0.location, JustTrackName.constant($0.name)) },
            besides: ["name", "payload", "registeredTrackers"]
        )
        let types = Self.meeting(objects.map { ($0.location, JustTrackName.object($0.name)) }, besides: Self.usedTypes)
        let inside = objects.flatMap { object in
            let names = (object.items?.properties ?? []).map { ($0.location, JustTrackName.objectMember($0.name)) }
            return Self.meeting(names, besides: ["asDict"])
        }
        return members + types + inside
    }

    /// The types that the classes name.
    private static let usedTypes: Set = [
        "String", "Int", "Double", "Bool", "Any", "Payload", "Event", "Equatable", "Codable", "NSNull",
        "`Protocol`", "`Self`", "`Type`",
    ]

    /// Reports each name that stands for a second thing, or for one that every class has already.
    static func meeting(
        _ names: [(location: SourceLocation, name: String)],
        besides taken: Set<String> = []
    ) -> [Diagnostic] {
        var known: [String: SourceLocation] = [:]
        return names.compactMap { location, name in
            if taken.contains(name) {
                let sentence = "'\(name)' means something else in JustTrack's style already; rename it"
                return Diagnostic(.swiftNameCollision, at: location, sentence)
            }
            return known.updateValue(location, forKey: name).map { first in
                let sentence = "two things become '\(name)' in JustTrack's style, the other one at \(first); rename one"
                return Diagnostic(.swiftNameCollision, at: location, sentence)
            }
        }
    }
}
