import EventSchema
import PlanTools
import TestCases

/// A row of Documentation/Build/PlanChanges.md: a change of a plan in words, and as two events.
struct StabilityCase: Sendable, CustomStringConvertible {
    /// The first cell of the row.
    let title: String
    let kind: PlanChange.Kind
    let old: EventDefinition?
    let new: EventDefinition?

    var description: String { title }

    var diff: PlanDiff {
        PlanDiff(
            from: TrackingPlan(events: [old].compactMap { $0 }),
            to: TrackingPlan(events: [new].compactMap { $0 })
        )
    }

    /// The row of the table; the diff must report exactly one change.
    var row: String? {
        guard diff.changes.count == 1, let change = diff.changes.first, change.kind == kind else { return nil }
        let cells = Audience.allCases.map { audience in
            let impact = change.impacts[audience]
            let word = impact.compatibility.rawValue
            return impact.compatibility == .compatible ? word : "**\(word)**: \(impact.reason)"
        }
        return "| \(title) | \(cells.joined(separator: " | ")) |"
    }

    /// A change of an event that goes to every tracker.
    static func event(
        _ title: String,
        _ kind: PlanChange.Kind,
        of old: EventDefinition = sold(),
        _ change: (inout EventDefinition) -> Void
    ) -> StabilityCase {
        var new = old
        change(&new)
        return StabilityCase(title: title, kind: kind, old: old, new: new)
    }

    /// A change of one property.
    static func property(
        _ title: String,
        _ kind: PlanChange.Kind,
        _ old: PropertyDefinition,
        _ new: PropertyDefinition
    ) -> StabilityCase {
        StabilityCase(title: title, kind: kind, old: sold([old]), new: sold([new]))
    }

    /// An event that goes to every tracker.
    static func sold(_ properties: [PropertyDefinition] = [sku, note], isOpen: Bool = false) -> EventDefinition {
        EventDefinition(
            key: "Sold",
            trackers: ["console", "postgres", "kafka"],
            properties: properties,
            allowsAdditionalProperties: isOpen,
            location: .line(1)
        )
    }

    static let sku = PropertyDefinition(name: "sku", type: .string, location: .line(2))
    static let note = PropertyDefinition(name: "note", type: .string, isRequired: false, location: .line(3))

    /// The property whose definition the cases change.
    static func it(
        _ type: PropertyType,
        required: Bool = true,
        nullable: Bool = false,
        _ change: (inout PropertyDefinition) -> Void = { _ in }
    ) -> PropertyDefinition {
        var property = PropertyDefinition(
            name: "it",
            type: type,
            isRequired: required,
            isNullable: nullable,
            location: .line(4)
        )
        change(&property)
        return property
    }

    static let privacy: [StabilityCase] = [
        sensitivity("a property is dropped", nil, .drop), sensitivity("a property is hashed", nil, .hash),
        sensitivity("a property is only for a tracker with tables", nil, .trackers(["postgres"])),
        sensitivity("a property is only for a tracker with readers", nil, .trackers(["kafka"])),
        sensitivity("a dropped property is hashed", .drop, .hash),
        sensitivity("a hashed property is no longer sensitive", .hash, nil),
        sensitivity("a property is for another tracker", .trackers(["postgres"]), .trackers(["kafka"])),
    ]

    private static func sensitivity(_ title: String, _ old: Sensitivity?, _ new: Sensitivity?) -> StabilityCase {
        property(title, .sensitivityChanged, it(.string) { $0.sensitivity = old }, it(.string) { $0.sensitivity = new })
    }

    /// The page's sections, in order, each with the cases of its table.
    static let sections: [(title: String, cases: [StabilityCase])] = [
        ("Events", events), ("Properties", properties), ("Types", types), ("Values", values), ("Privacy", privacy),
    ]

    static let all = sections.flatMap(\.cases)
}
