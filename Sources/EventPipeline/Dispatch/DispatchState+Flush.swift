extension DispatchState {
    /// Somebody who waits until all that is queued now is settled.
    struct Flush: Sendable {
        let number: UInt64
        /// For each queue, the position before which everything must be settled.
        let targets: [Int]
        /// For each queue that spilled, the journal's number before which everything must be settled; zero for others.
        let sequences: [UInt64]
        /// The queues that have not come so far.
        var pending: QueueSet
        let completion: @Sendable () -> Void
    }

    /// Somebody who waits first for the batches that were on their way to the journal.
    struct FlushBeforeCommit: Sendable {
        let number: UInt64
        /// Every batch before this position must be committed or turned down.
        let position: UInt64
        let completion: @Sendable () -> Void
    }

    /// Calls `completion` once everything taken so far is settled; what is queued does not linger.
    package mutating func flush(number: UInt64, completion: @escaping @Sendable () -> Void) -> DispatchActions {
        var actions = DispatchActions()
        if commits.isEmpty || isOver {
            beginFlush(number: number, completion: completion, actions: &actions)
        } else {
            flushesBeforeCommit.append(
                FlushBeforeCommit(number: number, position: commits.tail, completion: completion)
            )
            actions.wakes = endLingering()
        }
        return actions
    }

    /// Whether nothing more will be delivered.
    private var isOver: Bool {
        switch phase {
        case .open, .draining, .cancelling: false
        case .closing, .finished: true
        }
    }

    /// Makes everything that is queued be delivered without lingering; returns the workers to wake for it.
    private mutating func endLingering() -> QueueSet {
        var pending: QueueSet = []
        for queue in trackers.indices where trackers[queue].settledPosition < trackers[queue].queue.tail {
            pending.insert(queue)
            trackers[queue].queue.urgentBefore = trackers[queue].queue.tail
        }
        return pending
    }

    /// Goes on with the flushes whose batches are committed, or turned down.
    mutating func beginFlushesAfterCommit(actions: inout DispatchActions) {
        while let flush = flushesBeforeCommit.first, flush.position <= commits.settledPosition {
            flushesBeforeCommit.removeFirst()
            beginFlush(number: flush.number, completion: flush.completion, actions: &actions)
        }
    }

    private mutating func beginFlush(
        number: UInt64,
        completion: @escaping @Sendable () -> Void,
        actions: inout DispatchActions
    ) {
        let targets = trackers.map(\.queue.tail)
        var pending = endLingering()
        let sequences = trackers.map { $0.queue.spilledFrom == nil ? 0 : published ?? 0 }
        for queue in trackers.indices where !isSettled(queue, position: targets[queue], sequence: sequences[queue]) {
            pending.insert(queue)
        }
        if pending.isEmpty || isOver {
            actions.flushed.append(completion)
        } else {
            flushes.append(
                Flush(
                    number: number,
                    targets: targets,
                    sequences: sequences,
                    pending: pending,
                    completion: completion
                )
            )
            actions.wakes.formUnion(pending)
        }
    }

    private func isSettled(_ queue: Int, position: Int, sequence: UInt64) -> Bool {
        trackers[queue].settledPosition >= position && settledSequence(of: queue) >= sequence
    }

    /// Ends a flush early, because nobody waits for it any more.
    package mutating func abandonFlush(number: UInt64) -> DispatchActions {
        var actions = DispatchActions()
        if let place = flushes.firstIndex(where: { $0.number == number }) {
            actions.flushed.append(flushes.remove(at: place).completion)
        } else if let place = flushesBeforeCommit.firstIndex(where: { $0.number == number }) {
            actions.flushed.append(flushesBeforeCommit.remove(at: place).completion)
        }
        return actions
    }

    /// Ends the flushes that waited for this queue, and for no other.
    mutating func endFlushes(settledIn queue: Int, actions: inout DispatchActions) {
        guard !flushes.isEmpty else { return }
        for place in flushes.indices {
            let flush = flushes[place]
            if isSettled(queue, position: flush.targets[queue], sequence: flush.sequences[queue]) {
                flushes[place].pending.remove(queue)
            }
        }
        for flush in flushes where flush.pending.isEmpty {
            actions.flushed.append(flush.completion)
        }
        flushes.removeAll { $0.pending.isEmpty }
    }

    /// Ends all flushes, because nothing more will be settled.
    mutating func endAllFlushes(actions: inout DispatchActions) {
        actions.flushed += flushes.map(\.completion) + flushesBeforeCommit.map(\.completion)
        flushes = []
        flushesBeforeCommit = []
    }
}
