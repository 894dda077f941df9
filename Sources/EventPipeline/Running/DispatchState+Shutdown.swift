extension DispatchState {
    /// Marks the pipeline as running, and every worker as alive; returns false if it ran before.
    package mutating func run() -> Bool { lifecycle.run(workers: trackers.count) }

    /// A shutdown was requested: nothing more is accepted, and queued events are delivered until the deadline.
    package mutating func shutDown(now: Duration, actions: inout DispatchActions) {
        stopAccepting(now: now, actions: &actions)
    }

    /// The running task was cancelled: nothing more is accepted, and deliveries are cancelled at once.
    package mutating func cancel(now: Duration, actions: inout DispatchActions) {
        stopAccepting(now: now, actions: &actions)
        lifecycle.cancel(now: now)
    }

    /// Begins the shutdown because a tracker has failed as often as the configuration allows.
    mutating func fail(_ failure: Lifecycle.Failure, now: Duration, actions: inout DispatchActions) {
        lifecycle.fail(failure)
        stopAccepting(now: now, actions: &actions)
    }

    private mutating func stopAccepting(now: Duration, actions: inout DispatchActions) {
        if lifecycle.shutDown(now: now) { rejectWaiting(actions: &actions) }
        actions.wakes = QueueSet(first: trackers.count)
        actions.wakesSupervisor = true
    }

    /// The supervisor's timer has fired.
    package mutating func supervisorTimerFired(at time: Duration, actions: inout DispatchActions) {
        if lifecycle.timerFired(at: time) { actions.wakesSupervisor = true }
    }

    /// A worker has ended, and its tracker is stopped.
    package mutating func workerEnded(_ queue: TrackerIndex, actions: inout DispatchActions) {
        lifecycle.workerEnded(queue)
        actions.wakesSupervisor = true
    }

    /// The journal is closed.
    mutating func journalClosed(actions: inout DispatchActions) {
        lifecycle.journalClosed()
        actions.wakesSupervisor = true
    }

    /// Decides the supervisor's next step.
    package mutating func nextSupervisorStep(now: Duration, actions: inout DispatchActions) -> SupervisorStep {
        let wasFinished = lifecycle.isFinished
        let step = lifecycle.nextStep(surroundings(now: now), now: now)
        switch step {
        case .closeJournal: endAllWaits(actions: &actions)
        case .finish where !wasFinished: finish(now: now, actions: &actions)
        case .finish, .setTimer, .wait, .cancel: break
        }
        return step
    }

    private func surroundings(now: Duration) -> Lifecycle.Surroundings {
        // A tracker without queued events need not go on trying to start.
        var idle: QueueSet = []
        for queue in trackers.trackerIndices where commits.isEmpty && trackers[queue].startsForNothing {
            idle.insert(queue)
        }
        return Lifecycle.Surroundings(
            idleWorkers: idle,
            hasJournal: published != nil,
            isDiskOverdue: journalHealth.overdueWait(now: { now }) != nil
        )
    }

    private mutating func finish(now: Duration, actions: inout DispatchActions) {
        if published != nil, !lifecycle.isJournalClosed {
            hang = JournalHang(wait: journalHealth.wait(now: now), events: commits.eventsBeingWritten)
            abandonCommits(actions: &actions)
        }
        endAllWaits(actions: &actions)
    }

    /// Ends all waits, because nothing more will be settled.
    private mutating func endAllWaits(actions: inout DispatchActions) {
        endAllFlushes(actions: &actions)
        endAllDeliveryWaits(actions: &actions)
    }
}
