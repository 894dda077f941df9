package import TrackerKit

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

/// The life of a pipeline: its phase, the workers that are alive, and the deadlines of its shutdown.
package struct Lifecycle: Sendable {
    enum Phase: Sendable, Equatable {
        /// Batches are accepted.
        ///
        /// Can transition to:
        /// - `draining` when a shutdown is requested, or a tracker did not start or deliver within the number of attempts.
        /// - `cancelling` when the task that runs the pipeline is cancelled.
        case open
        /// No batch is accepted any more, and workers deliver what is queued.
        ///
        /// Can transition to:
        /// - `cancelling` at `until`, or when the running task is cancelled.
        /// - `closing`, or without a journal `finished`, when all workers have ended.
        case draining(until: Duration)
        /// Deliveries have been cancelled, and workers are ending.
        ///
        /// Can transition to:
        /// - `closing`, or without a journal `finished`, when all workers have ended, or at `until`.
        case cancelling(until: Duration)
        /// The journal is being closed.
        ///
        /// Can transition to:
        /// - `finished` when it is closed, or at `until`, because a disk may never answer.
        case closing(until: Duration)
        /// The pipeline has shut down. Final.
        case finished
    }

    /// A tracker that was given up because its attempts are limited.
    package struct Failure: Sendable {
        package let queue: TrackerIndex
        package let error: TrackerError
        /// Whether it did not start; otherwise it did not deliver.
        package let isOfStart: Bool
    }

    private(set) var phase = Phase.open
    /// Whether `run` was called.
    private(set) var isRunning = false
    /// Whether the journal was closed cleanly.
    private(set) var isJournalClosed = false
    /// The first tracker that was given up while the pipeline was open, and why.
    private(set) var failure: Failure?
    /// The workers that have not ended.
    private var liveWorkers: QueueSet = []
    /// The workers whose task was cancelled.
    private var cancelledWorkers: QueueSet = []
    /// The workers that end although events are queued, because their deliveries are not retried.
    private var givenUp: QueueSet = []
    /// The time for which the supervisor's timer is set.
    private var timer: Duration?
    private let shutdownTimeout: Duration
    private let cancellationGrace: Duration

    init(shutdownTimeout: Duration, cancellationGrace: Duration) {
        self.shutdownTimeout = shutdownTimeout
        self.cancellationGrace = cancellationGrace
    }

    /// Whether batches are accepted.
    var isOpen: Bool { phase == .open }

    /// Whether nothing more will be delivered.
    var isOver: Bool {
        switch phase {
        case .open, .draining, .cancelling: false
        case .closing, .finished: true
        }
    }

    var isFinished: Bool { phase == .finished }

    /// Marks the pipeline as running, and every worker as alive; returns false if it ran before.
    mutating func run(workers: Int) -> Bool {
        guard !isRunning else { return false }
        isRunning = true
        liveWorkers = QueueSet(first: workers)
        return true
    }

    /// Begins the shutdown, unless it has begun; returns whether it begins now.
    mutating func shutDown(now: Duration) -> Bool {
        guard isOpen else { return false }
        phase = .draining(until: now + shutdownTimeout)
        return true
    }

    /// Ends the draining: the running task was cancelled.
    mutating func cancel(now: Duration) {
        if case .draining = phase { phase = .draining(until: now) }
    }

    /// A tracker has failed as often as the configuration allows.
    mutating func fail(_ failure: Failure) {
        if !failure.isOfStart { givenUp.insert(failure.queue) }
        if isOpen { self.failure = failure }
    }

    mutating func workerEnded(_ queue: TrackerIndex) { liveWorkers.remove(queue) }

    mutating func journalClosed() { isJournalClosed = true }

    /// The supervisor's timer has fired; returns whether it was the one that is set.
    mutating func timerFired(at time: Duration) -> Bool {
        guard timer == time else { return false }
        timer = nil
        return true
    }

    /// What the phase means for a worker.
    func urgency(ofWorker queue: TrackerIndex, isCommitting: Bool) -> TrackerState.Urgency {
        switch phase {
        case _ where givenUp.contains(queue): .end
        case .open: .normal
        case .draining: isCommitting ? .normal : .drain
        case .cancelling, .closing, .finished: .end
        }
    }
}

extension Lifecycle {
    /// What the supervisor must know of the pipeline to decide its next step.
    struct Surroundings {
        /// The workers that would start a tracker although nothing will come for it.
        let idleWorkers: QueueSet
        let hasJournal: Bool
        /// Whether the journal's disk has not answered for too long.
        let isDiskOverdue: Bool
    }

    /// Decides the supervisor's next step.
    mutating func nextStep(_ surroundings: Surroundings, now: Duration) -> SupervisorStep {
        switch phase {
        case .open:
            return .wait
        case .finished:
            return .finish(leftBehind: liveWorkers)
        case .draining where liveWorkers.isEmpty, .cancelling where liveWorkers.isEmpty:
            return close(surroundings, now: now)
        case .draining(let until):
            return now < until ? drain(until: until, surroundings) : cancelDeliveries(now: now)
        case .cancelling(let until):
            return now < until ? wait(until: until) : close(surroundings, now: now)
        case .closing(let until):
            return now < until && !isJournalClosed ? wait(until: until) : finish()
        }
    }

    private mutating func drain(until: Duration, _ surroundings: Surroundings) -> SupervisorStep {
        let idle = surroundings.idleWorkers.intersection(liveWorkers).subtracting(cancelledWorkers)
        if idle.isEmpty { return wait(until: until) }
        cancelledWorkers.formUnion(idle)
        return .cancel(idle, isDeadline: false)
    }

    private mutating func cancelDeliveries(now: Duration) -> SupervisorStep {
        phase = .cancelling(until: now + cancellationGrace)
        cancelledWorkers = liveWorkers
        return .cancel(liveWorkers, isDeadline: true)
    }

    private mutating func close(_ surroundings: Surroundings, now: Duration) -> SupervisorStep {
        guard surroundings.hasJournal else { return finish() }
        // A disk that is overdue gets no further time.
        phase = .closing(until: surroundings.isDiskOverdue ? now : now + cancellationGrace)
        return .closeJournal
    }

    private mutating func finish() -> SupervisorStep {
        phase = .finished
        return .finish(leftBehind: liveWorkers)
    }

    private mutating func wait(until time: Duration) -> SupervisorStep {
        if timer == time { return .wait }
        timer = time
        return .setTimer(time)
    }
}
