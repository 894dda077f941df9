public import EventSchema

/// A tracking plan made ready for the pipeline: definitions by index, and for each the trackers that receive it.
///
/// A catalog never changes. Every batch holds the catalog it was checked against, so an index in a batch always
/// means the same definition.
public final class EventCatalog: Sendable {
    /// The most distinct tracker names a plan may use: one bit each in a mask.
    public static let maximumTrackers = 64

    /// The plan this catalog was made from.
    public let plan: TrackingPlan
    /// The names of all trackers the plan uses, lower-cased, in the order of their bits in a mask.
    public let trackerNames: [String]
    /// For each definition, the set of trackers that receive it.
    package let trackerMasks: [UInt64]
    /// The plan as the validator reads it.
    let compiled: CompiledPlan

    /// The definitions; an event refers to its own by index.
    public var definitions: [EventDefinition] { plan.events }

    /// Prepares a plan; the plan's reader has already refused one that uses more than `maximumTrackers` names.
    public init(plan: TrackingPlan) {
        var bits: [String: Int] = [:]
        var names: [String] = []
        var masks: [UInt64] = []
        for definition in plan.events {
            var mask: UInt64 = 0
            for tracker in definition.trackers {
                let name = tracker.lowercased()
                let bit = bits[name] ?? names.count
                if bit == names.count {
                    precondition(bit < Self.maximumTrackers, "the plan's reader lets at most 64 trackers pass")
                    bits[name] = bit
                    names.append(name)
                }
                mask |= 1 << UInt64(bit)
            }
            masks.append(mask)
        }
        self.plan = plan
        trackerNames = names
        trackerMasks = masks
        compiled = CompiledPlan(plan)
    }

    /// The set that holds just the named tracker, compared without regard to case; zero if the plan does not use it.
    package func mask(ofTracker name: String) -> UInt64 {
        trackerNames.firstIndex(of: name.lowercased()).map { 1 << UInt64($0) } ?? 0
    }
}

extension EventCatalog {
    /// The trackers that events name but nobody configured, each with the names of those events, in the plan's order.
    ///
    /// An event none of whose trackers is configured is accepted and goes nowhere, so this is worth a warning.
    public func unconfiguredTrackers(
        configured names: some Sequence<String>
    ) -> [(tracker: String, events: [String])] {
        let configured = Set(names.map { $0.lowercased() })
        return trackerNames.enumerated().filter { !configured.contains($0.element) }.map { bit, name in
            let events = zip(definitions, trackerMasks).filter { $0.1 & (1 << UInt64(bit)) != 0 }.map(\.0.name)
            return (tracker: name, events: events)
        }
    }

    /// Those of the configured trackers that no event names: they will never receive anything.
    public func unusedTrackers(configured names: some Sequence<String>) -> [String] {
        names.filter { mask(ofTracker: $0) == 0 }
    }
}
