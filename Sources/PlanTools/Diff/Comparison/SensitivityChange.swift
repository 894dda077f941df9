import EventModel
import EventSchema

/// A change in how a value is protected.
struct SensitivityChange {
    /// What a tracker gets of a value, from the least to the most.
    private enum Form: Comparable {
        case nothing, hash, value

        init(_ sensitivity: Sensitivity?, tracker: String) {
            switch sensitivity {
            case nil: self = .value
            case .hash: self = .hash
            case let sensitivity?: self = sensitivity.hides(from: tracker) ? .nothing : .value
            }
        }
    }

    let old: Sensitivity?
    let new: Sensitivity?

    /// What changed; a sentence without a capital or a full stop.
    var sentence: String {
        switch new {
        case nil: "it is no longer sensitive"
        case .drop: "its value is dropped now"
        case .hash: "its value is hashed now"
        case .trackers(let names): "only \(names.map(quoted).joined(separator: " and ")) may get its value now"
        }
    }

    /// Whether one of these trackers gets less of the value.
    func takes(fromOneOf trackers: [String]) -> Bool {
        trackers.contains { Form(old, tracker: $0) > Form(new, tracker: $0) }
    }

    /// Whether one of these trackers gets more of the value.
    func gives(toOneOf trackers: [String]) -> Bool {
        trackers.contains { Form(old, tracker: $0) < Form(new, tracker: $0) }
    }
}

extension SensitivityChange {
    /// The changes of the protected keys of the context, in the new plan's order; those of removed keys come last.
    static func changes(from old: TrackingPlan, to new: TrackingPlan) -> [PlanChange] {
        let circumstances = { Circumstances(of: $0, from: old.events, to: new.events) }
        func change(_ name: String, _ before: ContextAttribute?, _ after: ContextAttribute?) -> PlanChange? {
            let change = SensitivityChange(old: before?.sensitivity, new: after?.sensitivity)
            guard change.old != change.new else { return nil }
            return PlanChange(
                kind: .sensitivityChanged,
                event: nil,
                property: nil,
                sentence: "the context's key \(quoted(name)): \(change.sentence)",
                location: after?.location ?? before?.location,
                impacts: PropertyDifference.judgements.row(for: .sensitivityChanged).impacts(in: circumstances(change))
            )
        }
        let changed = new.context.compactMap { attribute in
            let name = ExactText(attribute.name)
            return change(attribute.name, old.context.first { ExactText($0.name) == name }, attribute)
        }
        let kept = Set(new.context.map { ExactText($0.name) })
        let removed = old.context.filter { !kept.contains(ExactText($0.name)) }
        return changed + removed.compactMap { change($0.name, $0, nil) }
    }
}
