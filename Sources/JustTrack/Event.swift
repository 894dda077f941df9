/// The properties of an event: strings, numbers, Booleans, dates, data, URLs, UUIDs, `NSNull`, and arrays and dictionaries of
/// these.
///
/// A tracker gets each value with its original type, but a `Substring` as a `String`.
public typealias Payload = [String: Any]

/// The keys under which the original JustTrack stored an event.
///
/// They exist for source compatibility; nothing is stored under them.
public enum EventEncodingKey: String, Sendable {
    /// The event's name.
    case name
    /// The event's payload.
    case payload
    /// The names of the event's trackers.
    case trackers
}

/// Something that happened, and the trackers that get it.
public protocol Event {
    /// The event's name; an event without a name is refused.
    var name: String { get }
    /// The event's properties.
    var payload: Payload { get }
    /// The names of its trackers, compared case-insensitively; an event without trackers is refused.
    var registeredTrackers: [String] { get }
}
