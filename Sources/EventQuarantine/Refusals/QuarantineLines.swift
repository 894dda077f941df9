import EventModel
import EventValidation
import TrackerKit

/// Lines that are stored in one commit, with the same time.
struct QuarantineLines: Sendable {
    let time: Timestamp
    private(set) var count = 0
    private(set) var bytes: [UInt8] = []

    init(at time: Timestamp) {
        self.time = time
    }

    /// Adds an accepted event that no longer follows the plan, and that a tracker had not delivered.
    mutating func add(_ rejection: Rejection, undeliveredBy tracker: String, planVersion: String?) {
        let head = QuarantineLine.Head.delivery(to: tracker, at: time, planVersion: planVersion)
        QuarantineLine.append(rejection, head, to: &bytes)
        count += 1
    }

    /// Adds an event that a tracker refused, or that was parked.
    mutating func add(
        _ event: TrackedEvent,
        refusedBy tracker: String,
        as verdict: DeliveryVerdict,
        reason: String
    ) {
        QuarantineLine.append(event, refusedBy: tracker, as: verdict, reason: reason, at: time, to: &bytes)
        count += 1
    }
}
