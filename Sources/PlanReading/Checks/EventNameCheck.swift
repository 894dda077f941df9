import EventSchema

/// Checks that no two events have one name: on the wire, in Swift or in SQL.
enum EventNameCheck {
    /// Reports the later of two events that meet; where the wire names are equal, nothing else is said about them.
    static func check(_ events: [EventDraft]) -> [Diagnostic] {
        var byName: [String: EventDraft] = [:]
        var distinct: [EventDraft] = []
        var diagnostics: [Diagnostic] = []
        for event in events {
            let name = event.definition.name
            if let first = byName[name] {
                let sentence = "there is already an event \(quoted(name)) at \(first.name.place.location)"
                diagnostics.append(Diagnostic(.duplicateEvent, at: event.name.place, sentence))
            } else {
                byName[name] = event
                distinct.append(event)
            }
        }
        return diagnostics + swiftTypes(distinct) + tables(distinct)
    }

    private static func swiftTypes(_ events: [EventDraft]) -> [Diagnostic] {
        NameCollisions.find(
            in: events.map { ($0.definition.key, $0.definition.swiftTypeName, $0.definition.location) },
            code: .swiftNameCollision,
            thing: "event",
            result: "Swift type"
        )
    }

    /// Of every event, with a table or without: topics, the files of schemas and places on pages are named so as well.
    private static func tables(_ events: [EventDraft]) -> [Diagnostic] {
        NameCollisions.find(
            in: events.map { ($0.name.text, SQLName.snakeCase($0.name.text), $0.name.place.location) },
            code: .sqlNameCollision,
            thing: "event",
            result: "table"
        )
    }
}
