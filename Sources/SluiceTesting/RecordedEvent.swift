public import EventModel
public import EventValidation
import JSONTape
public import TrackerKit

/// An event as a tracker received it.
public struct RecordedEvent: Sendable, Hashable {
    /// The event's name in the plan.
    public let name: String
    /// The id that makes a repetition recognisable.
    public let id: EventID
    /// When it happened.
    public let time: Timestamp
    /// The person.
    public let userID: String?
    /// The person before they were known.
    public let anonymousID: String?
    /// The visit.
    public let sessionID: String?
    /// The members of its context; empty if it has none.
    public let context: [String: JSONValue]
    /// Its properties.
    ///
    /// A decimal is a string, as in the event's canonical JSON.
    public let payload: [String: JSONValue]
    /// The event's canonical JSON.
    public let json: String

    /// Reads an event that was delivered.
    public init(_ event: TrackedEvent) {
        name = event.name
        id = event.id
        time = event.time
        json = event.json
        let members = Self.members(of: json)
        func text(_ key: String) -> String? {
            if case .string(let text) = members[key] { text } else { nil }
        }
        func object(_ key: String) -> [String: JSONValue] {
            if case .object(let object) = members[key] { object } else { [:] }
        }
        userID = text("userId")
        anonymousID = text("anonymousId")
        sessionID = text("sessionId")
        context = object("context")
        payload = object("payload")
    }

    private static func members(of json: String) -> [String: JSONValue] {
        let padded = Array(json.utf8) + [UInt8](repeating: 0, count: JSONParser.padding)
        var parser = JSONParser()
        let value = padded.withUnsafeBytes { bytes in
            let text = UnsafeRawBufferPointer(rebasing: bytes.dropLast(JSONParser.padding))
            return (try? parser.parse(text)).map { JSONValue(at: $0.root, of: $0) }
        }
        guard case .object(let members) = value else { preconditionFailure("a delivered event is a JSON object") }
        return members
    }
}

/// The events of one type that a tracker received, in order.
///
/// They are equal to typed events that would be encoded as the same payloads.
public struct RecordedEvents<Event: AnalyticsEvent>: RandomAccessCollection, Sendable {
    private let events: [RecordedEvent]

    init(_ events: [RecordedEvent]) {
        self.events = events
    }

    /// The place of the first event.
    public var startIndex: Int { events.startIndex }
    /// The place behind the last event.
    public var endIndex: Int { events.endIndex }
    /// An event with its envelope.
    public subscript(position: Int) -> RecordedEvent { events[position] }

    /// Whether as many events were received as are expected, in the same order, with equal payloads.
    ///
    /// An expected event that breaks a rule of the plan is equal to none, because it could not have been tracked.
    public static func == (received: RecordedEvents, expected: [Event]) -> Bool {
        received.count == expected.count
            && zip(received, expected).allSatisfy { $0.payload == payload(of: $1) }
    }

    /// Whether the received events differ from the expected ones.
    public static func != (received: RecordedEvents, expected: [Event]) -> Bool { !(received == expected) }

    private static func payload(of event: Event) -> [String: JSONValue]? {
        var builder = EventBatchBuilder(catalog: Event.catalog)
        guard (try? builder.append(event)) != nil, let batch = builder.finish() else { return nil }
        return RecordedEvent(TrackedEvent(batch: batch, index: 0)).payload
    }
}

extension RecordedEvents: CustomStringConvertible {
    /// The canonical JSON of each event on a line of its own.
    public var description: String { events.map(\.json).joined(separator: "\n") }
}
