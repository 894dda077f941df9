package import TrackerKit

extension DispatchState {
    /// What a worker learns when it reports a delivery.
    package struct Report: Sendable, Equatable {
        /// The time until the next attempt; `nil` if there is none.
        package let pause: Duration?
        /// The number before which the tracker has settled everything.
        package var settledSequence: UInt64 = 0
    }

    /// Decides the next step of a worker that has nothing to do.
    package mutating func nextStep(of queue: TrackerIndex, now: Duration) -> WorkerStep {
        let urgency = lifecycle.urgency(ofWorker: queue, isCommitting: !commits.isEmpty)
        return trackers[queue].nextStep(urgency, published: published ?? 0, now: now)
    }

    /// A worker's timer has fired.
    package mutating func timerFired(of queue: TrackerIndex, at time: Duration, actions: inout DispatchActions) {
        if trackers[queue].timerFired(time) { actions.wakes.insert(queue) }
    }

    /// A tracker's `start` returned; after an error it is retried, up to `maximumStartAttempts`.
    ///
    /// Returns the time until the next attempt, if there is one.
    package mutating func startReturned(
        of queue: TrackerIndex,
        error: TrackerError?,
        now: Duration,
        jitter: Double,
        actions: inout DispatchActions
    ) -> Duration? {
        let pause = trackers[queue].startReturned(
            error,
            retry: configuration.retry,
            maximumAttempts: configuration.maximumStartAttempts,
            now: now,
            jitter: jitter
        )
        if let error, pause == nil, lifecycle.isOpen {
            fail(Lifecycle.Failure(queue: queue, error: error, isOfStart: true), now: now, actions: &actions)
        }
        if error != nil { endDeliveryWaits(failedIn: queue, actions: &actions) }
        return pause
    }

    /// A delivery returned, and its refused events are in the quarantine.
    package mutating func settle(
        _ settlement: Settlement,
        of queue: TrackerIndex,
        now: Duration,
        jitter: Double,
        actions: inout DispatchActions
    ) -> Report {
        let startsAgain = settlement.retryReason?.code == .superseded && checkpointing.contains(queue)
        let pause = trackers[queue].settle(
            settlement,
            startsAgain: startsAgain,
            retry: configuration.retry,
            now: now,
            jitter: jitter
        )
        if pause == nil {
            settled(queue, actions: &actions)
        } else {
            endDeliveryWaits(failedIn: queue, actions: &actions)
        }
        if pause == nil || startsAgain { roomFreed(in: queue, now: { now }, actions: &actions) }
        if pause != nil, let reason = settlement.retryReason, isHopeless(reason, queue, startsAgain: startsAgain) {
            fail(Lifecycle.Failure(queue: queue, error: reason, isOfStart: false), now: now, actions: &actions)
            return Report(pause: nil, settledSequence: trackers[queue].settledSequence)
        }
        guard pause == nil else { return Report(pause: pause) }
        return Report(pause: nil, settledSequence: settledSequence(of: queue))
    }

    /// A queue has settled events: ends the waits for them.
    mutating func settled(_ queue: TrackerIndex, actions: inout DispatchActions) {
        endFlushes(settledIn: queue, actions: &actions)
        endDeliveryWaits(settledIn: queue, actions: &actions)
    }

    /// Whether the configuration says that a delivery is not retried.
    private func isHopeless(_ reason: TrackerError, _ queue: TrackerIndex, startsAgain: Bool) -> Bool {
        guard let maximum = configuration.maximumDeliveryAttempts else { return false }
        return trackers[queue].failures >= maximum || !reason.isRetryable && !startsAgain
    }

    /// Events of a name are parked, because they cannot be delivered while others can.
    ///
    /// If that is true of all of them, one is sent as a probe after the longest pause of the retry policy, or later if the last probe took long.
    /// Returns whether this is new.
    mutating func noteBroken(
        _ name: String,
        _ reason: TrackerError,
        isWholeName: Bool,
        failures: Int,
        of queue: TrackerIndex,
        after probe: Duration,
        now: Duration
    ) -> Bool {
        trackers[queue].broken.note(
            name,
            reason,
            isWholeName: isWholeName,
            failures: failures,
            after: probe,
            pause: configuration.retry.maximumPause,
            now: now
        )
    }

    /// A probe was delivered; returns how long events of the name could not be delivered.
    mutating func noteRepaired(_ name: String, of queue: TrackerIndex, now: Duration) -> Duration {
        trackers[queue].broken.remove(name, now: now)
    }

    /// The events that cannot be delivered while others can.
    mutating func currentBrokenEvents(of queue: TrackerIndex, now: Duration) -> BrokenEvents {
        trackers[queue].broken.forgetExpired(now: now)
        return trackers[queue].broken
    }

    /// A tracker has accepted events of these names.
    mutating func accepted(_ names: Set<String>, by queue: TrackerIndex) {
        trackers[queue].broken.accepted(names)
    }

    /// Whether events of a name are parked as soon as they are stuck.
    func parksAtOnce(_ name: String, of queue: TrackerIndex, now: Duration) -> Bool {
        trackers[queue].broken.parksAtOnce(name, now: now)
    }

    /// The plan was replaced, and sends a tracker events of these names.
    mutating func reviseBrokenEvents(of queue: TrackerIndex, keeping names: Set<String>) {
        trackers[queue].broken.revise(keeping: names)
    }

    /// Whether a tracker has to be started for the plan in use, although deliveries to it are being retried; the caller starts it.
    mutating func takeStartForPlan(of queue: TrackerIndex) -> Bool {
        // Cleared first: if the plan is replaced during the start, it is set again.
        defer { trackers[queue].isStartedForEarlierPlan = false }
        return trackers[queue].isStartedForEarlierPlan
    }

    /// The start that `takeStartForPlan` asked for has failed.
    mutating func startForPlanFailed(of queue: TrackerIndex) {
        trackers[queue].isStartedForEarlierPlan = true
    }

    /// The plan in use rejects events of a delivery, or does not send them to the tracker.
    mutating func planExcluded(refused: Int, leftOut: Int, of queue: TrackerIndex) {
        trackers[queue].planExcluded(refused: refused, leftOut: leftOut)
    }

    /// Events of a delivery are dropped because a tombstone covers them.
    mutating func forgotten(_ count: Int, of queue: TrackerIndex) {
        trackers[queue].forgotten(count)
    }

    /// The limits of a tracker's next delivery.
    func deliveryLimits(of queue: TrackerIndex) -> DeliveryLimits { trackers[queue].queue.delivery }

    /// Whether a tracker has been started once.
    func hasStarted(_ queue: TrackerIndex) -> Bool { trackers[queue].hasStarted }

    /// Whether the position of a tracker that stores its own checkpoint is known.
    func isResumed(_ queue: TrackerIndex) -> Bool { trackers[queue].isResumed }

    /// The oldest event of a tracker that is left in the journal was committed at this time.
    mutating func noteCommit(of sequence: UInt64, at time: Duration, in queue: TrackerIndex) {
        trackers[queue].queue.noteCommit(of: sequence, at: time)
    }
}
