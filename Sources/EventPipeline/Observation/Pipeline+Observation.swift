import EventModel
import EventValidation

extension Pipeline {
    /// What the pipeline has seen of each event of the plan, in the plan's order, since the process began.
    public var eventStatistics: [EventStatistics] { metrics.activity.eventStatistics }

    /// How many events were rejected since the process began, of all kinds.
    public var rejectedEvents: Int { metrics.activity.rejectedCount }

    /// The kinds of events that were rejected since the process began, the latest first; at most 2,000 kinds.
    public var rejectionStatistics: [RejectionStatistics] { metrics.activity.rejectionStatistics }

    /// Counts a batch that was acknowledged, and shows it to those who watch.
    func observe(acknowledged batch: RoutedBatch) {
        plan.counters.accepted(batch.batch, at: now())
        metrics.acknowledged(batch)
        feed.accepted(batch.batch)
    }
}
