import EventSchema

/// Finds names that collide after conversion.
enum NameCollisions {
    /// Reports the later of two names that collide, at its place.
    ///
    /// Each of `names` has the text in the plan, what it becomes, and its place. `thing` is what has the names, such as `event`,
    /// and `result` is what they become, such as `table`.
    static func find(
        in names: [(text: String, becomes: String, location: PlanLocation)],
        code: DiagnosticCode,
        thing: String,
        result: String
    ) -> [Diagnostic] {
        var known: [String: (text: String, becomes: String, location: PlanLocation)] = [:]
        var diagnostics: [Diagnostic] = []
        for name in names {
            guard let first = known[name.becomes] else {
                known[name.becomes] = name
                continue
            }
            let sentence = """
                the \(thing) collides with \(quoted(first.text)) at \(first.location): both become the \(result) \
                \(quoted(name.becomes)); rename one\(code == .swiftNameCollision ? ", or give it a 'swiftName'" : "")
                """
            diagnostics.append(Diagnostic(code, at: name.location, sentence))
        }
        return diagnostics
    }
}

/// Checks that event names do not collide: on the wire, in Swift or in SQL.
enum EventNameCheck {
    /// Reports the later of two events that collide; if their names on the wire are equal, only that is reported.
    static func check(_ events: [EventDraft]) -> [Diagnostic] {
        var byName: [String: EventDraft] = [:]
        var distinct: [EventDraft] = []
        var diagnostics: [Diagnostic] = []
        for event in events {
            let name = event.definition.name
            if let first = byName[name] {
                let location = first.name.place.location
                let sentence = "the event \(quoted(name)) is already defined at \(location); rename one"
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

    /// Checks all events, even those without a table, because topics, schema files and anchors use the same names.
    private static func tables(_ events: [EventDraft]) -> [Diagnostic] {
        NameCollisions.find(
            in: events.map { ($0.name.text, SQLName.snakeCase($0.name.text), $0.name.place.location) },
            code: .sqlNameCollision,
            thing: "event",
            result: "table"
        )
    }
}
