import EventSchema

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
