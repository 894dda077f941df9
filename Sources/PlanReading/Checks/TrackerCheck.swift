import EventSchema

/// Checks the names of trackers across the plan.
enum TrackerCheck {
    /// The number of bits in the mask of an event's trackers.
    static let maximumTrackers = 64

    /// Reports trackers that the plan does not declare, if any of its files declares trackers.
    static func checkNames(_ files: [PlanFile]) -> [Diagnostic] {
        let lists = files.compactMap(\.trackers)
        guard !lists.isEmpty else { return [] }
        let names = lists.flatMap { $0 }.map(\.text)
        let declared = Set(names.map { $0.lowercased() })
        let named = files.flatMap(\.postgresTrackers) + files.flatMap(\.events).flatMap(\.trackers)
        return named.filter { !declared.contains($0.text.lowercased()) }.map {
            tracker in
            let hint =
                names.isEmpty
                ? "'trackers' declares none"
                : Spelling.hint(for: tracker.text, among: names, listedAs: "'trackers' declares")
            return Diagnostic(.unknownTracker, at: tracker.place, "unknown tracker \(quoted(tracker.text)); \(hint)")
        }
    }

    /// Reports the first tracker beyond the limit.
    static func checkCount(_ files: [PlanFile]) -> [Diagnostic] {
        let names = files.flatMap { $0.trackers ?? [] } + files.flatMap(\.events).flatMap(\.trackers)
        var known: Set<String> = []
        let excess = names.first { known.insert($0.text.lowercased()).inserted && known.count > maximumTrackers }
        return excess.map {
            [
                Diagnostic(
                    .tooManyTrackers,
                    at: $0.place,
                    "the plan names more than \(maximumTrackers) trackers; remove some"
                )
            ]
        } ?? []
    }
}
