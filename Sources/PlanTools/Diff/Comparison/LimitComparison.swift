import EventModel
import EventSchema
import PlanReading

/// The second stage for the values that a property allows.
enum LimitComparison {
    /// What is different about the limits of a property that kept its type.
    static func differences(
        from old: PropertyDefinition,
        to new: PropertyDefinition
    ) -> [(PlanChange.Kind, String)] {
        enumeration(from: old, to: new)
            + bound("minimum", from: old.minimum, to: new.minimum, type: new.type, isUpper: false)
            + bound("maximum", from: old.maximum, to: new.maximum, type: new.type, isUpper: true)
            // A minimum length of 0 is no limit.
            + bound("minLength", from: old.minLength, to: new.minLength, neutral: 0, isUpper: false)
            + bound("maxLength", from: old.maxLength, to: new.maxLength, neutral: nil, isUpper: true)
            + pattern(from: old.pattern, to: new.pattern)
    }

    // MARK: Allowed values

    private static func enumeration(
        from old: PropertyDefinition,
        to new: PropertyDefinition
    ) -> [(PlanChange.Kind, String)] {
        switch (old.enumeration, new.enumeration) {
        case (nil, nil): return []
        case (nil, let after?):
            return [(.enumAdded, "only \(list(after)) \(after.count == 1 ? "is" : "are") allowed now")]
        case (.some, nil): return [(.enumRemoved, "'enum' was removed: other values are allowed now")]
        case (let before?, let after?):
            let known = DistinctValues(before, type: new.type)
            let kept = DistinctValues(after, type: new.type)
            let added = after.filter { !known.contains($0) }
            let removed = before.filter { !kept.contains($0) }
            let facts: [(PlanChange.Kind, String)] =
                added.map { (.enumValueAdded, "the value \(ChangeSentence.text($0)) was added") }
                + removed.map { (.enumValueRemoved, "the value \(ChangeSentence.text($0)) was removed") }
            guard facts.isEmpty, !known.hasSameOrder(as: kept) else { return facts }
            return [(.enumReordered, "the allowed values were reordered")]
        }
    }

    private static func list(_ values: [PlanValue]) -> String {
        let longest = 5
        let texts = values.prefix(longest).map(ChangeSentence.text).joined(separator: ", ")
        return values.count > longest ? "\(texts) and \(values.count - longest) more" : texts
    }

    // MARK: Bounds

    private static func bound(
        _ key: String,
        from old: PlanValue?,
        to new: PlanValue?,
        type: PropertyType,
        isUpper: Bool
    ) -> [(PlanChange.Kind, String)] {
        let isTighter: Bool
        switch (old, new) {
        case (nil, nil): return []
        case (nil, .some): isTighter = true
        case (.some, nil): isTighter = false
        case (let before?, let after?):
            let rose = PropertyLimits.isLess(before, than: after, as: type)
            guard rose || PropertyLimits.isLess(after, than: before, as: type) else { return [] }
            isTighter = rose != isUpper
        }
        let sentence = sentence(key, old.map(ChangeSentence.text), new.map(ChangeSentence.text))
        return [(isTighter ? .limitTightened : .limitLoosened, sentence)]
    }

    private static func bound(
        _ key: String,
        from old: Int?,
        to new: Int?,
        neutral: Int?,
        isUpper: Bool
    ) -> [(PlanChange.Kind, String)] {
        func value(_ length: Int?) -> PlanValue? { length == neutral ? nil : length.map { .integer(Int64($0)) } }
        return bound(key, from: value(old), to: value(new), type: .integer, isUpper: isUpper)
    }

    private static func sentence(_ key: String, _ old: String?, _ new: String?) -> String {
        switch (old, new) {
        case (let old?, let new?): "'\(key)' changed from \(old) to \(new)"
        case (nil, let new?): "'\(key)' \(new) was added"
        default: "'\(key)' \(old ?? "") was removed"
        }
    }

    // MARK: Patterns

    private static func pattern(from old: String?, to new: String?) -> [(PlanChange.Kind, String)] {
        guard old.map(ExactText.init) != new.map(ExactText.init) else { return [] }
        let sentence = ChangeSentence.change(of: "the pattern", from: old, to: new)
        if old == nil { return [(.patternAdded, sentence)] }
        return [(new == nil ? .patternRemoved : .patternChanged, sentence)]
    }
}
