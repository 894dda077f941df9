/// The first stage: an event of the new plan, and the same event in the old one.
struct EventPair {
    /// `nil` where the event is new.
    let old: EventDefinition?
    let new: EventDefinition

    /// The events of the new plan, in its order, each with what it was.
    ///
    /// An event is the same one when its name on the wire is, because senders and readers know it by that; of the
    /// others, when its key is. One whose name and key both changed cannot be told from a new one.
    static func pairs(from old: TrackingPlan, to new: TrackingPlan) -> [EventPair] {
        let byName = Dictionary(old.events.map { (ExactText($0.name), $0) }) { first, _ in first }
        let byKey = Dictionary(unnamed(old, in: new).map { (ExactText($0.key), $0) }) { first, _ in first }
        return new.events.map { event in
            EventPair(old: byName[ExactText(event.name)] ?? byKey[ExactText(event.key)], new: event)
        }
    }

    /// The events of the old plan that are no more, in its order.
    static func removed(from old: TrackingPlan, to new: TrackingPlan) -> [EventDefinition] {
        let oldNames = Set(old.events.map { ExactText($0.name) })
        let keptKeys = Set(new.events.filter { !oldNames.contains(ExactText($0.name)) }.map { ExactText($0.key) })
        return unnamed(old, in: new).filter { !keptKeys.contains(ExactText($0.key)) }
    }

    /// The old events whose names the new plan does not have.
    private static func unnamed(_ old: TrackingPlan, in new: TrackingPlan) -> [EventDefinition] {
        let names = Set(new.events.map { ExactText($0.name) })
        return old.events.filter { !names.contains(ExactText($0.name)) }
    }
}
