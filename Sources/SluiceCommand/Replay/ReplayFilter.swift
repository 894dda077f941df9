import ArgumentParser
import EventModel
import EventSchema
import EventValidation

/// Which of the events that were read are sent on.
struct ReplayFilter {
    private let names: Set<String>
    private let since: Timestamp?
    private let until: Timestamp?

    init(events: [String] = [], since: Timestamp? = nil, until: Timestamp? = nil) {
        names = Set(events)
        self.since = since
        self.until = until
    }

    /// The times of the events that may pass, in microseconds since 1970; `nil` where all may.
    var times: ClosedRange<Int64>? {
        guard since != nil || until != nil else { return nil }
        let earliest = since?.microseconds ?? .min
        // The moment of `until` itself does not pass.
        return earliest...max(earliest, until.map { $0.microseconds - 1 } ?? .max)
    }

    /// Refuses names that the plan does not have: a filter that can never match is a slip.
    func check(against catalog: EventCatalog) throws {
        let known = Set(catalog.definitions.map(\.name))
        if let unknown = names.subtracting(known).sorted().first {
            throw ValidationError("The plan has no event '\(unknown)'.")
        }
    }

    /// The events that pass; `nil` where none does.
    func apply(to batch: EventBatch) -> EventBatch? {
        guard !names.isEmpty || since != nil || until != nil else { return batch }
        let isNamed = batch.catalog.definitions.map { names.isEmpty || names.contains($0.name) }
        return batch.selecting { entry in
            isNamed[Int(entry.definitionIndex)]
                && (since.map { entry.time >= $0 } ?? true)
                && (until.map { entry.time < $0 } ?? true)
        }
    }

    /// Whether a rejected event would have been left out in any case, as far as its name tells.
    func leavesOut(_ rejection: Rejection) -> Bool {
        guard !names.isEmpty, let name = rejection.name else { return false }
        return !names.contains(name)
    }
}
