package import EventValidation
package import TrackerKit

/// The next step of one tracker's worker.
package enum WorkerStep: Sendable {
    /// Call the tracker's `start`, then report the result.
    case start
    /// Deliver these slices, then report the result.
    case deliver([EventSlice])
    /// Deliver the remainder of a delivery again.
    case deliverAgain(Delivery)
    /// Find out which events of a remainder keep the others from being delivered; `turn` grows with each attempt.
    ///
    /// Those that have been stuck for as long as `patience` says are parked.
    case diagnose(Delivery, turn: Int, patience: Patience)
    /// Read the events with numbers from `from` up to and excluding `to` from the journal, then report the result.
    case readJournal(from: UInt64, to: UInt64)
    /// Set a timer for this time, and ask again.
    case setTimer(Duration)
    /// Wait to be woken, and ask again.
    case wait
    /// End, after calling the tracker's `stop` if `stopsTracker`.
    case end(stopsTracker: Bool)
}

/// Which of the events that a diagnosis finds have waited for long enough to be parked.
package struct Patience: Sendable {
    /// The events that are known to be stuck.
    let stuck: StuckEvents
    /// Events that have been stuck since this time, or for longer, are parked.
    let end: Duration
    /// The names of events that have failed for as long, although nothing has shown yet that they are stuck.
    let failing: Set<String>

    /// Whether it has ended for events that the tracker itself reported as stuck.
    func hasEnded(forKnown name: String) -> Bool { stuck.since(name).map { $0 <= end } ?? false }

    /// Whether it has ended for events that were found by sending them alone.
    func hasEnded(forFound name: String) -> Bool { failing.contains(name) || hasEnded(forKnown: name) }
}

