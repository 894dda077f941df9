/// The callers of `flush` that wait.
struct FlushList: Sendable {
    /// A flush that waits until all that was queued when it began is settled.
    private struct Flush: Sendable {
        let number: UInt64
        /// For each queue, what must be settled.
        let targets: [QueueMark]
        /// The queues that have not settled it.
        var pending: QueueSet
        let completion: @Sendable () -> Void
    }

    /// A flush that first waits for the batches that are being committed to the journal.
    struct BeforeCommit: Sendable {
        let number: UInt64
        /// Every batch before this position in the commit queue must be committed or rejected.
        let position: UInt64
        let completion: @Sendable () -> Void
    }

    private var flushes: [Flush] = []
    private var beforeCommit: [BeforeCommit] = []

    /// Whether flushes wait for queues.
    var isPending: Bool { !flushes.isEmpty }

    mutating func append(_ flush: BeforeCommit) {
        beforeCommit.append(flush)
    }

    mutating func append(
        number: UInt64,
        targets: [QueueMark],
        pending: QueueSet,
        completion: @escaping @Sendable () -> Void
    ) {
        flushes.append(Flush(number: number, targets: targets, pending: pending, completion: completion))
    }

    /// Removes the oldest flush whose batches are all committed or rejected.
    mutating func removeFirst(committedBefore position: UInt64) -> BeforeCommit? {
        guard let first = beforeCommit.first, first.position <= position else { return nil }
        return beforeCommit.removeFirst()
    }

    /// Notes how far a queue is settled; returns the completions of the flushes that waited for nothing else.
    mutating func settle(_ queue: TrackerIndex, to mark: QueueMark) -> [@Sendable () -> Void] {
        for place in flushes.indices where mark.reaches(flushes[place].targets[queue]) {
            flushes[place].pending.remove(queue)
        }
        let over = flushes.filter(\.pending.isEmpty).map(\.completion)
        flushes.removeAll(where: \.pending.isEmpty)
        return over
    }

    /// Removes a flush because its caller no longer waits.
    mutating func remove(number: UInt64) -> (@Sendable () -> Void)? {
        if let place = flushes.firstIndex(where: { $0.number == number }) {
            return flushes.remove(at: place).completion
        }
        guard let place = beforeCommit.firstIndex(where: { $0.number == number }) else { return nil }
        return beforeCommit.remove(at: place).completion
    }

    mutating func removeAll() -> [@Sendable () -> Void] {
        defer { self = FlushList() }
        return flushes.map(\.completion) + beforeCommit.map(\.completion)
    }
}

extension DispatchState {
    /// Calls `completion` once everything accepted so far is settled; queued events do not linger.
    package mutating func flush(
        number: UInt64,
        completion: @escaping @Sendable () -> Void,
        actions: inout DispatchActions
    ) {
        if commits.isEmpty || lifecycle.isOver {
            beginFlush(number: number, completion: completion, actions: &actions)
        } else {
            flushes.append(.init(number: number, position: commits.tail, completion: completion))
            actions.wakes.formUnion(endLingering())
        }
    }

    /// Lets everything that is queued be delivered without lingering; returns the workers to wake for it.
    private mutating func endLingering() -> QueueSet {
        var pending: QueueSet = []
        for queue in trackers.trackerIndices where trackers[queue].settledPosition < trackers[queue].queue.tail {
            pending.insert(queue)
            trackers[queue].queue.urgentBefore = trackers[queue].queue.tail
        }
        return pending
    }

    /// Continues with the flushes whose batches are all committed or rejected.
    mutating func beginFlushesAfterCommit(actions: inout DispatchActions) {
        while let flush = flushes.removeFirst(committedBefore: commits.settledPosition) {
            beginFlush(number: flush.number, completion: flush.completion, actions: &actions)
        }
    }

    private mutating func beginFlush(
        number: UInt64,
        completion: @escaping @Sendable () -> Void,
        actions: inout DispatchActions
    ) {
        let targets = trackers.map { $0.end(published: published) }
        var pending = endLingering()
        for queue in trackers.trackerIndices
        where !trackers[queue].settled(published: published).reaches(targets[queue]) {
            pending.insert(queue)
        }
        if pending.isEmpty || lifecycle.isOver {
            actions.flushed.append(completion)
        } else {
            flushes.append(number: number, targets: targets, pending: pending, completion: completion)
            actions.wakes.formUnion(pending)
        }
    }

    /// Ends a flush early, because its caller no longer waits.
    package mutating func abandonFlush(number: UInt64, actions: inout DispatchActions) {
        if let completion = flushes.remove(number: number) { actions.flushed.append(completion) }
    }

    /// Ends the flushes that waited for this queue only.
    mutating func endFlushes(settledIn queue: TrackerIndex, actions: inout DispatchActions) {
        guard flushes.isPending else { return }
        actions.flushed += flushes.settle(queue, to: trackers[queue].settled(published: published))
    }

    /// Ends all flushes, because nothing more will be settled.
    mutating func endAllFlushes(actions: inout DispatchActions) {
        actions.flushed += flushes.removeAll()
    }
}
