import EventSchema

/// A set of the events of a plan.
package final class EventSet: Sendable, Hashable {
    private let catalog: EventCatalog
    private let words: [UInt64]

    /// The events with these names; other names are ignored.
    package init(named names: [String], in catalog: EventCatalog) {
        var words = [UInt64](repeating: 0, count: (catalog.definitions.count + 63) / 64)
        let names = Set(names)
        for (index, definition) in catalog.definitions.enumerated() where names.contains(definition.name) {
            words[index / 64] |= 1 << UInt64(index % 64)
        }
        self.words = words
        self.catalog = catalog
    }

    /// The names that the plan does not have, sorted.
    package static func unknownNames(of names: [String], in catalog: EventCatalog) -> [String] {
        Set(names).subtracting(catalog.definitions.map(\.name)).sorted()
    }

    /// The names of its events, in the plan's order.
    package var names: [String] { catalog.definitions.enumerated().filter { contains($0.offset) }.map(\.element.name) }

    /// The same events in another plan, as far as it has them.
    package func inPlan(of other: EventCatalog) -> EventSet {
        catalog === other ? self : EventSet(named: names, in: other)
    }

    /// Whether it contains the event with this index.
    func contains(_ index: Int) -> Bool { words[index / 64] & 1 << UInt64(index % 64) != 0 }

    /// Whether two sets have the same events of the same plan.
    package static func == (left: EventSet, right: EventSet) -> Bool {
        left.catalog === right.catalog && left.words == right.words
    }

    /// Hashes the events.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(words)
    }
}
