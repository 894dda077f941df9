import EventPipeline
import Foundation
import Synchronization

/// A tracker that remembers what was delivered to it.
final class RecordingTracker: SingleEventTracker {
    let name: String
    private let recorded = Mutex<[RecordedEvent]>([])

    init(name: String) {
        self.name = name
    }

    /// What was delivered, in its order.
    var events: [RecordedEvent] { recorded.withLock { $0 } }

    func track(_ event: TrackedEvent) async throws {
        let record = try RecordedEvent(event)
        recorded.withLock { $0.append(record) }
    }
}

/// What the tests want to know of an event.
struct RecordedEvent: Equatable {
    let name: String
    var userId: String?
    var sessionId: String?
    /// In canonical JSON: the keys in the plan's order, no spaces.
    let payload: String

    init(_ name: String, userId: String? = nil, sessionId: String? = nil, payload: String) {
        self.name = name
        self.userId = userId
        self.sessionId = sessionId
        self.payload = payload
    }

    init(_ event: TrackedEvent) throws {
        struct Envelope: Decodable {
            let userId: String?
            let sessionId: String?
            let context: [String: String]
        }
        struct NoRequestID: Error {}
        let envelope = try JSONDecoder().decode(Envelope.self, from: Data(event.json.utf8))
        guard let requestId = envelope.context["requestId"], !requestId.isEmpty else { throw NoRequestID() }
        self.init(
            event.name,
            userId: envelope.userId,
            sessionId: envelope.sessionId,
            payload: event.json.components(separatedBy: "\"payload\":").last.map { String($0.dropLast()) } ?? ""
        )
    }
}
