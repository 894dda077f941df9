import EventModel

/// Lines that go to the quarantine together, at one time.
struct QuarantineLines {
    let time: Timestamp
    private(set) var count = 0
    private(set) var bytes: [UInt8] = []

    init(at time: Timestamp) {
        self.time = time
    }

    /// Adds an event that did not follow the plan.
    mutating func add(_ rejection: Rejection, source: String, planVersion: String?) {
        QuarantineLine.append(rejection, source: source, planVersion: planVersion, at: time, to: &bytes)
        count += 1
    }

    /// Adds an event that a tracker refused.
    mutating func add(_ event: TrackedEvent, refusedBy tracker: String, reason: String) {
        QuarantineLine.append(event, refusedBy: tracker, reason: reason, at: time, to: &bytes)
        count += 1
    }
}
