import EventModel
import EventSchema
import EventValidation
package import MetricDefinitions
import Metrics
import Synchronization

/// The metrics of a pipeline.
///
/// They are made with the metrics factory that is current when the pipeline is made: that of `withMetricsFactory`, else the
/// global one.
package struct PipelineMetrics: Sendable {
    /// The name of the counter of rejected events.
    package static var rejectedName: String { rejected.name }
    /// The name of the histogram of commits to the journal.
    package static var commitsName: String { JournalMetrics.commits.name }
    /// The name of the histogram of deliveries to trackers.
    package static var deliveriesName: String { TrackerMetrics.duration.name }

    /// The value of the label `event` for events that the plan does not have; senders cannot make up further values.
    private static let unknownEvent = "(unknown)"

    /// All of them.
    package static let definitions =
        [accepted, unrouted, rejected] + TrackerMetrics.definitions + JournalMetrics.definitions
        + PipelineGauges.definitions

    private static let accepted = MetricDefinition(
        "sluice_events_accepted_total",
        .counter,
        labels: ["event"],
        help: "Events that were acknowledged"
    )
    private static let unrouted = MetricDefinition(
        "sluice_events_unrouted_total",
        .counter,
        help: "Acknowledged events that were not delivered, because none of their trackers is configured"
    )
    private static let rejected = MetricDefinition(
        "sluice_events_rejected_total",
        .counter,
        labels: ["event", "code"],
        help: "Events that did not follow the plan, by the first rule that they broke"
    )

    private let factory: any MetricsFactory
    private let unrouted: Counter
    private let rejected: RejectionCounters
    private let trackers: [TrackerMetrics]
    /// What the journal does.
    let journal: JournalMetrics
    /// The same counts of events for the dashboard, which metrics cannot be asked for.
    let activity = EventActivity()

    init(trackerNames: [String], factory: any MetricsFactory = MetricsSystem.factory) {
        self.factory = factory
        unrouted = Self.unrouted.counter(in: factory)
        rejected = RejectionCounters { event, code in
            Self.rejected.counter(event ?? Self.unknownEvent, code.rawValue, in: factory)
        }
        trackers = trackerNames.map { TrackerMetrics(tracker: $0, factory) }
        journal = JournalMetrics(factory)
    }

    /// Makes the counters for the events of a plan, which is the pipeline's plan from now on.
    func counters(for catalog: EventCatalog) -> EventCounters {
        let names = catalog.definitions.map(\.name)
        return EventCounters(
            catalog: catalog,
            metrics: (names + [Self.unknownEvent]).map { Self.accepted.counter($0, in: factory) },
            activity: activity.show(names)
        )
    }

    subscript(queue: TrackerIndex) -> TrackerMetrics { trackers[queue] }

    /// Makes the metrics that are known only when somebody asks.
    func gauges(trackerNames: [String], hasJournal: Bool) -> PipelineGauges {
        PipelineGauges(trackerNames: trackerNames, hasJournal: hasJournal, factory)
    }

    /// Counts where the events of a batch go that was acknowledged.
    func acknowledged(_ batch: RoutedBatch) {
        if batch.unrouted > 0 { unrouted.increment(by: batch.unrouted) }
        for queue in batch.queues {
            guard let slice = batch.slice(of: queue) else { continue }
            trackers[queue].enqueued.increment(by: slice.count)
        }
    }

    /// Counts events that were not accepted; the reasons of those in `explained` are known.
    func rejected(
        _ kinds: [RejectionTally.Kind: Int],
        explained: [Rejection],
        sender: String,
        at time: Timestamp
    ) {
        for (kind, count) in kinds { rejected[kind].increment(by: count) }
        activity.rejected(kinds, explained: explained, sender: sender, at: time)
    }

    /// What rejected events are counted by: each by the first rule that it broke.
    func kinds(of rejections: [Rejection]) -> [RejectionTally.Kind: Int] {
        rejections.reduce(into: [:]) { kinds, rejection in
            if let kind = rejection.kind { kinds[kind, default: 0] += 1 }
        }
    }
}

/// The counters of rejected events, each made when the first such event is rejected.
private final class RejectionCounters: Sendable {
    private let counters = Mutex<[RejectionTally.Kind: Counter]>([:])
    private let make: @Sendable (_ event: String?, VerdictCode) -> Counter

    init(_ make: @escaping @Sendable (_ event: String?, VerdictCode) -> Counter) {
        self.make = make
    }

