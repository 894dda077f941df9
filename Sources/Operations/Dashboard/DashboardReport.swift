import EventModel
import EventPipeline
import EventSchema
import EventValidation
import Foundation

/// What the dashboard shows, as JSON; the page asks for it once a second.
struct DashboardReport: Codable {
    /// An event of the plan.
    struct Event: Codable {
        let name: String
        let accepted: Int
        let rejected: Int
        /// When the last one was accepted, in milliseconds since 1970.
        let lastAccepted: Int64?
    }

    /// Rejected events of one kind.
    struct Rejections: Codable {
        /// A broken rule, as in an answer of the ingest port.
        struct Problem: Codable {
            let code: String
            let path: String
            let expected: String
            let found: String
            /// Where the plan has the rule: a file and a line.
            let plan: String?
        }

        let event: String?
        let code: String
        let sender: String
        let count: Int
        /// When the last one was rejected, in milliseconds since 1970.
        let last: Int64
        let sample: [Problem]
    }

    /// A part of the journal.
    struct Segment: Codable {
        let first: UInt64
        let next: UInt64
        let bytes: Int
    }

    /// The maximum number of kinds of rejected events that are shown.
    private static let maximumRejections = 50

    /// When the process began, in milliseconds since 1970; the samples' numbers begin with it.
    let started: Int64
    let status: StatusReport
    /// Whether quarantined events can be sent again.
    let canReplay: Bool
    let samples: [MetricHistory.Sample]
    let events: [Event]
    let rejections: [Rejections]
    let segments: [Segment]
    /// The number of the first event in the journal that is not settled, by tracker.
    let cursors: [String: UInt64]

    init(
        _ pipeline: any OperatedPipeline,
        status: StatusReport,
        canReplay: Bool,
        started: Timestamp,
        samples: [MetricHistory.Sample]
    ) {
        let statistics = pipeline.statistics
        self.started = started.microseconds / 1000
        self.status = status
        self.samples = samples
        self.canReplay = canReplay
        events = pipeline.eventStatistics.map {
            Event(
                name: $0.name,
                accepted: $0.accepted,
                rejected: $0.rejected,
                lastAccepted: $0.lastAccepted.map { $0 / 1000 }
            )
        }
        rejections = pipeline.rejectionStatistics.prefix(Self.maximumRejections).map { rejection in
            Rejections(
                event: rejection.kind.event,
                code: rejection.kind.code.rawValue,
                sender: rejection.kind.sender,
                count: rejection.count,
                last: rejection.last / 1000,
                sample: rejection.sample.map {
                    .init(
                        code: $0.code.rawValue,
                        path: $0.path,
                        expected: $0.expected,
                        found: $0.found,
                        plan: $0.location?.description
                    )
                }
            )
        }
        segments = (statistics.journal?.parts ?? []).map {
            Segment(first: $0.firstSequence, next: $0.nextSequence, bytes: $0.byteCount)
        }
        let places = statistics.journal == nil ? [] : statistics.trackers.map { ($0.name, $0.cursor) }
        cursors = Dictionary(places, uniquingKeysWith: { $1 })
    }
}
