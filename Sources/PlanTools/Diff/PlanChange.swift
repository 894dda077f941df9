package import EventSchema

/// One difference between two plans, and what it means for those who rely on the plan.
package struct PlanChange: Sendable, Hashable {
    /// What kind of change it is; stable, so that tools can rely on it.
    package let kind: Kind
    /// The event's name on the wire, the new one if it changed; `nil` if the change is about the whole plan.
    package let event: String?
    /// The property, as `lines[].price`; `nil` if the change is about the event itself.
    package let property: String?
    /// What changed; a sentence without a capital or a full stop.
    package let sentence: String
    /// The place in the new plan, or in the old plan if it was removed; `nil` if the change is about the whole plan.
    package let location: PlanLocation?
    /// What it means for all audiences.
    package let impacts: Impacts

    /// The event and property, such as `'Item Purchased', lines[].price`; `nil` for the whole plan.
    package var subject: String? {
        event.map { quoted($0) + (property.map { ", \($0)" } ?? "") }
    }

    /// The most severe impact.
    package var compatibility: Compatibility { impacts.worst }

    /// The kinds of changes; the raw value is what is printed.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        // MARK: The plan

        /// The plan's own version changed.
        case versionChanged = "version-changed"

        // MARK: Events

        /// The event is new.
        case eventAdded = "event-added"
        /// The event was removed.
        case eventRemoved = "event-removed"
        /// The event has another key, and with it another Swift type; its name on the wire stays.
        case keyChanged = "key-changed"
        /// The event goes to an additional tracker.
        case trackerAdded = "tracker-added"
        /// The event no longer goes to a tracker.
        case trackerRemoved = "tracker-removed"
        /// Another team is responsible for the event.
        case ownerChanged = "owner-changed"
        /// The event accepts properties that the plan does not define.
        case additionalPropertiesAllowed = "additional-properties-allowed"
        /// The event no longer accepts properties that the plan does not define.
        case additionalPropertiesForbidden = "additional-properties-forbidden"

        // MARK: Events and properties

        /// The event has another name on the wire, and its key or its table stayed; or the property has another key on
        /// the wire, and its column stayed.
        case nameChanged = "name-changed"
        /// `swiftName` or `swiftCases` gives another name in generated Swift.
        case swiftNameChanged = "swift-name-changed"
        /// The description changed.
        case descriptionChanged = "description-changed"
        /// It should no longer be sent.
        case deprecated = "deprecated"
        /// It may be sent again.
        case undeprecated = "undeprecated"
        /// The advice on what to use instead changed.
        case deprecationReworded = "deprecation-reworded"
        /// The remaining properties are in another order.
        case propertiesReordered = "properties-reordered"

        // MARK: Properties

        /// The property is new and required.
        case requiredPropertyAdded = "required-property-added"
        /// The property is new and optional.
        case optionalPropertyAdded = "optional-property-added"
        /// The property was removed.
        case propertyRemoved = "property-removed"
        /// The property has another type.
        case typeChanged = "type-changed"
        /// The property may no longer be absent.
        case becameRequired = "became-required"
        /// The property may be absent.
        case becameOptional = "became-optional"
        /// The property may be null.
        case becameNullable = "became-nullable"
        /// The property may no longer be null.
        case becameNonNullable = "became-non-nullable"
        /// An array's items, or an object's properties, are defined now.
        case shapeAdded = "shape-added"
        /// An array's items, or an object's properties, may be anything now.
        case shapeRemoved = "shape-removed"
        /// The examples changed.
        case examplesChanged = "examples-changed"
        /// The property, or a key of the context, is protected in another way.
        case sensitivityChanged = "sensitivity-changed"

        // MARK: Limits of properties

        /// Only some values are allowed now.
        case enumAdded = "enum-added"
        /// All values of the type are allowed now.
        case enumRemoved = "enum-removed"
        /// One more value is allowed.
        case enumValueAdded = "enum-value-added"
        /// A value is no longer allowed.
        case enumValueRemoved = "enum-value-removed"
        /// The allowed values are in another order.
        case enumReordered = "enum-reordered"
        /// A minimum, maximum or length allows less.
        case limitTightened = "limit-tightened"
        /// A minimum, maximum or length allows more.
        case limitLoosened = "limit-loosened"
        /// Texts must match a pattern now.
        case patternAdded = "pattern-added"
        /// Texts need not match a pattern any more.
        case patternRemoved = "pattern-removed"
        /// Texts must match another pattern.
        case patternChanged = "pattern-changed"
    }
}

/// Composes sentences that say what changed.
enum ChangeSentence {
    /// A sentence such as `the owner changed from 'a' to 'b'`, or that it was added or removed.
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
