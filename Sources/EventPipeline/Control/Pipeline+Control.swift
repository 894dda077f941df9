import EventModel
import EventQuarantine
import TrackerKit

/// Changes that an operator makes while the pipeline runs.
extension Pipeline {
    /// Lets a tracker deliver nothing more until it is resumed; its events wait, as if its destination were unavailable.
    ///
    /// A delivery under way ends. With a journal, a paused tracker costs room in the journal and nothing else; without one,
    /// its queue fills up, and a shutdown loses what is in it. `flush` waits until the tracker is resumed.
    ///
    /// - Returns: False if there is no tracker of this name, which is compared without regard to case.
    @discardableResult
    public func pause(tracker name: String) -> Bool {
        setPaused(true, tracker: name)
    }

    /// Lets a paused tracker deliver again.
    ///
    /// - Returns: False if there is no tracker of this name, which is compared without regard to case.
    @discardableResult
    public func resume(tracker name: String) -> Bool {
        setPaused(false, tracker: name)
    }

    private func setPaused(_ isPaused: Bool, tracker name: String) -> Bool {
        let name = name.lowercased()
        guard let index = trackers.firstIndex(where: { $0.name.lowercased() == name }) else { return false }
        decide { state, actions in state.setPaused(isPaused, of: TrackerIndex(index), actions: &actions) }
        return true
    }

    /// Takes over the capacities of the queues, the limits of deliveries and `parkAfter` of a configuration.
    ///
    /// Everything else stays as it is, the policies of the queues included. Nothing is lost: batches that wait are admitted at once
    /// if there is room now, and a queue that holds more than its capacity admits nothing until it has drained. Only the policy
    /// `dropOldest` drops events to make room, with the next batch. A delivery under way is not affected.
    package func changeLimits(to limits: Configuration) {
        var limits = limits.addingLimits(of: trackers)
        // Parked events could not be recovered from a quarantine that discards them.
        if quarantine.isDiscarding { limits.parkAfter = nil }
        decide { state, actions in state.changeLimits(to: limits, now: clock.now, actions: &actions) }
    }

    /// Whether batches are accepted, as far as an operator decides that; true unless somebody has set it to false.
    ///
    /// While it is false, the pipeline is not ready and rejects batches with `closed`, and its trackers deliver what was accepted
    /// before.
    public var acceptsEvents: Bool {
        get { decide { state, _ in !state.isIntakeClosed } }
        set { decide { state, _ in state.isIntakeClosed = !newValue } }
    }
}

extension DispatchState {
    /// Pauses a tracker, or resumes it.
    package mutating func setPaused(_ isPaused: Bool, of queue: TrackerIndex, actions: inout DispatchActions) {
        trackers[queue].isPaused = isPaused
        if isPaused { endDeliveryWaits(failedIn: queue, actions: &actions) } else { actions.wakes = [queue] }
    }
}
