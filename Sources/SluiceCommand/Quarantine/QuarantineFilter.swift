import EventModel

/// Which records of a quarantine are meant.
struct QuarantineFilter {
    var codes: Set<String> = []
    var events: Set<String> = []
    /// When they were put there.
    var since: Timestamp?
    var until: Timestamp?

    func matches(_ record: QuarantineRecord) -> Bool {
        if let since, record.at < since { return false }
        if let until, record.at >= until { return false }
        if !codes.isEmpty, codes.isDisjoint(with: record.codes) { return false }
        return events.isEmpty || record.eventName.map(events.contains) ?? false
    }
}
