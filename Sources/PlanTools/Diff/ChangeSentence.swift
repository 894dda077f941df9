import EventSchema

/// Sentences that say what changed.
enum ChangeSentence {
    /// `the owner changed from 'a' to 'b'`, or that it was added or removed.
    static func change(of thing: String, from old: String?, to new: String?) -> String {
        switch (old, new) {
        case (let old?, let new?): "\(thing) changed from \(quoted(old)) to \(quoted(new))"
        case (nil, let new?): "\(thing) \(quoted(new)) was added"
        case (let old?, nil): "\(thing) \(quoted(old)) was removed"
        case (nil, nil): "\(thing) stayed"
        }
    }

    /// A value of the plan, as a person would write it.
    static func text(_ value: PlanValue) -> String {
        if case .string(let text) = value { quoted(text) } else { value.text }
    }
}
