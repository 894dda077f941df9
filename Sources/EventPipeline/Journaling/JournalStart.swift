import EventJournal
public import EventModel

/// Where in the journal a tracker begins that has no cursor there yet.
public enum JournalStart: Sendable, Hashable {
    /// With the oldest event that the journal still has.
    case beginning
    /// Behind the last event: the tracker gets what comes from now on.
    case end
    /// With the first commit that holds an event of this time or a later one.
    ///
    /// The tracker gets that commit whole, and everything behind it, in the journal's order: events that came together
    /// with those sought, or late, are of earlier times.
    case time(Timestamp)

    /// The number of the first event for a tracker that begins here.
    func sequence(in journal: Journal) throws(JournalError) -> UInt64 {
        switch self {
        case .beginning: journal.position.firstSequence
        case .end: journal.position.nextSequence
        case .time(let time): try journal.sequence(ofEventsFrom: time.microseconds)
        }
    }
}
