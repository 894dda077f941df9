import EventSchema
import PlanReading

/// An event in JustTrack's form: keys with text, and keys with lists of objects.
struct JustTrackEvent {
    let definition: EventDefinition
    /// The keys with text, in the plan's order; they come before the objects, as in JustTrack's initialisers.
    let texts: [PropertyDefinition]
    /// The keys with lists of objects.
    let objects: [PropertyDefinition]

    var className: String { JustTrackName.eventClass(definition.key) }

    /// Translates a definition; reports what JustTrack's form does not support.
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

    /// The type of an object's member, and its initial value; `nil` if JustTrack does not support it.
    static func literal(for type: PropertyType) -> (type: String, value: String)? {
        switch type.kind {
        case .string: ("String", "\"\"")
        case .integer: ("Int", "0")
        case .number: ("Double", "0.0")
        case .boolean: ("Bool", "false")
        default: nil
        }
    }

    /// Reports events whose classes collide.
    static func collisions(of events: [JustTrackEvent]) -> [Diagnostic] {
        collisions(
            of:
                events.map { event in
                    NamedThing(
                        "the event \(quoted(event.definition.key))",
                        event.className,
                        at: event.definition.location
                    )
                }
        )
    }

    private var collisions: [Diagnostic] {
        let keys = texts + objects
        let members = Self.collisions(
            of:
                Self.things(keys, JustTrackName.member) + Self.things(keys, JustTrackName.constant),
            besides: Self.ownMembers
        )
        let types = Self.collisions(of: Self.things(objects, JustTrackName.object), besides: Self.usedTypes)
        let inside = objects.flatMap { object in
            let things = Self.things(object.items?.properties ?? [], JustTrackName.objectMember)
            return Self.collisions(of: things, besides: ["asDict"])
        }
        // Keys that collide as members usually collide as constants and types, too; one report is enough.
        var known: Set<PlanLocation> = []
        return (members + types).filter { known.insert($0.location).inserted } + inside
    }

    private static func things(_ properties: [PropertyDefinition], _ name: (String) -> String) -> [NamedThing] {
        properties.map { NamedThing("the key \(quoted($0.name))", name($0.name), at: $0.location) }
    }

    /// The members that every class has.
    private static let ownMembers: Set = ["name", "payload", "registeredTrackers"]

    /// The types that the classes name.
    private static let usedTypes: Set = [
        "String", "Int", "Double", "Bool", "Any", "Payload", "Event", "Equatable", "Codable", "NSNull",
        "`Protocol`", "`Self`", "`Type`",
    ]

    /// Reports names that are used twice, or that every class already uses.
    private static func collisions(of things: [NamedThing], besides taken: Set<String> = []) -> [Diagnostic] {
        let own = things.filter { taken.contains($0.name) }.map { thing in
            let sentence = "\(thing.thing) becomes \(quoted(thing.name)) in Swift, which is taken; rename it"
            return Diagnostic(.swiftNameCollision, at: thing.location, sentence)
        }
        return own + NamedThing.collisions(of: things, remedy: "rename one of them")
    }
}
