public import EventModel
public import EventValidation
import JSONTape
public import TrackerKit

/// An event as a tracker received it.
public struct RecordedEvent: Sendable, Hashable {
    /// The event's name in the plan.
    public let name: String
    /// The idempotency key, which is the same in each repeated delivery.
    public let id: EventID
    /// The time of the event.
    public let time: Timestamp
    /// The known user.
    public let userID: String?
    /// The user before they were identified.
    public let anonymousID: String?
    /// The session.
    public let sessionID: String?
    /// The members of its context; empty if it has none.
    public let context: [String: JSONValue]
    /// Its properties.
    ///
    /// A decimal is a string, as in the event's canonical JSON.
    public let payload: [String: JSONValue]
    /// The event's canonical JSON.
    public let json: String

    /// Reads a delivered event.
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
/// They equal typed events whose encoded payloads are the same.
public struct RecordedEvents<Event: AnalyticsEvent>: RandomAccessCollection, Sendable {
    private let events: [RecordedEvent]

    init(_ events: [RecordedEvent]) {
        self.events = events
    }

    /// The position of the first event.
    public var startIndex: Int { events.startIndex }
    /// The position after the last event.
    public var endIndex: Int { events.endIndex }
    /// An event with its envelope.
    public subscript(position: Int) -> RecordedEvent { events[position] }

    /// Whether the received and the expected events are equal in number, order and payloads.
    ///
    /// An expected event that violates the plan equals no received event, because it could not have been tracked.
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
