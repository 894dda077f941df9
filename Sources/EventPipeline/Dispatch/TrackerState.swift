/// What one tracker's worker does next.
package enum WorkerStep: Sendable {
    /// Call the tracker's `start`, then say what came of it.
    case start
    /// Deliver these slices, then say what came of it.
    case deliver([EventSlice])
    /// Deliver again what a delivery left over.
    case deliverAgain(Delivery)
    /// Read events from the journal, those with numbers from `from` and before `to`, then say what came of it.
    case readJournal(from: UInt64, to: UInt64)
    /// Have yourself woken at this time, and ask again.
    case setTimer(Duration)
    /// Wait to be woken, and ask again.
    case wait
    /// End; before that call the tracker's `stop`, if it was ever started.
    case end(stopsTracker: Bool)
}

/// One tracker's queue, and the decisions of its worker.
package struct TrackerState: Sendable {
    /// Where the worker stands.
    ///
    /// It asks for its next step only in those phases in which it has nothing to do.
    enum Phase: Sendable {
        /// The worker has not asked for anything yet.
        ///
        /// Can transition to:
        /// - `starting` with the first step.
        /// - `ended` where the pipeline shuts down and nothing is queued.
        case new
        /// The tracker's `start` is being called.
        ///
        /// Can transition to:
        /// - `ready` when it succeeded.
        /// - `pausing` when it failed and may succeed later.
        /// - `unusable` when it failed for good.
        case starting
        /// The tracker can take a delivery.
        ///
        /// Can transition to:
        /// - `delivering` when there is enough, or the oldest event has waited long enough.
        /// - `reading` when nothing is queued any more, and the journal has what did not fit.
        /// - `ended` when the pipeline shuts down and everything is delivered, or time is up.
        case ready
        /// The journal is being read.
        ///
        /// Can transition to:
        /// - `delivering` when it had events for the tracker.
        /// - `ready` when it had none.
        /// - `pausing` when it could not be read.
        case reading
        /// A delivery is under way.
        ///
        /// Can transition to:
        /// - `ready` when everything in it is delivered or refused.
        /// - `pausing` when something of it is to be tried again.
        case delivering(InFlight)
        /// Something failed and is tried again at `until`.
        ///
        /// Can transition to:
        /// - `starting` or `delivering` at that time.
        /// - `ended` when the pipeline shuts down and time is up, or there is nothing to start for.
        case pausing(until: Duration, before: Attempt)
        /// The tracker could not start, and never will.
        ///
        /// Can transition to:
        /// - `ended` with the next step.
        case unusable
        /// The worker has ended or is about to. Final.
        case ended
    }

    /// What is tried again after a pause.
    enum Attempt: Sendable {
        case start
        case reading
        case delivery(Delivery, InFlight)
    }

    /// The part of the queue that is being delivered.
    struct InFlight: Sendable {
        /// The position of its first event.
        let position: Int
        /// What it occupies until all of it is settled.
        let events: Int
        let bytes: Int
        /// The journal's number before which everything is settled with it.
        let nextSequence: UInt64
    }

    package internal(set) var queue: TrackerQueue
    /// The journal's number before which everything is settled.
    package internal(set) var settledSequence: UInt64 = 0
    package internal(set) var statistics: TrackerStatistics
    var phase = Phase.new
    /// How many starts or deliveries have failed in a row without any progress.
    var failures = 0
    /// When the timer is set for; a timer for another time is none.
    private var timer: Duration?
    var dropNotice = SparseNotice()
    /// With which position the worker ended.
    private var endPosition: Int?

    package init(name: String, queue: TrackerQueue) {
        self.queue = queue
        statistics = TrackerStatistics(name: name)
    }

    /// The position before which every event is settled.
    var settledPosition: Int {
        switch phase {
        case .delivering(let inFlight), .pausing(_, .delivery(_, let inFlight)): inFlight.position
        case .ended: endPosition ?? queue.head
        default: queue.head
        }
    }

    /// Whether the worker's tracker has started.
    package var isStarted: Bool {
        switch phase {
        case .new, .starting, .pausing(_, .start), .unusable, .ended: false
        case .ready, .reading, .delivering, .pausing(_, .reading), .pausing(_, .delivery): true
        }
    }

    /// Whether `start` is being called although, as things stand, there is nothing to start for.
    var startsForNothing: Bool {
        if case .starting = phase { queue.isEmpty } else { false }
    }

    /// A timer has fired; whether it was the one that is set.
    mutating func timerFired(_ time: Duration) -> Bool {
        guard timer == time else { return false }
        timer = nil
        return true
    }
}

extension TrackerState {
    /// How the pipeline stands, as far as a worker must know.
    enum Urgency: Sendable {
        /// Open: deliver when it is worth it.
        case normal
        /// The door is closed: deliver all there is, then end.
        case drain
        /// Time is up: end.
        case end
    }

    /// Decides what the worker does now.
    ///
    /// `published` is the journal's number up to which events were given to the queues.
    mutating func nextStep(_ urgency: Urgency, published: UInt64 = 0, now: Duration) -> WorkerStep {
        switch phase {
        case .new:
            return urgency == .end || urgency == .drain && queue.isEmpty ? end(stopsTracker: false) : start()
        case .pausing(let until, let attempt):
            return stepInPause(until: until, before: attempt, urgency: urgency, published: published, now: now)
        case .ready:
            return stepWhenReady(urgency, published: published, now: now)
        case .unusable:
            return end(stopsTracker: true)
        case .ended:
            return end(stopsTracker: false)
        case .starting, .reading, .delivering:
            return .wait
        }
    }

    private mutating func stepInPause(
        until: Duration,
        before attempt: Attempt,
        urgency: Urgency,
        published: UInt64,
        now: Duration
    ) -> WorkerStep {
        if urgency == .end { return end(stopsTracker: true) }
        switch attempt {
        case .start:
            if urgency == .drain && queue.isEmpty { return end(stopsTracker: true) }
            return now < until ? wait(until: until) : start()
        case .reading:
            if now < until { return wait(until: until) }
            phase = .ready
            return stepWhenReady(urgency, published: published, now: now)
        case .delivery(let delivery, let inFlight):
            if now < until { return wait(until: until) }
            phase = .delivering(inFlight)
            statistics.retried += delivery.count
            return .deliverAgain(delivery)
        }
    }

    private mutating func stepWhenReady(_ urgency: Urgency, published: UInt64, now: Duration) -> WorkerStep {
        // What is in the journal alone is safe there, and goes on at the next start.
        if urgency == .end || urgency == .drain && queue.isEmpty { return end(stopsTracker: true) }
        if queue.isEmpty {
            guard let from = queue.spilledFrom else { return .wait }
            phase = .reading
            return .readJournal(from: from, to: published)
        }
        if urgency == .normal, let until = queue.lingersUntil, now < until { return wait(until: until) }
        let position = queue.head
        let slices = queue.take()
        let bytes = slices.reduce(0) { $0 + $1.byteCount }
        phase = .delivering(
            InFlight(
                position: position,
                events: queue.head - position,
                bytes: bytes,
                nextSequence: slices.nextSequence
            )
        )
        return .deliver(slices)
    }

    private mutating func start() -> WorkerStep {
        phase = .starting
        return .start
    }

    private mutating func end(stopsTracker: Bool) -> WorkerStep {
        // What is being delivered or waits for another try stays counted as pending, and its place occupied.
        endPosition = settledPosition
        phase = .ended
        return .end(stopsTracker: stopsTracker)
    }

    private mutating func wait(until time: Duration) -> WorkerStep {
        if timer == time { return .wait }
        timer = time
        return .setTimer(time)
    }
}
