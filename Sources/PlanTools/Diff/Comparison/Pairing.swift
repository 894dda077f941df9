import EventModel
import EventSchema

/// Pairs the definitions of a new plan with those of the old plan.
struct Pairing<Definition> {
    /// The definitions of the new plan, in its order, with the old ones; `nil` if it is new.
    let pairs: [(old: Definition?, new: Definition)]
    /// The definitions that were removed, in the order of the old plan.
    let removed: [Definition]

    /// Pairs definitions for which a rule gives the same text, if the text is unique in both plans; later rules see only
    /// what earlier rules left.
    init(from old: [Definition], to new: [Definition], by rules: [(Definition) -> String]) {
        var earlier: [Int: Int] = [:]
        for rule in rules {
            let paired = Set(earlier.values)
            let before = Self.unique(old.indices.filter { !paired.contains($0) }, of: old, by: rule)
            let after = Self.unique(new.indices.filter { earlier[$0] == nil }, of: new, by: rule)
            for (text, index) in after { earlier[index] = before[text] }
        }
        let kept = Set(earlier.values)
        pairs = new.indices.map { (earlier[$0].map { old[$0] }, new[$0]) }
        removed = old.indices.filter { !kept.contains($0) }.map { old[$0] }
    }

    /// The indices of definitions whose text is unique.
    private static func unique(
        _ indices: [Int],
        of definitions: [Definition],
        by rule: (Definition) -> String
    ) -> [ExactText: Int] {
        Dictionary(grouping: indices) { ExactText(rule(definitions[$0])) }
            .compactMapValues { $0.count == 1 ? $0.first : nil }
    }
}

/// The result of the first stage: an event of the new plan, and the same event in the old one.
struct EventPair {
    /// `nil` if the event is new.
    let old: EventDefinition?
    let new: EventDefinition

    /// The events of the new plan, in its order, paired with the old ones, and the events that were removed.
    ///
    /// Events are paired by their name on the wire, by which senders and readers know them; those left are paired by their
    /// key, and then by their table. An event whose name and key both changed in more than their style is a new one.
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
