import EventModel
import EventValidation
import TrackerKit

/// A plan, and what a pipeline derives from it.
///
/// It is immutable and replaced as a whole, so code that reads it once never mixes two plans.
final class PlanInUse: Sendable {
    /// Whether it is the plan with which the pipeline was made.
    let isFirst: Bool
    let catalog: EventCatalog
    /// The catalog for each tracker, in which everything is dropped that the plan hides from it.
    let trackerCatalogs: [EventCatalog]
    /// Whether rejected events may be shown as they were sent: there is nothing that only some trackers may see.
    let showsOriginals: Bool
    let router: Router
    /// The events that name a tracker that is not configured, by tracker.
    let unconfiguredTrackers: [UnconfiguredTracker]
    /// Builders for events that are tracked one by one.
    let builders: BuilderPool
    /// What is counted for each event of the plan.
    let counters: EventCounters

    init(
        isFirst: Bool,
        trackers: CheckedTrackers,
        counters: EventCounters,
        eventTimes: TimeWindow,
        now: @escaping @Sendable () -> Timestamp
    ) {
        let catalog = trackers.catalog
        self.isFirst = isFirst
        self.catalog = catalog
        self.counters = counters
        trackerCatalogs = trackers.catalogs
        showsOriginals = catalog.visibleToAll === catalog
        router = Router(catalog: catalog, trackerNames: trackers.names)
        unconfiguredTrackers = catalog.unconfiguredTrackers(configured: trackers.names)
        builders = BuilderPool { EventBatchBuilder(catalog: catalog, eventTimes: eventTimes, now: now) }
    }
}

extension EventCatalog {
    /// The catalog in which everything is dropped that only some trackers may see.
    var visibleToAll: EventCatalog {
        // No tracker has an empty name.
        visible(to: "")
    }
}
