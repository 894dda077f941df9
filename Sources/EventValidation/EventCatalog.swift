public import EventSchema
import Synchronization

/// A tracking plan compiled for validation and routing: definitions by index, and the trackers that receive each event.
///
/// A catalog is immutable. Every batch refers to the catalog it was checked against, so an index in a batch always denotes the
/// same definition.
public final class EventCatalog: Sendable {
    /// The maximum number of distinct tracker names in a plan: each is a bit of a mask.
    public static let maximumTrackers = 64

    /// The plan of this catalog.
    public let plan: TrackingPlan
    /// The names of all trackers in the plan, in lower case, in the order of their bits in a mask.
    public let trackerNames: [String]
    /// For each definition, the set of trackers that receive it, as a bit mask.
    package let trackerMasks: [UInt64]
    /// The tables that events are checked against.
    let compiled: CompiledPlan
    /// The plan's digest, once somebody has asked for it.
    let knownDigest = AtomicLazyReference<KnownDigest>()

    /// The definitions of the events; an event refers to its definition by index.
    @inlinable
    public var definitions: [EventDefinition] { plan.events }

    /// Compiles a plan; a plan must not use more than `maximumTrackers` names, which the reader of plans ensures.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - hashKey: The key of hashed values. Default: none; a pipeline refuses a catalog that needs one and has none.
    public init(plan: TrackingPlan, hashKey: HashKey? = nil) {
        var bits: [String: Int] = [:]
        var names: [String] = []
        var masks: [UInt64] = []
        for definition in plan.events {
            var mask: UInt64 = 0
            for tracker in definition.trackers {
                let name = tracker.lowercased()
                let bit = bits[name] ?? names.count
                if bit == names.count {
                    precondition(bit < Self.maximumTrackers, "the reader of plans refuses more than 64 trackers")
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
        compiled = CompiledPlan(plan, hashKey: hashKey)
    }

    /// The mask with only the bit of the named tracker, compared without regard to case; zero if the plan does not use it.
    package func mask(ofTracker name: String) -> UInt64 {
        trackerNames.firstIndex(of: name.lowercased()).map { 1 << UInt64($0) } ?? 0
    }
}

// MARK: - Privacy

extension EventCatalog {
    /// The same plan with a key for hashed values.
    ///
    /// A generated catalog has no key. Typed events of the generated catalog are accepted by a pipeline with this one.
    public func hashing(with key: HashKey) -> EventCatalog {
        EventCatalog(plan: plan, hashKey: key)
    }

    /// Whether the plan replaces values by their hashes, and there is no key; an `EventValidator` removes such values.
    public var lacksHashKey: Bool { compiled.tables.sensitive.needsHashKey && compiled.hashKey == nil }

    /// The catalog for one tracker, with the same indexes, in which everything is dropped that is hidden from the tracker.
    ///
    /// It is this catalog if nothing is hidden.
    package func visible(to tracker: String) -> EventCatalog {
        let visible = plan.visible(to: tracker)
        return visible == plan ? self : replacingPlan(with: visible)
    }

    /// The catalog of another plan, with the same key for hashed values.
    package func replacingPlan(with plan: TrackingPlan) -> EventCatalog {
        EventCatalog(plan: plan, hashKey: compiled.hashKey)
    }
}

extension EventCatalog {
    /// The trackers that are in the plan, but not configured, each with the names of its events, in the plan's order.
    ///
    /// An event is accepted even if none of its trackers is configured, and is not delivered then, so log a warning.
    public func unconfiguredTrackers(
        configured names: some Sequence<String>
    ) -> [UnconfiguredTracker] {
        let configured = Set(names.map { $0.lowercased() })
        return trackerNames.enumerated().filter { !configured.contains($0.element) }.map { bit, name in
            let events = zip(definitions, trackerMasks).filter { $0.1 & (1 << UInt64(bit)) != 0 }.map(\.0.name)
            return UnconfiguredTracker(name: name, events: events)
        }
    }

    /// The configured trackers that no event in the plan names, so that they will never receive any.
    public func unusedTrackers(configured names: some Sequence<String>) -> [String] {
        names.filter { mask(ofTracker: $0) == 0 }
    }
}

/// A tracker that events of the plan name, and that is not configured.
public struct UnconfiguredTracker: Sendable, Hashable {
    /// The tracker's name, in lower case.
    public let name: String
    /// The names of its events, in the plan's order.
    public let events: [String]
}
