/// The next step of the supervisor, which watches the workers.
package enum SupervisorStep: Sendable, Equatable {
    /// Set a timer for this time, and ask again.
    case setTimer(Duration)
    /// Wait to be woken, and ask again.
    case wait
    /// Cancel the tasks of these workers, wake them, and ask again.
    case cancel(QueueSet, isDeadline: Bool)
    /// Close the journal, report when that is done, and ask again.
    case closeJournal
    /// End; these workers are left behind because they did not end in time.
    case finish(leftBehind: QueueSet)
}

extension DispatchState {
    /// A shutdown was requested: nothing more is accepted, and queued events are delivered until the deadline.
    package mutating func shutDown(now: Duration) -> DispatchActions {
        var actions = DispatchActions()
        stopAccepting(now: now, actions: &actions)
        return actions
    }

    /// The running task was cancelled: nothing more is accepted, and deliveries are cancelled at once.
    package mutating func cancel(now: Duration) -> DispatchActions {
        var actions = DispatchActions()
        stopAccepting(now: now, actions: &actions)
        if case .draining = phase { phase = .draining(until: now) }
        return actions
    }

    mutating func stopAccepting(now: Duration, actions: inout DispatchActions) {
        guard phase == .open else { return wakeAll(actions: &actions) }
        phase = .draining(until: now + configuration.shutdownTimeout)
        rejectWaiting(actions: &actions)
        wakeAll(actions: &actions)
    }

    private func wakeAll(actions: inout DispatchActions) {
        actions.wakes = QueueSet(first: trackers.count)
        actions.wakesSupervisor = true
    }

    /// The supervisor's timer has fired.
    package mutating func supervisorTimerFired(at time: Duration) -> DispatchActions {
        var actions = DispatchActions()
        if supervisorTimer == time {
            supervisorTimer = nil
            actions.wakesSupervisor = true
        }
        return actions
    }

    /// Decides the supervisor's next step.
    package mutating func nextSupervisorStep(now: Duration, actions: inout DispatchActions) -> SupervisorStep {
        switch phase {
        case .open:
            return .wait
        case .finished:
            return .finish(leftBehind: liveWorkers)
        case .draining where liveWorkers.isEmpty, .cancelling where liveWorkers.isEmpty:
            return close(now: now, actions: &actions)
        case .draining(let until):
            return stepWhileDraining(until: until, now: now)
        case .cancelling(let until):
            return now < until ? wait(until: until) : close(now: now, actions: &actions)
        case .closing(let until):
            return now < until && !isJournalClosed ? wait(until: until) : finish(now: now, actions: &actions)
        }
    }

    private mutating func stepWhileDraining(until: Duration, now: Duration) -> SupervisorStep {
        if now >= until {
            phase = .cancelling(until: now + configuration.cancellationGrace)
            cancelledWorkers = liveWorkers
            return .cancel(liveWorkers, isDeadline: true)
        }
        // A tracker without queued events need not go on trying to start.
        var idle: QueueSet = []
        for queue in liveWorkers
        where commits.isEmpty && trackers[queue].startsForNothing && !cancelledWorkers.contains(queue) {
            idle.insert(queue)
        }
        if idle.isEmpty { return wait(until: until) }
        cancelledWorkers.formUnion(idle)
        return .cancel(idle, isDeadline: false)
    }

    private mutating func close(now: Duration, actions: inout DispatchActions) -> SupervisorStep {
        endAllFlushes(actions: &actions)
        guard published != nil else { return finish(now: now, actions: &actions) }
        // A disk that is overdue gets no further time.
        let isOverdue = journalHealth.overdueWait(now: { now }) != nil
        phase = .closing(until: isOverdue ? now : now + configuration.cancellationGrace)
        return .closeJournal
    }

    /// The journal is closed.
    mutating func journalClosed(actions: inout DispatchActions) {
        isJournalClosed = true
        actions.wakesSupervisor = true
    }

    private mutating func finish(now: Duration, actions: inout DispatchActions) -> SupervisorStep {
        phase = .finished
        if published != nil, !isJournalClosed {
            hang = JournalHang(wait: journalHealth.wait(now: now), events: commits.eventsBeingWritten)
            abandonCommits(actions: &actions)
        }
        endAllFlushes(actions: &actions)
        return .finish(leftBehind: liveWorkers)
    }

    private mutating func wait(until time: Duration) -> SupervisorStep {
        if supervisorTimer == time { return .wait }
        supervisorTimer = time
        return .setTimer(time)
    }

    /// What the pipeline has done so far.
    package var statistics: PipelineStatistics {
        var statistics = PipelineStatistics()
        statistics.accepted = accepted
        statistics.unrouted = unrouted
        statistics.waitingBatches = waiting.count
        statistics.trackers = trackers.map { tracker in
            var statistics = tracker.statistics
            statistics.pendingBytes = tracker.queue.occupiedBytes
            statistics.status = tracker.status
            statistics.reason = tracker.failure?.description
            statistics.brokenEvents = tracker.broken.reasons.mapValues(\.description)
            return statistics
        }
        return statistics
    }
}