    subscript(kind: RejectionTally.Kind) -> Counter {
        counters.withLock { counters in
            if let counter = counters[kind] { return counter }
            let counter = make(kind.event, kind.code)
            counters[kind] = counter
            return counter
        }
    }
}

/// What is counted for each tracker.
struct TrackerMetrics: Sendable {
    static let definitions = [
        enqueued, settled, delivered, refused, parked, dropped, forgotten, retried, deliveries,
        duration,
    ]

    private static let enqueued = counter(
        "events_enqueued",
        "Events for the tracker; those of earlier runs count when they are read back from the journal"
    )
    private static let settled = counter(
        "events_settled",
        "Events that were delivered, refused, parked, dropped or forgotten, or that a new plan does not send to the tracker"
    )
    private static let delivered = counter("events_delivered", "Events that were delivered")
    private static let refused = counter(
        "events_refused",
        "Events that the destination, or a later plan, will never accept; they are in the quarantine"
    )
    private static let parked = counter(
        "events_parked",
        "Events that were parked in the quarantine because their table or topic is broken"
    )
    private static let dropped = counter(
        "events_dropped",
        "Events that a full queue dropped, that the journal's retention removed, or that damage destroyed"
    )
    private static let forgotten = counter(
        "events_forgotten",
        "Events of people whose data was erased with `sluice forget`, which were dropped before the tracker got them"
    )
    private static let retried = counter("events_retried", "Events that were tried again, counted for each further try")
    private static let deliveries = counter("deliveries", "Deliveries, successful or not")
    fileprivate static let duration = MetricDefinition(
        "sluice_tracker_delivery_duration_seconds",
        .histogram,
        labels: ["tracker"],
        help: "How long deliveries took"
    )

    private static func counter(_ name: String, _ help: String) -> MetricDefinition {
        MetricDefinition("sluice_tracker_\(name)_total", .counter, labels: ["tracker"], help: help)
    }

    let enqueued: Counter
    private let settled: Counter
    private let delivered: Counter
    private let refused: Counter
    private let parked: Counter
    private let dropped: Counter
    private let forgotten: Counter
    private let retried: Counter
    private let deliveries: Counter
    private let duration: Timer

    init(tracker: String, _ factory: any MetricsFactory) {
        enqueued = Self.enqueued.counter(tracker, in: factory)
        settled = Self.settled.counter(tracker, in: factory)
        delivered = Self.delivered.counter(tracker, in: factory)
        refused = Self.refused.counter(tracker, in: factory)
        parked = Self.parked.counter(tracker, in: factory)
        dropped = Self.dropped.counter(tracker, in: factory)
        forgotten = Self.forgotten.counter(tracker, in: factory)
        retried = Self.retried.counter(tracker, in: factory)
        deliveries = Self.deliveries.counter(tracker, in: factory)
        duration = Self.duration.timer(tracker, in: factory)
    }

    /// Counts a delivery that came back.
    func settled(_ settlement: Settlement, after time: Duration) {
        deliveries.increment()
        duration.record(duration: time)
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
        settled.increment(by: reading.refused + reading.dropped + reading.leftOut)
    }

    /// Counts events that a new plan rejects, or does not send to the tracker.
    func planExcluded(refused count: Int, leftOut: Int) {
        refused.increment(by: count)
        settled.increment(by: count + leftOut)
    }

    /// Counts events that were dropped because a tombstone covers them.
    func forgotten(_ count: Int) {
        forgotten.increment(by: count)
        settled.increment(by: count)
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

/// How long the journal's disk takes.
struct JournalMetrics: Sendable {
    static let definitions = [commits, syncs]

    static let commits = MetricDefinition(
        "sluice_journal_commit_duration_seconds",
        .histogram,
        help:
            "How long the commits of waiting batches to the journal took, each with its sync if the durability is fsync"
    )
    private static let syncs = MetricDefinition(
        "sluice_journal_sync_duration_seconds",
        .histogram,
        help: "How long the syncs of the journal took"
    )

    private let commits: Timer
    private let syncs: Timer

    init(_ factory: any MetricsFactory) {
        commits = Self.commits.timer(in: factory)
        syncs = Self.syncs.timer(in: factory)
    }

    /// Counts a commit.
    func committed(after time: Duration) {
        commits.record(duration: time)
    }

    /// Counts a sync.
    func synced(after time: Duration) {
        syncs.record(duration: time)
    }
}
