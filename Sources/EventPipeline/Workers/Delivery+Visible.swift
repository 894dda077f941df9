import EventValidation
import TrackerKit

extension Delivery {
    /// The same events without what is hidden from the tracker that gets `catalog`.
    ///
    /// Their lines are checked against that catalog, in which hidden values are dropped.
    ///
    /// - Throws: If there is not enough memory. Nothing is delivered then, because the events are not what the tracker may see.
    func visible(in catalog: EventCatalog) throws(TrackerError) -> Delivery {
        let validator = EventValidator(rereading: catalog)
        var visible: [EventSlice] = []
        for slice in slices {
            let events = slice.ownBatch
            guard let batch = try? validator.check(lines: events.lines).batch, batch.count == events.count else {
                throw TrackerError(
                    code: .failed,
                    message: "The values that the plan hides from the tracker could not be removed.",
                    isRetryable: true
                )
            }
            visible.append(EventSlice(batch))
        }
        return Delivery(visible, checkpoint: checkpoint)
    }
}
