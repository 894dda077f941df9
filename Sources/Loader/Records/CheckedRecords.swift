import EventModel
import EventValidation
import SluiceKafka
import TrackerKit

/// The records of a batch, sorted by what has to be done with them; those whose event is for other trackers are left out.
struct CheckedRecords: Sendable {
    /// A record that may be valid under a plan that this loader does not have.
    struct Waiting: Sendable {
        let offset: Int64
        /// How long it waits for a loader with that plan.
        let time: Duration
    }

    /// The events for the tracker, without a checkpoint.
    var events = Delivery([])
    /// The record of each event.
    var sources: [ConsumedRecord] = []
    /// The records that do not follow the plan, and why.
    var rejections: [(record: ConsumedRecord, rejection: Rejection)] = []
    /// How many records were left out because a tombstone covers their events.
    var forgotten = 0
    /// The last record that was checked, valid or not.
    var last: ConsumedRecord?
    /// The first record that waits for a loader with its plan; neither it nor what follows it is in the other properties.
    var waiting: Waiting?

    /// The offset of the position after these records.
    func end(of batch: PartitionLoad<ConsumedRecord>.Batch) -> Int64 { waiting?.offset ?? batch.end }
}

extension Delivery {
    /// The event at a position, which must exist.
    func event(at position: Int) -> TrackedEvent {
        for event in selecting([position]) { return event }
        preconditionFailure("a position of the delivery")
    }
}
