import EventModel
import EventSchema
import EventValidation
import Metrics

/// Counts the accepted events of one plan, each by its name.
///
/// An event that two plans have in common has the same counters in both.
struct EventCounters: Sendable {
    private let catalog: EventCatalog
    /// For each definition of the catalog, and a last one for other events.
    private let metrics: [Counter]
    /// The same counts for the dashboard, which metrics cannot be asked for; none for other events.
    private let activity: [EventActivity.Counts]

    init(catalog: EventCatalog, metrics: [Counter], activity: [EventActivity.Counts]) {
        self.catalog = catalog
        self.metrics = metrics
        self.activity = activity
    }

    /// Counts a batch that was acknowledged.
    func accepted(_ batch: EventBatch, at time: Timestamp) {
        var run: (definition: UInt32, count: Int) = (0, 0)
        for entry in batch.entries {
            if entry.definitionIndex == run.definition {
                run.count += 1
            } else {
                count(run, of: batch.catalog, at: time)
                run = (entry.definitionIndex, 1)
            }
        }
        count(run, of: batch.catalog, at: time)
    }

    private func count(_ run: (definition: UInt32, count: Int), of catalog: EventCatalog, at time: Timestamp) {
        guard run.count > 0 else { return }
        var index: Int? = Int(run.definition)
        if catalog !== self.catalog, let foreign = index {
            let name = catalog.definitions[foreign].name
            index = self.catalog.definitions.firstIndex { $0.name == name }
        }
        metrics[index ?? metrics.count - 1].increment(by: run.count)
        if let index { activity[index].accepted(run.count, at: time) }
    }
}
