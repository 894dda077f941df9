import EventSchema

/// Checks the names of trackers across the plan.
enum TrackerCheck {
    /// The number of bits in the mask of an event's trackers.
    static let maximumTrackers = 64

    /// Reports trackers that the plan does not declare, if any of its files declares trackers; and otherwise names that are almost
    /// those of well-known trackers, and the trackers in `sensitive` that no event has, because a misspelt one would get nothing.
    static func checkNames(_ files: [PlanFile]) -> [Diagnostic] {
        let lists = files.compactMap(\.trackers)
        let ofEvents = files.flatMap(\.events).flatMap(\.trackers)
        let ofValues = files.flatMap(\.sensitiveTrackers)
        guard lists.isEmpty else {
            let named = files.flatMap(\.postgresTrackers) + ofEvents + ofValues
            return unknown(named, among: lists.flatMap { $0 }.map(\.text), listedAs: "'trackers' declares")
        }
        var known: Set<String> = []
        let names = ofEvents.map(\.text).filter { known.insert($0.lowercased()).inserted }
        return misspelled(ofEvents, unless: files.flatMap(\.postgresTrackers).map(\.text))
            + unknown(ofValues, among: names, listedAs: "the plan's events have")
    }

    /// Reports each name once that is almost that of a well-known tracker, unless it is in the list of further trackers.
    private static func misspelled(_ named: [PlacedText], unless declared: [String]) -> [Diagnostic] {
        var known = Set((WellKnownTracker.all + declared).map { $0.lowercased() })
        return named.filter { known.insert($0.text.lowercased()).inserted }.compactMap { tracker in
            Spelling.nearest(to: tracker.text, among: WellKnownTracker.all).map { nearest in
                let sentence = """
                    the tracker \(quoted(tracker.text)) is not a built-in one; did you mean '\(nearest)'? If not, list all \
                    trackers in 'trackers'
                    """
                return Diagnostic(.similarTracker, at: tracker.place, sentence)
            }
        }
    }

    private static func unknown(
        _ named: [PlacedText],
        among names: [String],
        listedAs introduction: String
    ) -> [Diagnostic] {
        let known = Set(names.map { $0.lowercased() })
        return named.filter { !known.contains($0.text.lowercased()) }.map { tracker in
            let hint =
                names.isEmpty
                ? introduction + " none" : Spelling.hint(for: tracker.text, among: names, listedAs: introduction)
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
