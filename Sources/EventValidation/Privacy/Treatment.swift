import EventModel
import EventSchema

/// What the check does with a valid value.
enum Treatment: UInt8, BitwiseCopyable {
    /// The value stays as it is.
    case keep
    /// The value is removed.
    case drop
    /// The value, a string, is replaced by its hash.
    case hash

    init(_ sensitivity: Sensitivity?) {
        switch sensitivity {
        case nil, .trackers: self = .keep
        case .drop: self = .drop
        case .hash: self = .hash
        }
    }
}

/// Keys and what the check does with their values.
struct TreatmentTable: BitwiseCopyable {
    private let keys: ByteTable
    private let treatments: UnsafePointer<Treatment>

    var isEmpty: Bool { keys.count == 0 }

    /// Creates a table of what happens to the value of each key; keys whose values are kept are left out.
    init(_ treatments: [ExactText: Treatment], in arena: PlanArena) {
        let sensitive = treatments.filter { $0.value != .keep }
        keys = ByteTable(sensitive.map { Array($0.key.text.utf8) }, in: arena)
        self.treatments = arena.allocate(sensitive.map(\.value))
    }

    /// The treatment of a key's value; at least 8 more bytes after the key must be readable.
    subscript(key: UnsafeRawBufferPointer) -> Treatment {
        let ordinal = keys.ordinal(of: key)
        return ordinal < 0 ? .keep : treatments[ordinal]
    }
}

/// What the plan protects, by key.
///
/// The check of a valid event finds a property by its place in the plan. A rejected event may have a value in the wrong place, so
/// its keys decide, wherever they are.
struct SensitiveKeys: BitwiseCopyable {
    /// The keys of the `context`.
    let context: TreatmentTable
    /// The keys of all properties, at any depth, of all events together.
    let payloads: TreatmentTable
    /// The same for each event.
    private let events: UnsafePointer<TreatmentTable>
    /// What is removed from a rejected event outside its `context`: `payloads`, and the keys of the `context`, which may be in the
    /// wrong place.
    private let rejected: TreatmentTable
    /// The same for each event, without keys that are properties of the event.
    private let rejectedEvents: UnsafePointer<TreatmentTable>
    /// Whether a rejected event may contain a value that the quarantine must not get.
    let concernsRejections: Bool
    /// Whether any value is replaced by its hash.
    let needsHashKey: Bool

    init(_ plan: TrackingPlan, in arena: PlanArena) {
        var context: [ExactText: Treatment] = [:]
        for attribute in plan.context { context[ExactText(attribute.name)] = Treatment(attribute.sensitivity) }
        var all: [ExactText: Treatment] = [:]
        let events = plan.events.map { event in
            var keys: [ExactText: Treatment] = [:]
            for property in event.properties { Self.collect(property, into: &keys) }
            // Of two treatments of a key, dropping protects more.
            all.merge(keys) { $0 == .drop ? $0 : $1 }
            return keys
        }
        let rejected = plan.events.enumerated().map { index, event in
            var names: Set<ExactText> = []
            for property in event.properties { Self.collectNames(of: property, into: &names) }
            return events[index].merging(context.filter { !names.contains($0.key) }) { $0 == .drop ? $0 : $1 }
        }
        rejectedEvents = arena.allocate(rejected.map { TreatmentTable($0, in: arena) })
        self.rejected = TreatmentTable(all.merging(context) { $0 == .drop ? $0 : $1 }, in: arena)
        self.context = TreatmentTable(context, in: arena)
        payloads = TreatmentTable(all, in: arena)
        self.events = arena.allocate(events.map { TreatmentTable($0, in: arena) })
        let treatments = Set(context.values).union(all.values)
        concernsRejections = treatments.contains(.drop) || treatments.contains(.hash)
        needsHashKey = treatments.contains(.hash)
    }

    /// The keys of an event's properties; those of all events for a negative index, which stands for an unknown event.
    func payload(of definitionIndex: Int) -> TreatmentTable {
        definitionIndex < 0 ? payloads : events[definitionIndex]
    }

    /// What is removed from a rejected event outside its `context`, by key; a negative index stands for an unknown event.
    func rejected(of definitionIndex: Int) -> TreatmentTable {
        definitionIndex < 0 ? rejected : rejectedEvents[definitionIndex]
    }

    private static func collectNames(of property: PropertyDefinition, into names: inout Set<ExactText>) {
        names.insert(ExactText(property.name))
        for member in (property.properties ?? []) + (property.items?.properties ?? []) {
            collectNames(of: member, into: &names)
        }
        if let items = property.items?.items { collectNames(of: items, into: &names) }
    }

    private static func collect(_ property: PropertyDefinition, into keys: inout [ExactText: Treatment]) {
        let (name, treatment) = (ExactText(property.name), Treatment(property.sensitivity))
        if treatment != .keep, keys[name] != .drop { keys[name] = treatment }
        for member in (property.properties ?? []) + (property.items?.properties ?? []) { collect(member, into: &keys) }
        if let items = property.items?.items { collect(items, into: &keys) }
    }
}
