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
struct RecordedEvent {
    let name: String
    let userId: String?
    let sessionId: String?
    let requestId: String
    /// In canonical JSON: the keys in the plan's order, no spaces.
    let payload: String

    init(_ event: TrackedEvent) throws {
        struct Envelope: Decodable {
            struct Context: Decodable {
                let requestId: String
            }
            let userId: String?
            let sessionId: String?
            let context: Context
        }
        let envelope = try JSONDecoder().decode(Envelope.self, from: Data(event.json.utf8))
        name = event.name
        userId = envelope.userId
        sessionId = envelope.sessionId
        requestId = envelope.context.requestId
        payload = event.json.components(separatedBy: #""payload":"#).last.map { String($0.dropLast()) } ?? ""
    }
}
