package import EventModel
import EventSchema
package import EventValidation
package import TrackerKit

/// An event that a test writes down.
package struct ScriptedEvent: Sendable {
    package var name: String
    package var id: EventID
    package var time: Timestamp
    package var receivedAt: Timestamp
    package var userID: String?
    /// The payload's canonical JSON.
    package var payload: String

    package init(
        _ name: String,
        id: EventID,
        time: Timestamp = Timestamp(microseconds: 1_700_000_000_000_000, fractionDigits: 0),
        receivedAt: Timestamp = Timestamp(microseconds: 1_700_000_001_000_000, fractionDigits: 3),
        userID: String? = nil,
        payload: String = "{}"
    ) {
        self.name = name
        self.id = id
        self.time = time
        self.receivedAt = receivedAt
        self.userID = userID
        self.payload = payload
    }

    /// An event whose id is a small number, which is readable in tests.
    package init(_ name: String, number: Int, payload: String = "{}") {
        self.init(name, id: EventID(high: 0, low: UInt64(truncatingIfNeeded: number)), payload: payload)
    }

    /// The event in canonical JSON; the name, the user id and the payload are not escaped.
    package var canonicalJSON: String {
        let user = userID.map { #""userId":"\#($0)","# } ?? ""
        return #"{"id":"\#(id)","name":"\#(name)","time":"\#(time)","receivedAt":"\#(receivedAt)",\#(user)"#
            + #""payload":\#(payload)}"#
    }
}

extension EventBatch {
    /// A batch of canonical lines, made without the validator; events whose names are not in the plan are left out.
    package static func scripted(catalog: EventCatalog, events: [ScriptedEvent]) -> EventBatch {
        var bytes: [UInt8] = []
        var entries: [Entry] = []
        for event in events {
            guard let index = catalog.definitions.firstIndex(where: { $0.name == event.name }) else { continue }
            bytes.append(contentsOf: event.canonicalJSON.utf8)
            bytes.append(UInt8(ascii: "\n"))
            entries.append(
                Entry(
                    id: event.id,
                    time: event.time,
                    definitionIndex: UInt32(truncatingIfNeeded: index),
                    end: UInt32(truncatingIfNeeded: bytes.count)
                )
            )
        }
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        storage.copyBytes(from: bytes)
        return EventBatch(catalog: catalog, entries: entries, adopting: UnsafeRawBufferPointer(storage))
    }
}

extension EventCatalog {
    /// A plan of events without properties, each with the trackers that receive it, in order.
    package static func scripted(_ events: KeyValuePairs<String, [String]>) -> EventCatalog {
        let definitions = events.enumerated().map { index, event in
            EventDefinition(
                key: event.key,
                trackers: event.value,
                allowsAdditionalProperties: true,
                location: PlanLocation(file: "scripted.plist", line: index + 1, column: 1)
            )
        }
        return EventCatalog(plan: TrackingPlan(events: definitions))
    }
}

extension TrackedEvent {
    /// The small number that is the event's id.
    package var number: Int { Int(truncatingIfNeeded: id.low) }
}
