import EventJournal
import EventModel
import EventValidation
import TrackerKit

/// All decisions of the pipeline: the queues, the batches that wait, and the shutdown.
///
/// A value without a clock, task or lock of its own. It changes under the pipeline's lock, and time is an argument. What has to be done
/// after a decision is added to the caller's `DispatchActions`.
package struct DispatchState: Sendable {
    /// The decision about a batch.
    package enum Admission: Sendable, Equatable {
        /// It is in the queues of its trackers.
        case acknowledged
        /// There is room for it, and it waits for its commit to the journal.
        case committing(number: UInt64)
        /// It is in the queues of its trackers, and its sender waits until they have settled it.
        case delivering(number: UInt64)
        /// It waits for room.
        case waiting(number: UInt64)
        /// None of it is accepted.
        case rejected(TrackError)
        /// None of it is accepted, because the journal's disk has not answered for this time.
        case overdue(Duration)
    }

    /// The phase, the workers that are alive, and the shutdown's deadlines.
    var lifecycle: Lifecycle
    package internal(set) var trackers: [TrackerState]
    /// Whether an operator has stopped the intake of batches.
    package var isIntakeClosed = false
    package internal(set) var accepted = 0
    package internal(set) var unrouted = 0
    /// The number up to which the journal's events were published to the queues; `nil` without a journal.
    package internal(set) var published: UInt64?
    /// Whether the journal's disk can be written, has room, and answers.
    package var journalHealth: JournalHealth
    /// The drain rate of the slowest tracker.
    var drain = DrainRate()
    /// The batches that wait for their commit to the journal.
    var commits = CommitQueue()
    /// Whether the committer ends once the commit queue is empty.
    var endsCommitting = false
    /// What the journal's disk had not finished when the pipeline ended; `nil` if it had finished everything.
    package internal(set) var hang: JournalHang?
    /// The limits in it are those in use.
    private(set) var configuration: Pipeline.Configuration
    /// The queues whose trackers store their own checkpoint.
    let checkpointing: QueueSet
    /// The queues whose policy is `wait`.
    private let waitQueues: QueueSet
    /// The batches that wait for room.
    package private(set) var waiting = WaitingList()
    private var nextNumber: UInt64 = 0
    /// The callers of `flush` that wait.
    var flushes = FlushList()
    /// The senders that wait until their batches are delivered.
    var deliveryWaits: DeliveryWaits

    /// Makes one empty queue for each name.
    ///
    /// With a journal, `cursors` are the trackers' cursors and `published` is the journal's end. The trackers of `checkpointing` may
    /// report another position when they start; until then their events stay in the journal.
    package init(
        trackerNames: [String],
        configuration: Pipeline.Configuration,
        cursors: [UInt64] = [],
        published: UInt64? = nil,
        checkpointing: QueueSet = []
    ) {
        self.configuration = configuration
        lifecycle = Lifecycle(
            shutdownTimeout: configuration.shutdownTimeout,
            cancellationGrace: configuration.cancellationGrace
        )
        journalHealth = JournalHealth(overdueAfter: configuration.commitOverdueAfter)
        self.published = published
        self.checkpointing = checkpointing
        var waitQueues: QueueSet = []
        trackers = trackerNames.enumerated().map { index, name in
            var limits = configuration.queue(of: name)
            if published == nil, limits.fullPolicy == .spill { limits.fullPolicy = .wait }
            if limits.fullPolicy == .wait { waitQueues.insert(TrackerIndex(index)) }
            return TrackerState(
                name: name,
                queue: TrackerQueue(limits: limits, delivery: configuration.delivery(of: name)),
                parkAfter: configuration.parkAfter
            )
        }
        self.waitQueues = waitQueues
        deliveryWaits = DeliveryWaits(queueCount: trackerNames.count)
        for (queue, cursor) in zip(trackers.trackerIndices, cursors) {
            trackers[queue].settledSequence = cursor
            if cursor < published ?? 0 || checkpointing.contains(queue) { trackers[queue].queue.spill(from: cursor) }
        }
    }

    /// The first tracker that was given up while the pipeline was open, and why.
    package var failure: Lifecycle.Failure? { lifecycle.failure }

    /// Accepts a whole batch, lets it wait for room, or rejects it.
    ///
    /// A batch that may not wait is rejected if there is no room, and never overtakes one that waits. `completion` is kept only if
    /// the batch waits, for room or for its commit to the journal.
    package mutating func submit(
        _ batch: RoutedBatch,
        mayWait: Bool,
        completion: @escaping WaitingSubmission.Completion,
        now: () -> Duration,
        actions: inout DispatchActions
    ) -> Admission {
        guard lifecycle.isOpen, !isIntakeClosed else { return .rejected(.closed) }
        // A disk that hangs may do so for hours, so nothing new is admitted to wait for it.
        if let wait = journalHealth.overdueWait(now: now) { return .overdue(wait) }
        if configuration.acknowledgement == .delivered, !delivers(batch) { return .rejected(.unavailable) }
        if !mayWait, published != nil {
            // Before the pipeline runs, only a commit can find out whether the journal has recovered.
            if lifecycle.isRunning, let error = journalHealth.failure { return .rejected(.notStored(error)) }
            guard commits.hasRoom(for: batch, limits: configuration.queue) else { return .rejected(.full) }
        }
        let lacking = queuesLackingRoom(for: batch)
        guard lacking.isEmpty, waiting.barrier.isDisjoint(with: batch.queues) else {
            guard mayWait else { return .rejected(.full) }
            nextNumber += 1
            let submission = WaitingSubmission(number: nextNumber, batch: batch, completion: completion)
            waiting.append(submission, lacking: lacking)
            return .waiting(number: nextNumber)
        }
        guard published != nil else {
            acknowledge(batch, now: now, actions: &actions)
            guard configuration.acknowledgement != .stored else { return .acknowledged }
            nextNumber += 1
            let submission = WaitingSubmission(number: nextNumber, batch: batch, completion: completion)
            return awaitsDelivery(of: submission, before: 0) ? .delivering(number: nextNumber) : .acknowledged
        }
        return .committing(number: admit(batch, completion: completion, actions: &actions))
    }

    /// Publishes an accepted batch to its queues.
    ///
    /// This happens once for every accepted batch, in the order of acceptance; with a journal after the batch's commit, and
    /// `sequences` are its numbers in the journal.
    mutating func acknowledge(
        _ batch: RoutedBatch,
        sequences: Range<UInt64> = 0..<0,
        now: () -> Duration,
        actions: inout DispatchActions
    ) {
        accepted += batch.count
        unrouted += batch.unrouted
        for queue in batch.queues {
            guard var slice = batch.slice(of: queue) else { continue }
            slice.sequences = sequences
            publish(slice, to: queue, now: now, actions: &actions)
        }
    }

    /// Appends a batch to the commit queue; returns the number by which it can be withdrawn.
    private mutating func admit(
        _ batch: RoutedBatch,
        completion: @escaping WaitingSubmission.Completion,
        actions: inout DispatchActions
    ) -> UInt64 {
        nextNumber += 1
        admit(WaitingSubmission(number: nextNumber, batch: batch, completion: completion), actions: &actions)
        return nextNumber
    }

    /// Appends a batch to the commit queue, and reserves room for it in the queues with the policy `wait`.
    private mutating func admit(_ submission: WaitingSubmission, actions: inout DispatchActions) {
        commits.append(submission)
        actions.wakesCommitter = true
        for queue in submission.batch.queues.intersection(waitQueues) {
            if let slice = submission.batch.slice(of: queue) { trackers[queue].queue.reserve(slice) }
        }
    }

    /// Releases the room that was reserved for a batch in the commit queue.
    mutating func endAdmission(of batch: RoutedBatch) {
        for queue in batch.queues.intersection(waitQueues) {
            guard let slice = batch.slice(of: queue) else { continue }
            trackers[queue].queue.release(events: slice.count, bytes: slice.byteCount)
        }
    }

    /// Puts a slice into a queue, as the queue's policy says, and wakes the worker if that affects its next delivery.
    private mutating func publish(
        _ slice: EventSlice,
        to queue: TrackerIndex,
        now: () -> Duration,
        actions: inout DispatchActions
    ) {
        let (dropped, wakesWorker) = trackers[queue].enqueue(slice, now: now)
        if wakesWorker { actions.wakes.insert(queue) }
        guard dropped > 0 else { return }
        actions.drops.append(.init(queue: queue, events: dropped))
        settled(queue, actions: &actions)
    }

    /// Whether a queue with the policy `wait` is full.
    var hasFullQueue: Bool {
        !waiting.barrier.isEmpty || waitQueues.contains { trackers[$0].queue.isFull }
    }

    /// The queues with policy `wait` that have no room for their part of a batch.
    private func queuesLackingRoom(for batch: RoutedBatch) -> QueueSet {
        var lacking: QueueSet = []
        for queue in batch.queues.intersection(waitQueues) {
            guard let slice = batch.slice(of: queue), !trackers[queue].queue.hasRoom(for: slice) else { continue }
            lacking.insert(queue)
        }
        return lacking
    }
}

