import EventSchema

/// The first stage: an event of the new plan, and the same event in the old one.
struct EventPair {
    /// `nil` where the event is new.
    let old: EventDefinition?
    let new: EventDefinition

    /// The events of the new plan, in its order, each with what it was, and those of the old plan that are no more.
    ///
    /// An event is the same one when its name on the wire is, because senders and readers know it by that; of the
    /// others, when its key is; of those left, when both names become the same table. One whose name and key both
    /// changed in more than their style cannot be told from a new one.
    static func pairs(
        from old: TrackingPlan,
        to new: TrackingPlan
    ) -> (pairs: [EventPair], removed: [EventDefinition]) {
        let pairing = Pairing(
            from: old.events,
            to: new.events,
            by: [\.name, \.key, { SQLName.snakeCase($0.name) }]
        )
        return (pairing.pairs.map(EventPair.init), pairing.removed)
    }
}