/// One tracker's queue, and the decisions of its worker.
package struct TrackerState: Sendable {
    /// What the worker is doing.
    ///
    /// It asks for its next step only in phases in which it has nothing to do.
    enum Phase: Sendable {
        /// The worker has not asked for anything yet.
        ///
        /// Can transition to:
        /// - `starting` with the first step.
        /// - `ended` when the pipeline shuts down and nothing is queued.
        case new
        /// The tracker's `start` is being called.
        ///
        /// Can transition to:
        /// - `ready` when it succeeded.
        /// - `pausing` when it failed.
        /// - `givenUp` when it failed too often.
        case starting
        /// The tracker can take a delivery.
        ///
        /// Can transition to:
        /// - `starting` when the plan was replaced.
        /// - `delivering` when there is enough, or the oldest event has waited long enough.
        /// - `reading` when nothing is queued any more, and the journal has spilled events.
        /// - `ended` when the pipeline shuts down and everything is delivered, or time is up.
        case ready
        /// The journal is being read: for the next delivery, or for events to send along with the rest of the last one.
        ///
        /// Can transition to:
        /// - `delivering` when it had events for the tracker.
        /// - `ready` when it had none.
        /// - `pausing` when it could not be read, and when part of the last delivery remains.
        case reading(for: Remainder?)
        /// A delivery is under way.
        ///
        /// Can transition to:
        /// - `ready` when everything in it is delivered or refused.
        /// - `pausing` when some of it must be retried.
        case delivering(InFlight)
        /// Something failed and is retried at `until`.
        ///
        /// Can transition to:
        /// - `starting` or `delivering` at that time.
        /// - `ended` when the pipeline shuts down and time is up, or there is nothing to start for.
        case pausing(until: Duration, before: Attempt)
        /// The tracker did not start within the configuration's number of attempts.
        ///
        /// Can transition to:
        /// - `ended` with the next step.
        case givenUp
        /// The worker has ended or is about to. Final.
        case ended
    }

    /// What is retried after a pause.
    enum Attempt: Sendable {
        case start
        case reading
        case delivery(Remainder)
    }

    /// The events of a delivery to retry, and the part of the queue that waits for them.
    struct Remainder: Sendable {
        var delivery: Delivery
        var inFlight: InFlight

        /// Adds the next events of the queue or the journal, to deliver them together.
        mutating func append(_ slices: [EventSlice], events: Int, bytes: Int, nextSequence: UInt64) {
            delivery = delivery.appending(slices, to: nextSequence)
            inFlight = InFlight(
                position: inFlight.position,
                events: inFlight.events + events,
                bytes: inFlight.bytes + bytes,
                nextSequence: nextSequence,
                arrival: inFlight.arrival
            )
        }
    }

    /// The part of the queue that is being delivered.
    struct InFlight: Sendable {
        /// The position of its first event.
        let position: Int
        /// How much capacity it occupies until all of it is settled.
        let events: Int
        let bytes: Int
        /// The journal's number before which everything is settled once this part is.
        let nextSequence: UInt64
        /// When its first event was accepted, or earlier; `nil` if it is unknown.
        let arrival: Duration?
    }

    package internal(set) var queue: TrackerQueue
    /// The journal's number before which everything is settled.
    package internal(set) var settledSequence: UInt64 = 0
    package internal(set) var statistics: TrackerStatistics
    var phase = Phase.new
    /// How many starts or deliveries have failed in a row without progress.
    var failures = 0
    /// Why the last start or delivery failed; `nil` once one succeeds.
    var failure: TrackerError?
    /// When the first of these failures happened.
    var failingSince: Duration?
    /// Those of the events to retry that are stuck, whatever else is delivered meanwhile.
    var stuck = StuckEvents()
    /// Whether `start` has succeeded at least once.
    var hasStarted = false
    /// Whether the plan was replaced since the tracker was started.
    var isStartedForEarlierPlan = false
    /// Whether the current start follows a replaced plan; such a start is retried without a limit.
    var startsForNewPlan = false
    /// Whether the plan was replaced since events were left to the journal.
    var spilledUnderEarlierPlan = false
    /// Whether a tracker that stores its own checkpoint has been asked for it, and nothing has superseded it since.
    var isResumed = false
    /// Whether an operator has paused the tracker: its worker begins nothing until it is resumed.
    var isPaused = false
    /// The events that cannot be delivered while others can.
    var broken = BrokenEvents()
    /// The time for which the timer is set; timers for other times are ignored.
    private var timer: Duration?
    /// The settled position when the worker ended, and when the oldest unsettled event was accepted.
    private var end: (position: Int, oldestArrival: Duration?)?

    /// How long deliveries fail before a diagnosis looks for single events as the reason; `nil` for never.
    var parkAfter: Duration?

    package init(name: String, queue: TrackerQueue, parkAfter: Duration? = nil) {
        self.queue = queue
        self.parkAfter = parkAfter
        statistics = TrackerStatistics(name: name)
    }

    /// The position before which every event is settled.
    var settledPosition: Int {
        switch phase {
        case .delivering(let inFlight): inFlight.position
        case .reading(let remainder?), .pausing(_, .delivery(let remainder)): remainder.inFlight.position
        case .ended: end?.position ?? queue.head
        default: queue.head
        }
    }

    /// When the oldest event that is not settled was accepted, or earlier; `nil` if there is none, or it is unknown.
    var oldestArrival: Duration? {
        switch phase {
        case .delivering(let inFlight): inFlight.arrival
        case .reading(let remainder?), .pausing(_, .delivery(let remainder)): remainder.inFlight.arrival
        case .ended: end?.oldestArrival
        default: queue.oldestArrival
        }
    }

    /// The status in the statistics.
    var status: TrackerStatistics.Status {
        if case .ended = phase { return .stopped }
        if isPaused { return .paused }
        if let failure, !failure.isRetryable { return .blocked }
        switch phase {
        case .new, .starting, .pausing(_, .start), .givenUp: return .starting
        default: return failure == nil ? .delivering : .retrying
        }
    }

    /// Whether `start` is being called although nothing is queued.
    var startsForNothing: Bool {
        if case .starting = phase { queue.isEmpty } else { false }
    }

    /// A timer has fired; returns whether it was the one that is set.
    mutating func timerFired(_ time: Duration) -> Bool {
        guard timer == time else { return false }
        timer = nil
        return true
    }
}

extension TrackerState {
    /// What the pipeline's phase means for a worker.
    enum Urgency: Sendable {
        /// The pipeline is open: deliver when a delivery is large enough or events have lingered.
        case normal
        /// The pipeline is shutting down: deliver everything that is queued, then end.
        case drain
        /// Time is up: end.
        case end
    }

    /// Decides the worker's next step.
    ///
    /// `published` is the number up to which the journal's events were published to the queues.
    mutating func nextStep(_ urgency: Urgency, published: UInt64 = 0, now: Duration) -> WorkerStep {
        if isPaused {
            if urgency == .normal { return .wait }
            return nextStep(whenReadyFor: .end, published: published, now: now)
        }
        return nextStep(whenReadyFor: urgency, published: published, now: now)
    }

    private mutating func nextStep(whenReadyFor urgency: Urgency, published: UInt64, now: Duration) -> WorkerStep {
        switch phase {
        case .new:
            return urgency == .end || urgency == .drain && queue.isEmpty ? end(stopsTracker: false) : start()
        case .pausing(let until, let attempt):
            return stepInPause(until: until, before: attempt, urgency: urgency, published: published, now: now)
        case .ready:
            return stepWhenReady(urgency, published: published, now: now)
        case .givenUp:
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
        case .delivery(let remainder):
            if now < until { return wait(until: until) }
            return isDiagnosisDue(now: now)
                ? diagnose(remainder, published: published, now: now) : deliverAgain(remainder)
        }
    }

