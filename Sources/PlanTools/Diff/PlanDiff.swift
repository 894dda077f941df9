package import EventSchema
import PlanReading

/// All differences between two plans, and what each change means for those who rely on the plan.
///
/// There are three stages, each a pure function: the events of both plans are paired (`EventPair`), the pairs are compared
/// (`EventDifference`, `PropertyDifference`), and each difference is looked up in the table of judgements (`Judgement`).
/// The places of definitions and the order of events make no difference.
package struct PlanDiff: Sendable, Hashable {
    /// The changes, in the order of the new plan's events; those of removed events come last.
    package let changes: [PlanChange]

    /// Compares two plans.
    package init(from old: TrackingPlan, to new: TrackingPlan) {
        // `postgresTrackers` describes the trackers and is not a change by itself, so both plans are read with both lists.
        let postgresTrackers = Set((old.events + new.events).flatMap(\.postgresTrackers))
        let (pairs, gone) = EventPair.pairs(
            from: old.notingPostgresTrackers(postgresTrackers),
            to: new.notingPostgresTrackers(postgresTrackers)
        )
        let added = pairs.filter { $0.old == nil }.map(\.new)
        let removed = gone.map { Self.removal(of: $0, among: added).judged }
        let plan = Self.version(from: old, to: new) + SensitivityChange.changes(from: old, to: new)
        changes = plan + pairs.flatMap { Self.changes(of: $0) } + removed
    }

    /// The changes of one compatibility.
    package func changes(_ compatibility: Compatibility) -> [PlanChange] {
        changes.filter { $0.compatibility == compatibility }
    }

    private static func changes(of pair: EventPair) -> [PlanChange] {
        let event = EventComparison.differences(of: pair).map(\.judged)
        guard let old = pair.old else { return event }
        let properties = PropertyComparison.differences(
            from: old.properties,
            to: pair.new.properties,
            path: PropertyPath()
        )
        return event + properties.map { $0.judged(from: old, to: pair.new) }
    }

    /// The removal of an event, with a hint if a new event has the same properties.
    private static func removal(of event: EventDefinition, among added: [EventDefinition]) -> EventDifference {
        let twin = added.first { other in
            !event.properties.isEmpty
                && PropertyComparison.differences(from: event.properties, to: other.properties, path: PropertyPath())
                    .isEmpty
        }
        let hint = twin.map { "; \(quoted($0.name)), which is new, has the same properties" } ?? ""
        return EventDifference(kind: .eventRemoved, old: event, new: event, sentence: "the event was removed" + hint)
    }

    private static func version(from old: TrackingPlan, to new: TrackingPlan) -> [PlanChange] {
        guard old.version != new.version else { return [] }
        let reason = Impact.compatible("nothing is checked by it; the quarantine's verdicts name it")
        return [
            PlanChange(
                kind: .versionChanged,
                event: nil,
                property: nil,
                sentence: ChangeSentence.change(of: "the plan's version", from: old.version, to: new.version),
                location: nil,
                impacts: Impacts(swift: reason, http: reason, sql: reason, kafka: reason)
            )
        ]
    }
}
