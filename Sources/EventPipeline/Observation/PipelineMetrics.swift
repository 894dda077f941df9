import Metrics

/// What a pipeline counts, under names of one grammar: `sluice_<component>_<what>_<unit or total>`.
///
/// | name | counts |
/// |---|---|
/// | `sluice_events_accepted_total` | events that were acknowledged |
/// | `sluice_events_unrouted_total` | acknowledged events none of whose trackers is configured |
/// | `sluice_events_rejected_total` | events that did not follow the plan |
///
/// A tracker has those of `TrackerMetrics`.
struct PipelineMetrics: Sendable {
    private let accepted = Counter(label: "sluice_events_accepted_total")
    private let unrouted = Counter(label: "sluice_events_unrouted_total")
    private let rejected = Counter(label: "sluice_events_rejected_total")
    private let trackers: [TrackerMetrics]

    init(trackerNames: [String]) {
        trackers = trackerNames.map(TrackerMetrics.init)
    }

    subscript(queue: Int) -> TrackerMetrics { trackers[queue] }

    /// Counts a batch that was acknowledged.
    func acknowledged(_ batch: RoutedBatch) {
        accepted.increment(by: batch.count)
        if batch.unrouted > 0 { unrouted.increment(by: batch.unrouted) }
        for queue in batch.queues {
            guard let slice = batch.slice(of: queue) else { continue }
            trackers[queue].enqueued.increment(by: slice.count)
        }
    }

    /// Counts events that were not accepted.
    func rejected(_ count: Int) {
        rejected.increment(by: count)
    }
}

/// What is counted for each tracker, with the dimension `tracker`.
///
/// | name | counts |
/// |---|---|
/// | `sluice_tracker_events_enqueued_total` | events for the tracker; those of earlier runs are counted when they are read back |
/// | `sluice_tracker_events_settled_total` | delivered, refused, parked and dropped; `enqueued - settled` is the queue's depth |
/// | `sluice_tracker_events_delivered_total` | events delivered |
/// | `sluice_tracker_events_refused_total` | events that the destination, or a later plan, will never accept |
/// | `sluice_tracker_events_parked_total` | events put into the quarantine because their table or topic is broken |
/// | `sluice_tracker_events_dropped_total` | events a full queue dropped, the journal's retention removed, or damage took |
/// | `sluice_tracker_events_retried_total` | events tried again, once for each further try |
/// | `sluice_tracker_deliveries_total` | calls of `deliver` |
/// | `sluice_tracker_delivery_duration_seconds` | how long each call took |
struct TrackerMetrics: Sendable {
    let enqueued: Counter
    private let settled: Counter
    private let delivered: Counter
    private let refused: Counter
    private let parked: Counter
    private let dropped: Counter
    private let retried: Counter
    private let deliveries: Counter
    private let duration: Timer

    init(tracker: String) {
        let dimensions = [("tracker", tracker)]
        func counter(_ name: String) -> Counter {
            Counter(label: "sluice_tracker_\(name)_total", dimensions: dimensions)
        }
        enqueued = counter("events_enqueued")
        settled = counter("events_settled")
        delivered = counter("events_delivered")
        refused = counter("events_refused")
        parked = counter("events_parked")
        dropped = counter("events_dropped")
        retried = counter("events_retried")
        deliveries = counter("deliveries")
        duration = Timer(label: "sluice_tracker_delivery_duration_seconds", dimensions: dimensions)
    }

    /// Counts a delivery that came back.
    func settled(_ settlement: Settlement, after time: Duration) {
        deliveries.increment()
        let (seconds, attoseconds) = time.components
        let nanoseconds = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        duration.recordNanoseconds(
            nanoseconds.overflow ? .max : nanoseconds.partialValue &+ attoseconds / 1_000_000_000
        )
        delivered.increment(by: settlement.delivered)
        refused.increment(by: settlement.refusals.count)
        settled.increment(by: settlement.delivered + settlement.refusals.count)
    }

    /// Counts events that were parked in the quarantine.
    func parked(_ count: Int) {
        parked.increment(by: count)
        settled.increment(by: count)
    }

    /// Counts a reading of the journal.
    func read(_ reading: TrackerState.Reading) {
        // First, so that no more is settled than was enqueued.
        enqueued.increment(by: reading.enqueued)
        refused.increment(by: reading.refused)
        dropped.increment(by: reading.dropped)
        settled.increment(by: reading.refused + reading.dropped)
    }

    /// Counts events that are tried again.
    func retried(_ count: Int) {
        retried.increment(by: count)
    }

    /// Counts events that were removed from the journal before the tracker had them; `unforeseen` of them were not counted
    /// as enqueued.
    func lost(_ count: Int, unforeseen: Int) {
        enqueued.increment(by: unforeseen)
        dropped(count)
    }

    /// Counts events that a full queue dropped.
    func dropped(_ count: Int) {
        dropped.increment(by: count)
        settled.increment(by: count)
    }
}
