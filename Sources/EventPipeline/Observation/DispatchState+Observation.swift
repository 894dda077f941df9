import TrackerKit

extension DispatchState {
    /// What the pipeline has done so far, without what only the journal knows.
    package func statistics(now: Duration) -> PipelineStatistics {
        var statistics = PipelineStatistics()
        statistics.accepted = accepted
        statistics.unrouted = unrouted
        statistics.waitingBatches = waiting.count
        statistics.committingBatches = commits.count
        statistics.trackers = trackers.map { tracker in
            var statistics = tracker.statistics
            statistics.queuedEvents = tracker.queue.occupiedEvents
            statistics.pendingBytes = tracker.queue.occupiedBytes
            statistics.lagEvents = statistics.pendingEvents
            let isIdle = statistics.pendingEvents == 0 && tracker.queue.spilledFrom == nil
            statistics.cursor = isIdle ? published ?? 0 : tracker.settledSequence
            statistics.lag = tracker.oldestArrival.map { max(.zero, now - $0) }
            statistics.status = tracker.status
            statistics.reason = tracker.failure?.description
            statistics.brokenEvents = tracker.broken.reasons.mapValues(\.description)
            return statistics
        }
        return statistics
    }

    /// For each tracker the number from which it reads the journal, `nil` if everything is in memory, and how many events behind
    /// it are among those counted already.
    var unreadPlaces: [(from: UInt64?, counted: Int)] {
        trackers.map { ($0.queue.spilledFrom, $0.queue.respilledEvents) }
    }

    /// Why the pipeline does not accept events now; empty if it is ready.
    ///
    /// A tracker is never a reason: the events that it cannot deliver wait in the journal.
    package func unreadyReasons(now: Duration) -> [UnreadyReason] {
        var reasons: [UnreadyReason] = []
        if !lifecycle.isOpen {
            reasons.append(.shuttingDown)
        } else if !lifecycle.isRunning {
            reasons.append(.notRunning)
        }
        if isIntakeClosed { reasons.append(.intakeClosed) }
        if !journalHealth.isWritable { reasons.append(.journalUnwritable) }
        if journalHealth.overdueWait(now: { now }) != nil { reasons.append(.commitOverdue) }
        if journalHealth.bytesWithoutRoom != nil { reasons.append(.journalFull) }
        if hasFullQueue { reasons.append(.queuesFull) }
        return reasons
    }
}