extension DispatchState {
    /// Takes back a batch that waits for room or for its commit to begin.
    package mutating func withdraw(
        number: UInt64,
        now: () -> Duration,
        actions: inout DispatchActions
    ) -> Pipeline.Withdrawal {
        guard let submission = waiting.remove(number: number) else {
            return withdrawFromCommits(number: number, now: now, actions: &actions)
        }
        actions.answered.append((submission, .failure(.cancelled)))
        admitWaiting(now: now, actions: &actions)
        return .withdrawn
    }

    /// Rejects all batches that wait for room, because the pipeline is shutting down.
    mutating func rejectWaiting(actions: inout DispatchActions) {
        for submission in waiting.removeAll() { actions.answered.append((submission, .failure(.closed))) }
    }

    /// Admits batches that wait after a queue got room, oldest first.
    mutating func roomFreed(in queue: TrackerIndex, now: () -> Duration, actions: inout DispatchActions) {
        if waiting.barrier.contains(queue) { admitWaiting(now: now, actions: &actions) }
    }

    /// Takes over the capacities, the limits of deliveries and `parkAfter` of a configuration; everything else stays as it is, the
    /// policies of the queues included.
    ///
    /// Batches that wait are admitted if there is room now. A queue that holds more than its capacity keeps what it holds.
    package mutating func changeLimits(
        to limits: Pipeline.Configuration,
        now: () -> Duration,
        actions: inout DispatchActions
    ) {
        configuration.queue.capacityInEvents = limits.queue.capacityInEvents
        configuration.queue.capacityInBytes = limits.queue.capacityInBytes
        configuration.parkAfter = limits.parkAfter
        for queue in trackers.indices {
            let name = trackers[queue].statistics.name
            trackers[queue].queue.changeLimits(to: limits.queue(of: name), delivery: limits.delivery(of: name))
            trackers[queue].parkAfter = limits.parkAfter
        }
        admitWaiting(now: now, actions: &actions)
        // They may have to deliver earlier or later now.
        actions.wakes.formUnion(QueueSet(first: trackers.count))
    }

    private mutating func admitWaiting(now: () -> Duration, actions: inout DispatchActions) {
        waiting.beginTurn()
        while let submission = waiting.next {
            guard waiting.endTurn(ofNext: queuesLackingRoom(for: submission.batch)) else { continue }
            if published == nil {
                acknowledge(submission.batch, now: now, actions: &actions)
                actions.acknowledged.append(submission)
                if !awaitsDelivery(of: submission, before: 0) {
                    actions.answered.append((submission, .success(.stored)))
                }
            } else {
                admit(submission, actions: &actions)
            }
        }
    }
}