    private mutating func deliverAgain(_ remainder: Remainder) -> WorkerStep {
        var remainder = remainder
        // The events behind those that are stuck do not wait for them.
        if stuck.contains(remainder.delivery) {
            let slices = queue.take(besides: remainder.delivery)
            if !slices.isEmpty { append(slices, to: &remainder) }
        }
        phase = .delivering(remainder.inFlight)
        statistics.retried += remainder.delivery.count
        return .deliverAgain(remainder.delivery)
    }

    /// Whether deliveries have failed for so long that a diagnosis is due.
    private func isDiagnosisDue(now: Duration) -> Bool {
        parkingTime.map { now >= $0 } ?? false
    }

    /// When a diagnosis of the events that fail is due; `nil` for never.
    var parkingTime: Duration? {
        guard let parkAfter, let failingSince else { return nil }
        return (stuck.since ?? failingSince) + parkAfter
    }

    /// Begins a diagnosis of the remainder of a delivery.
    ///
    /// If all its events have the same name, events of other names are needed to tell a broken table from an outage. They are taken
    /// from the queue and then from the journal, within the queue's limits.
    private mutating func diagnose(_ remainder: Remainder, published: UInt64, now: Duration) -> WorkerStep {
        var remainder = remainder
        let patience = patience(with: remainder.delivery, now: now)
        var names = NameSearch(except: broken)
        names.look(through: remainder.delivery.slices)
        while !names.hasFoundSeveral, queue.mayHold(remainder.delivery) {
            if queue.isEmpty {
                guard let from = queue.spilledFrom, from < published else { break }
                phase = .reading(for: remainder)
                return .readJournal(from: from, to: published)
            }
            let slices = queue.take()
            names.look(through: slices)
            append(slices, to: &remainder)
        }
        statistics.retried += remainder.delivery.count
        phase = .delivering(remainder.inFlight)
        return .diagnose(remainder.delivery, turn: failures, patience: patience)
    }

    /// The patience with the events of a delivery that is due for a diagnosis.
    private func patience(with delivery: Delivery, now: Duration) -> Patience {
        let end = now - (parkAfter ?? .zero)
        let names = failingSince.map { $0 <= end } == true ? Set(delivery.map(\.name)) : []
        return Patience(stuck: stuck, end: end, failing: names.filter { stuck.since($0) == nil })
    }

    /// Adds slices that were just taken from the queue to the rest of a delivery.
    private func append(_ slices: [EventSlice], to remainder: inout Remainder) {
        remainder.append(
            slices,
            events: slices.reduce(0) { $0 + $1.count },
            bytes: slices.reduce(0) { $0 + $1.byteCount },
            nextSequence: slices.nextSequence
        )
    }

    private mutating func stepWhenReady(_ urgency: Urgency, published: UInt64, now: Duration) -> WorkerStep {
        // Events in the journal are safe there, and are delivered after the next start.
        if urgency == .end || urgency == .drain && queue.isEmpty { return end(stopsTracker: true) }
        if isStartedForEarlierPlan { return start() }
        if queue.isEmpty {
            guard let from = queue.spilledFrom else { return .wait }
            phase = .reading(for: nil)
            return .readJournal(from: from, to: published)
        }
        if urgency == .normal, let until = queue.lingersUntil, now < until { return wait(until: until) }
        let (position, arrival) = (queue.head, queue.oldestArrival)
        let slices = queue.take()
        let bytes = slices.reduce(0) { $0 + $1.byteCount }
        phase = .delivering(
            InFlight(
                position: position,
                events: queue.head - position,
                bytes: bytes,
                nextSequence: slices.nextSequence,
                arrival: arrival
            )
        )
        return .deliver(slices)
    }

    private mutating func start() -> WorkerStep {
        phase = .starting
        if hasStarted, isStartedForEarlierPlan { startsForNewPlan = true }
        isStartedForEarlierPlan = false
        return .start
    }

    private mutating func end(stopsTracker: Bool) -> WorkerStep {
        // Unsettled events stay counted as pending, and keep their capacity.
        end = (settledPosition, oldestArrival)
        phase = .ended
        return .end(stopsTracker: stopsTracker)
    }

    private mutating func wait(until time: Duration) -> WorkerStep {
        if timer == time { return .wait }
        timer = time
        return .setTimer(time)
    }
}

extension StuckEvents {
    /// Whether all events of a delivery can be ones that are stuck.
    func contains(_ delivery: Delivery) -> Bool {
        since != nil && delivery.positionsByName().allSatisfy { contains($0.positions.count, of: $0.name) }
    }
}
