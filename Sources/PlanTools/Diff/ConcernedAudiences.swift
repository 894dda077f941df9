import EventSchema

/// Whom a change of an event can matter to: those for whom the event has something.
struct ConcernedAudiences {
    /// The tracker that prints for people, on whose lines nobody relies.
    private static let console = "console"

    let old: EventDefinition
    let new: EventDefinition

    /// Whether there are rows of it, before and after.
    var hasRows: Bool { Self.hasRows(old) && Self.hasRows(new) }
    /// Whether there are readers of its canonical lines, before and after.
    var hasLines: Bool { Self.hasLines(old) && Self.hasLines(new) }

    static func hasRows(_ event: EventDefinition) -> Bool { event.hasTable }
    static func hasLines(_ event: EventDefinition) -> Bool { event.trackers.contains { isLines($0, of: event) } }

    static func isLines(_ tracker: String, of event: EventDefinition) -> Bool {
        !event.fillsTable(tracker) && tracker.lowercased() != console
    }

    /// What it means for SQL, where there are rows at all.
    func sql(_ impact: Impact) -> Impact {
        hasRows ? impact : .compatible("the event has no rows that somebody could have relied on")
    }

    /// What it means for readers of lines, where there are any at all.
    func kafka(_ impact: Impact) -> Impact {
        hasLines ? impact : .compatible("no reader gets the event's lines")
    }
}
