import EventModel
import EventSchema

/// A difference of an event.
struct EventDifference {
    let kind: PlanChange.Kind
    /// The same as `new` if there was none.
    let old: EventDefinition
    /// The same as `old` if there is none.
    let new: EventDefinition
    let sentence: String
    /// The tracker that was added or removed, in lower case.
    var tracker: String?
}

/// The second stage for the attributes of an event.
enum EventComparison {
    /// What is different about an event, apart from its properties.
    static func differences(of pair: EventPair) -> [EventDifference] {
        guard let old = pair.old else {
            return [
                EventDifference(kind: .eventAdded, old: pair.new, new: pair.new, sentence: "the event was added")
            ]
        }
        let new = pair.new
        func difference(_ kind: PlanChange.Kind, _ sentence: String) -> EventDifference {
            EventDifference(kind: kind, old: old, new: new, sentence: sentence)
        }
        var differences: [EventDifference] = []
        // If the name changed as well, that change also covers the type.
        if ExactText(old.key) != ExactText(new.key), ExactText(old.name) == ExactText(new.name) {
            differences.append(
                difference(.keyChanged, ChangeSentence.change(of: "the key", from: old.key, to: new.key))
            )
        }
        if ExactText(old.key) == ExactText(new.key), old.swiftTypeName != new.swiftTypeName {
            let names = (SwiftName.unescaped(old.swiftTypeName), SwiftName.unescaped(new.swiftTypeName))
            let sentence = ChangeSentence.change(of: "the Swift type", from: names.0, to: names.1)
            differences.append(difference(.swiftNameChanged, sentence))
        }
        if ExactText(old.name) != ExactText(new.name) {
            let sentence = ChangeSentence.change(of: "the name on the wire", from: old.name, to: new.name)
            differences.append(difference(.nameChanged, sentence))
        }
        differences += trackers(from: old, to: new)
        if old.owner != new.owner {
            let sentence = ChangeSentence.change(of: "the owner", from: old.owner, to: new.owner)
            differences.append(difference(.ownerChanged, sentence))
        }
        if old.description != new.description {
            differences.append(difference(.descriptionChanged, "the description changed"))
        }
        if let kind = deprecation(from: old.deprecated, to: new.deprecated) {
            differences.append(difference(kind, deprecationSentence(from: old.deprecated, to: new.deprecated)))
        }
        if new.allowsAdditionalProperties, !old.allowsAdditionalProperties {
            let sentence = "properties that the plan does not name are allowed now"
            differences.append(difference(.additionalPropertiesAllowed, sentence))
        } else if old.allowsAdditionalProperties, !new.allowsAdditionalProperties {
            let sentence = "properties that the plan does not name are no longer allowed"
            differences.append(difference(.additionalPropertiesForbidden, sentence))
        }
        return differences
    }

    private static func trackers(from old: EventDefinition, to new: EventDefinition) -> [EventDifference] {
        let before = Set(old.trackers.map { $0.lowercased() })
        let after = Set(new.trackers.map { $0.lowercased() })
        func difference(_ kind: PlanChange.Kind, _ tracker: String, _ verb: String) -> EventDifference {
            let sentence = "the tracker \(quoted(tracker)) was \(verb)"
            return EventDifference(kind: kind, old: old, new: new, sentence: sentence, tracker: tracker.lowercased())
        }
        let added = new.trackers.filter { !before.contains($0.lowercased()) }
        let removed = old.trackers.filter { !after.contains($0.lowercased()) }
        return added.map { difference(.trackerAdded, $0, "added") }
            + removed.map { difference(.trackerRemoved, $0, "removed") }
    }

    /// How a deprecation changed; `nil` if it did not.
    static func deprecation(from old: String?, to new: String?) -> PlanChange.Kind? {
        guard old != new else { return nil }
        if old == nil { return .deprecated }
        return new == nil ? .undeprecated : .deprecationReworded
    }

    /// The same as a sentence.
    static func deprecationSentence(from old: String?, to new: String?) -> String {
        guard let new else { return "it is no longer deprecated" }
        return old == nil ? "it was deprecated: \(quoted(new))" : "its deprecation now says \(quoted(new))"
    }
}
