import EventModel
import EventPipeline
import EventValidation
import Foundation

/// What `/readyz` and `/v1/status` of the private port say, as JSON.
package struct StatusReport: Codable, Sendable {
    /// The tracking plan.
    package struct Plan: Codable, Sendable {
        /// The version that it states, if it states one.
        package let version: String?
        package let events: Int
        /// What identifies its rules.
        package let digest: String
        /// Why the plan's files are not what is in use; `nil` if they are, or if nobody watches them.
        package let problem: String?
    }

    /// A tracker and its destination.
    package struct Tracker: Codable, Sendable {
        package let name: String
        package let status: String
        /// Why it is `starting`, `retrying` or `blocked`.
        package let reason: String?
        /// The events that cannot be delivered while others can, each with the reason.
        package let brokenEvents: [String: String]
        package let lagEvents: Int
        /// Whether some of these events may be for other trackers only; the journal is not read that far.
        package let lagIsUpperBound: Bool
        /// How long the oldest undelivered event has waited; `nil` if there is none, or it is not known yet.
        package let lagSeconds: Double?
        package let delivered: Int
        package let retried: Int
        package let refused: Int
        package let parked: Int
        package let dropped: Int
        package let queuedEvents: Int
        package let queuedBytes: Int
    }

    /// Rejected events of one kind.
    package struct Rejections: Codable, Sendable {
        /// The event's name; `nil` if the plan has no such event.
        package let event: String?
        /// The first rule that they broke.
        package let code: String
        /// The name of a write key, or where they came from.
        package let sender: String
        package let count: Int
    }

    /// The journal.
    package struct Journal: Codable, Sendable {
        package let bytes: Int
        package let segments: Int
        package let roomBytes: Int
    }

    /// The version of the program.
    package let version: String
    package let plan: Plan
    /// `ready` or `unready`.
    package let status: String
    /// Why no events are accepted.
    package let reasons: [String]
    package let accepted: Int
    /// How many events were rejected since the process began; `nil` from an earlier version.
    package let rejected: Int?
    /// The kinds of rejected events, the latest first, at most 20; `nil` from an earlier version.
    package let rejections: [Rejections]?
    package let unrouted: Int
    package let waitingBatches: Int
    package let committingBatches: Int
    package let trackers: [Tracker]
    /// `nil` without a journal.
    package let journal: Journal?
    /// The settings that somebody has changed for a time.
    package let changedSettings: [SettingChange]

    private static let maximumRejections = 20

    init(
        _ pipeline: any OperatedPipeline,
        programVersion: String,
        planProblem: String?,
        changedSettings: [SettingChange]
    ) {
        let (statistics, reasons) = (pipeline.statistics, pipeline.unreadyReasons)
        version = programVersion
        let plan = pipeline.planSummary
        self.plan = Plan(
            version: plan.version,
            events: plan.events,
            digest: plan.digest.description,
            problem: planProblem
        )
        self.changedSettings = changedSettings
        status = reasons.isEmpty ? "ready" : "unready"
        self.reasons = reasons.map(\.description)
        accepted = statistics.accepted
        rejected = pipeline.rejectedEvents
        rejections = pipeline.rejectionStatistics.prefix(Self.maximumRejections).map {
            Rejections(event: $0.kind.event, code: $0.kind.code.rawValue, sender: $0.kind.sender, count: $0.count)
        }
        unrouted = statistics.unrouted
        waitingBatches = statistics.waitingBatches
        committingBatches = statistics.committingBatches
        trackers = statistics.trackers.map(Tracker.init)
        journal = statistics.journal.map {
            Journal(bytes: $0.byteCount, segments: $0.segments, roomBytes: $0.roomInBytes)
        }
    }

    package var isReady: Bool { reasons.isEmpty }
}

extension Encodable {
    /// The value as one line of JSON, with its keys in alphabetical order.
    package var jsonLine: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}

extension StatusReport.Tracker {
    fileprivate init(_ tracker: TrackerStatistics) {
        self.init(
            name: tracker.name,
            status: tracker.status.description,
            reason: tracker.reason,
            brokenEvents: tracker.brokenEvents,
            lagEvents: tracker.lagEvents,
            lagIsUpperBound: tracker.lagIsUpperBound,
            lagSeconds: tracker.lag.map { $0 / .seconds(1) },
            delivered: tracker.delivered,
            retried: tracker.retried,
            refused: tracker.refused,
            parked: tracker.parked,
            dropped: tracker.dropped,
            queuedEvents: tracker.queuedEvents,
            queuedBytes: tracker.pendingBytes
        )
    }
}
