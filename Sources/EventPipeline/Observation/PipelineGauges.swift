import EventModel
import MetricDefinitions
import Metrics

/// The metrics of a pipeline that are known only when somebody asks, recorded by `Pipeline.recordGauges`.
struct PipelineGauges: Sendable {
    static let definitions = [ready, waitingBatches] + OfTracker.definitions + OfJournal.definitions

    private static let ready = MetricDefinition(
        "sluice_pipeline_ready",
        .gauge,
        help: "1 if events are accepted, else 0; /readyz of the private port says why not"
    )
    private static let waitingBatches = MetricDefinition(
        "sluice_pipeline_waiting_batches",
        .gauge,
        help: "Batches that wait for room in a queue"
    )

    private let ready: Gauge
    private let waitingBatches: Gauge
    private let trackers: [OfTracker]
    private let journal: OfJournal?

    init(trackerNames: [String], hasJournal: Bool, _ factory: any MetricsFactory) {
        ready = Self.ready.gauge(in: factory)
        waitingBatches = Self.waitingBatches.gauge(in: factory)
        trackers = trackerNames.map { OfTracker($0, factory) }
        journal = hasJournal ? OfJournal(factory) : nil
    }

    func record(_ statistics: PipelineStatistics, isReady: Bool) {
        ready.record(isReady ? 1 : 0)
        waitingBatches.record(statistics.waitingBatches)
        for (gauges, tracker) in zip(trackers, statistics.trackers) { gauges.record(tracker) }
        if let journal, let statistics = statistics.journal { journal.record(statistics) }
    }

    /// The gauges of one tracker.
    private struct OfTracker: Sendable {
        static let definitions = [queueEvents, queueBytes, lagEvents, lagSeconds, status, brokenEvents]

        private static let queueEvents = gauge(
            "queue_events",
            "Events in the tracker's queue, those of the delivery under way included"
        )
        private static let queueBytes = gauge("queue_bytes", "The size of these events")
        private static let lagEvents = gauge(
            "lag_events",
            """
            Accepted events that are not settled; those that an earlier run left count by their numbers in the journal, \
            whichever tracker they are for, until they are read
            """
        )
        private static let lagSeconds = gauge(
            "lag_seconds",
            "How long the oldest of these events has waited; 0 without any"
        )
        private static let status = MetricDefinition(
            "sluice_tracker_status",
            .gauge,
            labels: ["tracker", "status"],
            help: "1 for the tracker's status, 0 for the others"
        )
        private static let brokenEvents = gauge(
            "broken_events",
            "Names of events that cannot be delivered at this time, while others can"
        )

        private static func gauge(_ name: String, _ help: String) -> MetricDefinition {
            MetricDefinition("sluice_tracker_\(name)", .gauge, labels: ["tracker"], help: help)
        }

        private let queueEvents: Gauge
        private let queueBytes: Gauge
        private let lagEvents: Gauge
        private let lagSeconds: Gauge
        private let statuses: [(status: TrackerStatistics.Status, gauge: Gauge)]
        private let brokenEvents: Gauge

        init(_ tracker: String, _ factory: any MetricsFactory) {
            queueEvents = Self.queueEvents.gauge(tracker, in: factory)
            queueBytes = Self.queueBytes.gauge(tracker, in: factory)
            lagEvents = Self.lagEvents.gauge(tracker, in: factory)
            lagSeconds = Self.lagSeconds.gauge(tracker, in: factory)
            statuses = TrackerStatistics.Status.all.map {
                ($0, Self.status.gauge(tracker, $0.description, in: factory))
            }
            brokenEvents = Self.brokenEvents.gauge(tracker, in: factory)
        }

        func record(_ statistics: TrackerStatistics) {
            queueEvents.record(statistics.queuedEvents)
            queueBytes.record(statistics.pendingBytes)
            lagEvents.record(statistics.lagEvents)
            lagSeconds.record((statistics.lag ?? .zero) / .seconds(1))
            for (status, gauge) in statuses { gauge.record(status == statistics.status ? 1 : 0) }
            brokenEvents.record(statistics.brokenEvents.count)
        }
    }

    /// The gauges of the journal.
    private struct OfJournal: Sendable {
        static let definitions = [bytes, segments, room]

        private static let bytes = MetricDefinition("sluice_journal_bytes", .gauge, help: "The size of the journal")
        private static let segments = MetricDefinition(
            "sluice_journal_segments",
            .gauge,
            help: "Segments of the journal"
        )
        private static let room = MetricDefinition(
            "sluice_journal_room_bytes",
            .gauge,
            help:
                "How much more the journal can hold before it accepts no events: by its size limit, or by the disk's free space"
        )

        private let bytes: Gauge
        private let segments: Gauge
        private let room: Gauge

        init(_ factory: any MetricsFactory) {
            bytes = Self.bytes.gauge(in: factory)
            segments = Self.segments.gauge(in: factory)
            room = Self.room.gauge(in: factory)
        }

        func record(_ statistics: JournalStatistics) {
            bytes.record(statistics.byteCount)
            segments.record(statistics.segments)
            room.record(statistics.roomInBytes)
        }
    }
}

extension Pipeline {
    /// Records the metrics that are known only when somebody asks: queues, lags and the journal.
    ///
    /// Call it before the metrics are exported. `Operations` does so for each request for `/metrics`.
    public func recordGauges() {
        let (statistics, isReady) = (statistics, isReady)
        gauges.record(statistics, isReady: isReady)
    }
}
