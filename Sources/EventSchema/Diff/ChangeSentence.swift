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
        switch value {
        case .string(let text): quoted(text)
        case .integer(let integer): String(integer)
        case .number(let number): String(number)
        case .boolean(let boolean): String(boolean)
        case .array(let values): "[\(values.map(text).joined(separator: ", "))]"
        case .object(let members):
            "{\(members.map { "\(quoted($0.key)): \(text($0.value))" }.joined(separator: ", "))}"
        }
    }
}
