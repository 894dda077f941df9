import EventSchema

/// Which definition of a new plan is which one of the old plan.
struct Pairing<Definition> {
    /// Those of the new plan, in its order, each with what it was; `nil` where it is new.
    let pairs: [(old: Definition?, new: Definition)]
    /// Those of the old plan that are no more, in its order.
    let removed: [Definition]

    /// Pairs those of which a rule makes the same text, and which are the only ones it makes that of; what a rule pairs
    /// is out of the question for the rules after it.
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

    /// The places of what alone has its text.
    private static func unique(
        _ indices: [Int],
        of definitions: [Definition],
        by rule: (Definition) -> String
    ) -> [ExactText: Int] {
        Dictionary(grouping: indices) { ExactText(rule(definitions[$0])) }
            .compactMapValues { $0.count == 1 ? $0.first : nil }
    }
}
