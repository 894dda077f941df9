import EventSchema

extension EventDefinition {
    /// What files, links and tables call the event: the same word in all of them, and no other event's in one plan.
    var anchor: String { SQLName.snakeCase(name) }
}
