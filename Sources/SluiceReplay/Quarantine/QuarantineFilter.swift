package import EventModel
import EventQuarantine
import EventValidation

/// Selects records of a quarantine.
package struct QuarantineFilter: Sendable {
    /// The codes to match, of which a record's verdict must have at least one; empty for all.
    package var codes: Set<String> = []
    /// The names of events; empty for all.
    package var events: Set<String> = []
    /// The earliest time at which an event was quarantined; `nil` for any.
    package var since: Timestamp?
    /// The time before which an event was quarantined; `nil` for any.
    package var until: Timestamp?

    /// Creates a filter that selects all records.
    package init() {}

    /// Creates a filter that selects by codes and names of events; an empty list selects all.
    ///
    /// - Throws: `SelectionError` for an unknown code, which could never match.
    package init(codes: [String], events: [String]) throws(SelectionError) {
        let known = VerdictCode.allCases.map(\.rawValue) + DeliveryVerdict.allCases.map(\.rawValue)
        if let unknown = codes.first(where: { !known.contains($0) }) {
            throw SelectionError("There is no code '\(unknown)'; there are: \(known.joined(separator: ", ")).")
        }
        self.codes = Set(codes)
        self.events = Set(events)
    }

    /// Whether the filter selects a record.
    package func matches(_ record: QuarantineRecord) -> Bool {
        if let since, record.at < since { return false }
        if let until, record.at >= until { return false }
        if !codes.isEmpty, codes.isDisjoint(with: record.codes) { return false }
        return events.isEmpty || record.eventName.map(events.contains) ?? false
    }
}
