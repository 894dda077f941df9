import EventSchema

/// A set of the events of a plan.
package struct EventSet: Sendable, Hashable {
    private var words: [UInt64]

    /// The events with these names; other names are ignored.
    package init(named names: [String], in catalog: EventCatalog) {
        words = Array(repeating: 0, count: (catalog.definitions.count + 63) / 64)
        let names = Set(names)
        for (index, definition) in catalog.definitions.enumerated() where names.contains(definition.name) {
            words[index / 64] |= 1 << UInt64(index % 64)
        }
    }

    /// The names that the plan does not have, sorted.
    package static func unknownNames(of names: [String], in catalog: EventCatalog) -> [String] {
        Set(names).subtracting(catalog.definitions.map(\.name)).sorted()
    }

    /// The names of a set's events, or of all events without a set, in the plan's order.
    package static func names(of events: EventSet?, in catalog: EventCatalog) -> [String] {
        catalog.definitions.enumerated().filter { events?.contains($0.offset) ?? true }.map(\.element.name)
    }

    /// Whether it contains the event with this index.
    func contains(_ index: Int) -> Bool { words[index / 64] & 1 << UInt64(index % 64) != 0 }
}
