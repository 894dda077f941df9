extension DispatchState {
    /// What a worker learns when it reports: how long it pauses, if it does, and after how many failures in a row.
    package struct Report: Sendable, Equatable {
        package let pause: Duration?
        package let failures: Int
        /// How far the tracker has got in the journal.
        package var settledSequence: UInt64 = 0
    }

    /// Marks the pipeline as running, and every worker as alive; false where it ran before.
    package mutating func run() -> Bool {
        guard !isRunning else { return false }
        isRunning = true
        liveWorkers = QueueSet(first: trackers.count)
        return true
    }

    /// Whether every tracker has started, the door is open, and the journal can be written.
    package var isReady: Bool {
        isRunning && phase == .open && isJournalWritable && trackers.allSatisfy(\.isStarted)
    }

    /// Decides what a worker that has nothing to do does now.
    package mutating func nextStep(of queue: Int, now: Duration) -> WorkerStep {
        let urgency: TrackerState.Urgency =
            switch phase {
            case .open: .normal
            case .draining: admitted.isEmpty ? .drain : .normal
            case .cancelling, .finished: .end
            }
        return trackers[queue].nextStep(urgency, published: published ?? 0, now: now)
    }

    /// A worker's timer has fired.
    package mutating func timerFired(of queue: Int, at time: Duration) -> DispatchActions {
        var actions = DispatchActions()
        if trackers[queue].timerFired(time) { actions.wakes = [queue] }
        return actions
    }

    /// A tracker's `start` came back; an error that is not retryable ends the pipeline.
    package mutating func startReturned(
        of queue: Int,
        error: TrackerError?,
        now: Duration,
        jitter: Double,
        actions: inout DispatchActions
    ) -> Report {
        let failures = trackers[queue].failures
        let pause = trackers[queue].startReturned(error, retry: configuration.retry, now: now, jitter: jitter)
        if let error, !error.isRetryable, phase == .open {
            startFailure = (queue, error)
            closeDoor(now: now, actions: &actions)
        }
        return Report(pause: pause, failures: pause == nil ? failures : trackers[queue].failures)
    }

    /// A delivery came back.
    ///
    /// The refused events are in the quarantine by now.
    package mutating func settle(
        _ settlement: Settlement,
        of queue: Int,
        now: Duration,
        jitter: Double,
        actions: inout DispatchActions
    ) -> Report {
        let failures = trackers[queue].failures
        let pause = trackers[queue].settle(settlement, retry: configuration.retry, now: now, jitter: jitter)
        if pause == nil {
            endFlushes(settledIn: queue, actions: &actions)
            roomCameFree(in: queue, now: { now }, actions: &actions)
        }
        return Report(
            pause: pause,
            failures: pause == nil ? failures : trackers[queue].failures,
            settledSequence: pause == nil ? settledSequence(of: queue) : 0
        )
    }

    /// A worker has ended, and its tracker is stopped.
    package mutating func workerEnded(_ queue: Int) -> DispatchActions {
        var actions = DispatchActions()
        liveWorkers.remove(queue)
        actions.wakesSupervisor = true
        return actions
    }
}
