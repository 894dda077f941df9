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
    /// The tracker that gets every event, in lower case; `nil` if each event goes to the trackers that the plan names for it.
    public let onlyTracker: String?
    /// The names of all trackers that get events, in lower case, in the order of their bits in a mask.
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
    ///   - onlyTracker: The tracker that gets every event, instead of the trackers that the plan names. Default: none.
    public init(plan: TrackingPlan, hashKey: HashKey? = nil, onlyTracker: String? = nil) {
        self.plan = plan
        let onlyTracker = onlyTracker?.lowercased()
        self.onlyTracker = onlyTracker
        if let onlyTracker {
            trackerNames = [onlyTracker]
            trackerMasks = Array(repeating: 1, count: plan.events.count)
        } else {
            (trackerNames, trackerMasks) = Self.trackers(of: plan)
        }
        compiled = CompiledPlan(plan, hashKey: hashKey)
    }

    /// The names of a plan's trackers, and for each definition the mask of its own.
    private static func trackers(of plan: TrackingPlan) -> (names: [String], masks: [UInt64]) {
        var bits: [String: Int] = [:]
        var names: [String] = []
        var masks: [UInt64] = []
        for definition in plan.events {
            var mask: UInt64 = 0
            for tracker in definition.trackers {
                let name = tracker.lowercased()
                let bit = bits[name] ?? names.count
                if bit == names.count {
                    precondition(bit < maximumTrackers, "the reader of plans refuses more than 64 trackers")
                    bits[name] = bit
                    names.append(name)
                }
                mask |= 1 << UInt64(bit)
            }
            masks.append(mask)
        }
        return (names, masks)
    }

    /// The catalog of the same plan in which one tracker gets every event.
    public func sendingEverything(to tracker: String) -> EventCatalog {
        EventCatalog(plan: plan, hashKey: compiled.hashKey, onlyTracker: tracker)
    }

    /// The trackers that get the events of a definition, as the plan spells them.
    package func trackers(ofDefinition index: Int) -> [String] {
        onlyTracker.map { [$0] } ?? definitions[index].trackers
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
        EventCatalog(plan: plan, hashKey: key, onlyTracker: onlyTracker)
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

    /// The catalog of another plan, with the same key for hashed values and the same only tracker.
    package func replacingPlan(with plan: TrackingPlan) -> EventCatalog {
        EventCatalog(plan: plan, hashKey: compiled.hashKey, onlyTracker: onlyTracker)
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
