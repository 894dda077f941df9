import EventPipeline
import Foundation

/// What `/readyz` of the private port says, as JSON.
struct HealthReport: Encodable {
    /// A tracker and its destination.
    struct Tracker: Encodable {
        let name: String
        let status: String
        /// Why it is `starting`, `retrying` or `blocked`.
        let reason: String?
        /// The events that cannot be delivered while others can, each with the reason.
        let brokenEvents: [String: String]
        let lagEvents: Int
        /// How long the oldest undelivered event has waited; `nil` if there is none, or it is not known yet.
        let lagSeconds: Double?
    }

    /// `ready` or `unready`.
    let status: String
    /// Why no events are accepted.
    let reasons: [String]
    let trackers: [Tracker]

    init(_ pipeline: any ObservedPipeline) {
        let reasons = pipeline.unreadyReasons
        status = reasons.isEmpty ? "ready" : "unready"
        self.reasons = reasons.map(\.description)
        trackers = pipeline.statistics.trackers.map { tracker in
            Tracker(
                name: tracker.name,
                status: tracker.status.description,
                reason: tracker.reason,
                brokenEvents: tracker.brokenEvents,
                lagEvents: tracker.lagEvents,
                lagSeconds: tracker.lag.map { $0 / .seconds(1) }
            )
        }
    }

    var isReady: Bool { reasons.isEmpty }

    /// The report as one line.
    var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
        }
    }
}
