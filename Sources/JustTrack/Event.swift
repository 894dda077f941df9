/// What is known of an event, by key; its values are text, numbers, truth values, dates, data, URLs, UUIDs, `NSNull`, and
/// arrays and dictionaries of them.
///
/// A tracker gets each as the type it had, and a part of a text as `String`.
public typealias Payload = [String: Any]

/// The keys by which JustTrack stored an event's parts.
///
/// Kept for code that names them; nothing is stored under them any more.
public enum EventEncodingKey: String, Sendable {
    /// The event's name.
    case name
    /// The event's payload.
    case payload
    /// The names of the event's trackers.
    case trackers
}

/// Something that happened, and who is to hear of it.
public protocol Event {
    /// What happened; an event without a name is refused.
    var name: String { get }
    /// What is known of it.
    var payload: Payload { get }
    /// The names of the trackers that get it, compared without regard to case; an event without any is refused.
    var registeredTrackers: [String] { get }
}
