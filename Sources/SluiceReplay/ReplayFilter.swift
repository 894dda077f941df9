package import EventModel
import EventSchema
package import EventValidation

/// Selects the events that a replay sends.
package struct ReplayFilter: Sendable {
    private let names: Set<String>
    private let since: Timestamp?
    private let until: Timestamp?

    /// Creates a filter from names of events and the times between which events happened; `until` itself is excluded.
    package init(events: [String] = [], since: Timestamp? = nil, until: Timestamp? = nil) {
        names = Set(events)
        self.since = since
        self.until = until
    }

    /// The times of the selected events, in microseconds since 1970; `nil` for all.
    package var times: ClosedRange<Int64>? {
        guard since != nil || until != nil else { return nil }
        let earliest = since?.microseconds ?? .min
        // `until` itself is excluded.
        return earliest...max(earliest, until.map { $0.microseconds - 1 } ?? .max)
    }

    /// Checks that the plan has all names, because others could never match.
    ///
    /// - Throws: `SelectionError` for the first other name.
    package func check(against catalog: EventCatalog) throws(SelectionError) {
        let known = Set(catalog.definitions.map(\.name))
        if let unknown = names.subtracting(known).sorted().first {
            throw SelectionError("The plan has no event '\(unknown)'.")
        }
    }

    /// The events that pass the filter; `nil` if there are none.
    package func apply(to batch: EventBatch) -> EventBatch? {
        guard !names.isEmpty || since != nil || until != nil else { return batch }
        let isNamed = batch.catalog.definitions.map { names.isEmpty || names.contains($0.name) }
        return batch.selecting { entry in
            isNamed[Int(entry.definitionIndex)]
                && (since.map { entry.time >= $0 } ?? true)
                && (until.map { entry.time < $0 } ?? true)
        }
    }

    /// Whether the filter excludes a rejected event by its name.
    package func leavesOut(_ rejection: Rejection) -> Bool {
        guard !names.isEmpty, let name = rejection.name else { return false }
        return !names.contains(name)
    }
}
