package import DequeModule
package import EventJournal
import EventValidation
import TrackerKit

/// Every decision of the pipeline: all queues, the submissions that wait for room, and the way to the end.
///
/// A value without clock, task or lock of its own: it is changed under the pipeline's lock, time comes in as an
/// argument, and what is to be done comes out as `DispatchActions`.
package struct DispatchState: Sendable {
    /// Where the pipeline stands between its first batch and its end.
    package enum Phase: Sendable, Equatable {
        /// Batches are taken.
        ///
        /// Can transition to:
        /// - `draining` when shutdown is asked for, or a tracker did not start or deliver within the number of attempts.
        /// - `cancelling` when the task that runs the pipeline is cancelled.
        case open
        /// The door is closed, and workers deliver what is queued.
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
        /// - `finished` when it is closed, or at `until`: a disk may never answer.
        case closing(until: Duration)
        /// The pipeline has run. Final.
        case finished
    }

    /// A tracker that was given up.
    package struct Failure: Sendable {
        package let queue: Int
        package let error: TrackerError
        /// Whether it did not start; otherwise it did not deliver.
        package let isOfStart: Bool
    }

    /// What became of a submission at once.
    package enum Admission: Sendable, Equatable {
        case acknowledged
        /// There is room; it is on its way to the journal.
        case admitted(number: UInt64)
        case waits(number: UInt64)
        /// The journal's disk does not answer.
        case notStored(JournalError)
        case closed
    }

    /// What became of a batch that may not wait.
    package enum Offer: Sendable, Equatable {
        case acknowledged
        /// There is room; it is on its way to the journal.
        case admitted
        case full
        /// The journal cannot be written, or is full, or its disk does not answer.
        case notStored
        case closed
    }

    package internal(set) var phase = Phase.open
    package internal(set) var trackers: [TrackerState]
    package internal(set) var accepted = 0
    package internal(set) var unrouted = 0
    /// With a journal, the number up to which events were given to the queues; `nil` without one.
    package internal(set) var published: UInt64?
    /// Whether the journal could be written when it was last tried.
    package internal(set) var isJournalWritable = true
    /// How many bytes the journal had no room for when it was last tried; `nil` where it had room, or may have some again.
    var bytesWithoutRoom: Int?
    /// Since when the journal's thread has been waiting for the disk; `nil` while it does not.
    var diskBusySince: Duration?
    /// Whether the log says that the disk does not answer.
    var hasToldOverdue = false
    /// How fast the hindmost tracker gets through the journal.
    var drain = DrainRate()
    /// When to say that the journal takes nothing.
    var refusalNotice = SparseNotice()
    /// The batches on their way to the journal.
    var commits = CommitQueue()
    /// Whether the committer is to end once nothing is on its way.
    var endsCommitting = false
    /// Whether the journal was closed in good order.
    var isJournalClosed = false
    /// What the journal's disk had not done when the pipeline ended; `nil` where it did everything.
    package internal(set) var hang: JournalHang?
    let configuration: Pipeline.Configuration
    /// The queues whose trackers store their place in the journal themselves.
    let checkpointing: QueueSet
    /// The queues whose policy is `wait`.
    private let waitQueues: QueueSet
    /// The submissions that wait for room, oldest first.
    package private(set) var waiting: Deque<WaitingSubmission> = []
    /// The queues that lack room for a submission that waits: nobody else enters these.
    ///
    /// A submission that waits closes only the queues that are full for it, not all it names: otherwise a dead tracker
    /// would hold up the events of others. In return a batch for two queues that are both always full gets its turn
    /// only when both have room at one time.
    private var barrier: QueueSet = []
    private var nextNumber: UInt64 = 0
    var flushes: [Flush] = []
    /// The flushes that wait for batches on their way to the journal, before they know what to wait for in the queues.
    var flushesBeforeCommit: [FlushBeforeCommit] = []
    /// Whether `run` was called.
    package internal(set) var isRunning = false
    /// The workers that have not ended.
    package internal(set) var liveWorkers: QueueSet = []
    /// The workers whose task was cancelled.
    var cancelledWorkers: QueueSet = []
    /// When the supervisor's timer is set for.
    var supervisorTimer: Duration?
    /// The queues whose deliveries are not tried again.
    var givenUp: QueueSet = []
    /// The first tracker whose start or delivery was given up while the door was open, and why.
    package internal(set) var failure: Failure?

    /// Makes one empty queue for each name.
    ///
    /// `cursors` says, with a journal, how far each tracker has got in it, and `published` how far it goes. The trackers of
    /// `checkpointing` may know better when they have started: until then their events stay in the journal.
    package init(
        trackerNames: [String],
        configuration: Pipeline.Configuration,
        cursors: [UInt64] = [],
        published: UInt64? = nil,
        checkpointing: QueueSet = []
    ) {
        self.configuration = configuration
        self.published = published
        self.checkpointing = checkpointing
        var waitQueues: QueueSet = []
        trackers = trackerNames.enumerated().map { index, name in
            var limits = configuration.queue(of: name)
            if published == nil, limits.fullPolicy == .spill { limits.fullPolicy = .wait }
            if limits.fullPolicy == .wait { waitQueues.insert(index) }
            return TrackerState(
                name: name,
                queue: TrackerQueue(limits: limits, delivery: configuration.delivery),
                parkAfter: configuration.parkAfter
            )
        }
        self.waitQueues = waitQueues
        for (queue, cursor) in cursors.enumerated() {
            trackers[queue].settledSequence = cursor
            if cursor < published ?? 0 || checkpointing.contains(queue) { trackers[queue].queue.spill(from: cursor) }
        }
    }

    /// Takes a batch whole, or lets it wait, or turns it down.
    ///
    /// `completion` is kept only where the batch waits.
    package mutating func submit(
        _ batch: RoutedBatch,
        completion: @escaping @Sendable (Result<Void, SubmissionError>) -> Void,
        now: () -> Duration,
        actions: inout DispatchActions
    ) -> Admission {
        guard phase == .open else { return .closed }
        // What does not answer now may not answer for hours: nobody new is let in to wait for it.
        if let wait = overdueWait(now: now) { return .notStored(.overdue(for: wait)) }
        let lacking = queuesLackingRoom(for: batch)
        guard !lacking.isEmpty || !barrier.isDisjoint(with: batch.queues) else {
            guard published != nil else {
                acknowledge(batch, now: now, actions: &actions)
                return .acknowledged
            }
            return .admitted(number: admit(batch, completion: completion, actions: &actions))
        }
        barrier.formUnion(lacking)
        nextNumber += 1
        waiting.append(WaitingSubmission(number: nextNumber, batch: batch, completion: completion))
        return .waits(number: nextNumber)
    }

    /// Takes a batch whole at once, or nothing of it; it takes nobody's place who waits.
    ///
    /// `completion` is kept only where the batch is on its way to the journal.
    package mutating func offer(
        _ batch: RoutedBatch,
        completion: @escaping @Sendable (Result<Void, SubmissionError>) -> Void,
        now: () -> Duration,
        actions: inout DispatchActions
    ) -> Offer {
        guard phase == .open else { return .closed }
        if published != nil {
            // Before the pipeline runs nobody tries whether the journal can be written again but who writes to it.
            guard isJournalWritable && bytesWithoutRoom == nil || !isRunning else { return .notStored }
            guard overdueWait(now: now) == nil else { return .notStored }
            guard commits.hasRoom(for: batch, limits: configuration.queue) else { return .full }
        }
        guard barrier.isDisjoint(with: batch.queues), queuesLackingRoom(for: batch).isEmpty else { return .full }
        guard published != nil else {
            acknowledge(batch, now: now, actions: &actions)
            return .acknowledged
        }
        _ = admit(batch, completion: completion, actions: &actions)
        return .admitted
    }

    /// The acknowledgement: from here on the batch is the pipeline's, and its sender is told so.
    ///
    /// Every accepted batch passes here once, in the order of acceptance; with a journal after its commit, when
    /// `sequences` are its numbers there.
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

    /// Sends a batch on its way to the journal; returns the number by which it can be withdrawn.
    private mutating func admit(
        _ batch: RoutedBatch,
        completion: @escaping @Sendable (Result<Void, SubmissionError>) -> Void,
        actions: inout DispatchActions
    ) -> UInt64 {
        nextNumber += 1
        admit(WaitingSubmission(number: nextNumber, batch: batch, completion: completion), actions: &actions)
        return nextNumber
    }

    /// Sends a batch on its way to the journal, and keeps room for it in the queues where later ones wait for room.
    private mutating func admit(_ submission: WaitingSubmission, actions: inout DispatchActions) {
        commits.append(submission)
        actions.wakesCommitter = true
        for queue in submission.batch.queues.intersection(waitQueues) {
            if let slice = submission.batch.slice(of: queue) { trackers[queue].queue.reserve(slice) }
        }
    }

    /// Gives back the room that was kept for a batch on its way to the journal.
    mutating func endAdmission(of batch: RoutedBatch) {
        for queue in batch.queues.intersection(waitQueues) {
            guard let slice = batch.slice(of: queue) else { continue }
            trackers[queue].queue.release(events: slice.count, bytes: slice.byteCount)
        }
    }

    /// Puts a slice into a queue as its policy says, and wakes the worker if that makes a difference to it.
    private mutating func publish(
        _ slice: EventSlice,
        to queue: Int,
        now: () -> Duration,
        actions: inout DispatchActions
    ) {
        let (dropped, wakesWorker) = trackers[queue].enqueue(slice, now: now)
        if wakesWorker { actions.wakes.insert(queue) }
        guard dropped > 0 else { return }
        let notice = trackers[queue].dropNotice.add(dropped, now: now())
        actions.drops.append(.init(queue: queue, events: dropped, notice: notice))
        endFlushes(settledIn: queue, actions: &actions)
    }

    /// Whether a queue for which senders wait is full.
    var hasFullQueue: Bool {
        !barrier.isEmpty || waitQueues.contains { trackers[$0].queue.isFull }
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
    /// Turns down a submission that waits for room or for its commit to begin.
    package mutating func withdraw(
        number: UInt64,
        now: () -> Duration,
        actions: inout DispatchActions
    ) -> Pipeline.Withdrawal {
        let place = waiting.partitioningIndex { $0.number >= number }
        guard place < waiting.count, waiting[place].number == number else {
            return withdrawFromCommits(number: number, now: now, actions: &actions)
        }
        actions.turnedDown.append((waiting.remove(at: place), .withdrawn))
        admitWaiting(now: now, actions: &actions)
        return .withdrawn
    }

    /// Turns down all submissions that wait, because the door is closed.
    mutating func turnDownWaiting(actions: inout DispatchActions) {
        for submission in waiting {
            actions.turnedDown.append((submission, .closed))
        }
        waiting = []
        barrier = []
    }

    /// Lets submissions in after a queue got room, oldest first.
    mutating func roomCameFree(in queue: Int, now: () -> Duration, actions: inout DispatchActions) {
        if barrier.contains(queue) { admitWaiting(now: now, actions: &actions) }
    }

    /// Goes through the submissions that wait, as far as one of them may have its turn.
    ///
    /// Each names a queue of the old barrier, so once the new one holds all of it nobody further back can enter.
    private mutating func admitWaiting(now: () -> Duration, actions: inout DispatchActions) {
        let oldBarrier = barrier
        barrier = []
        var place = 0
        while place < waiting.count, !barrier.isSuperset(of: oldBarrier) {
            let submission = waiting[place]
            let lacking = queuesLackingRoom(for: submission.batch)
            if lacking.isEmpty, barrier.isDisjoint(with: submission.batch.queues) {
                waiting.remove(at: place)
                if published == nil {
                    acknowledge(submission.batch, now: now, actions: &actions)
                    actions.acknowledged.append(submission)
                } else {
                    admit(submission, actions: &actions)
                }
            } else {
                barrier.formUnion(lacking)
                place += 1
            }
        }
    }
}

extension Deque {
    /// The first place whose element fulfils `predicate`, where those that fulfil it all stand at the end.
    fileprivate func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
