import EventJournal
public import EventModel

/// Where in the journal a tracker begins if it has no cursor there yet.
public struct JournalStart: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        case beginning
        case end
        case time(Timestamp)
    }

    package let kind: Kind

    /// With the oldest event that the journal still has.
    public static let beginning = JournalStart(kind: .beginning)
    /// Behind the last event: the tracker gets the events that are accepted from now on.
    public static let end = JournalStart(kind: .end)

    /// With the first commit that holds an event of this time or a later one.
    ///
    /// The tracker gets the whole commit and everything behind it, in the journal's order. That can include earlier events, which
    /// were committed in the same group or arrived late.
    public static func time(_ time: Timestamp) -> JournalStart { JournalStart(kind: .time(time)) }

    /// The time to begin with; `nil` unless made by `time(_:)`.
    public var time: Timestamp? {
        if case .time(let time) = kind { time } else { nil }
    }

    /// `beginning`, `end`, or the time in RFC 3339.
    public var description: String {
        switch kind {
        case .beginning: "beginning"
        case .end: "end"
        case .time(let time): time.description
        }
    }

    /// The number of the first event for a tracker that begins here.
    func sequence(in journal: Journal) throws(JournalError) -> UInt64 {
        switch kind {
        case .beginning: journal.position.firstSequence
        case .end: journal.position.nextSequence
        case .time(let time): try journal.sequence(ofEventsFrom: time.microseconds)
        }
    }
}
