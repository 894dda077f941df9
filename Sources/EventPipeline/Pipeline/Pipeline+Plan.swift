public import EventModel
import EventSchema
public import EventValidation
import Synchronization
import TrackerKit

extension Pipeline {
    /// Replaces the plan while the pipeline runs, between two batches.
    ///
    /// Batches that were checked against the earlier plan are still accepted. Before a tracker gets events that were accepted
    /// under the earlier plan, they are checked again, as after a restart with another plan: those that do not follow the new
    /// plan go to the quarantine, and those that the new plan does not send to the tracker are left out. Each tracker is started
    /// again for the new plan between two deliveries; what its destination lacks then holds up only the events that need it.
    ///
    /// An `IngestServer` has a plan of its own: replace the pipeline's first.
    ///
    /// - Throws: `PipelineError` if the plan hashes values and the catalog has no key for them, or if a tracker's
    ///   `checkSettings` throws; then nothing has changed.
    public func replacePlan(with catalog: EventCatalog) throws(PipelineError) {
        let trackers = try CheckedTrackers(trackers, catalog: catalog)
        let counters = metrics.counters(for: catalog)
        let plan = PlanInUse(
            isFirst: false,
            trackers: trackers,
            counters: counters,
            eventTimes: eventTimes,
            now: now
        )
        // Before and after the change, so that a worker that reads the new plan finds that its tracker needs another start.
        decide { state, actions in state.planReplaced(actions: &actions) }
        planInUse.withLock { $0 = plan }
        decide { state, actions in state.planReplaced(actions: &actions) }
    }

    /// The plan that events are checked against and routed by.
    public var catalog: EventCatalog { plan.catalog }

    /// What identifies the plan.
    public var planSummary: PlanSummary {
        let catalog = catalog
        return PlanSummary(
            version: catalog.plan.version,
            events: catalog.definitions.count,
            digest: catalog.planDigest
        )
    }

    /// The events that name a tracker that is not configured, by tracker.
    public var unconfiguredTrackers: [UnconfiguredTracker] { plan.unconfiguredTrackers }
}

/// What identifies the plan of a pipeline.
public struct PlanSummary: Sendable, Hashable {
    /// The version that the plan states, if it states one.
    public let version: String?
    /// The number of its events.
    public let events: Int
    /// The digest of its rules.
    public let digest: PlanDigest

    package init(version: String?, events: Int, digest: PlanDigest) {
        self.version = version
        self.events = events
        self.digest = digest
    }
}

extension DispatchState {
    /// The plan was replaced: every tracker is to be started for the new one.
    package mutating func planReplaced(actions: inout DispatchActions) {
        for queue in trackers.indices {
            trackers[queue].isStartedForEarlierPlan = true
            if trackers[queue].queue.spilledFrom != nil { trackers[queue].spilledUnderEarlierPlan = true }
        }
        actions.wakes = QueueSet(first: trackers.count)
    }
}
