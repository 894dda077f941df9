extension DispatchState {
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
        if !journalHealth.isWritable { reasons.append(.journalUnwritable) }
        if journalHealth.overdueWait(now: { now }) != nil { reasons.append(.commitOverdue) }
        if journalHealth.bytesWithoutRoom != nil { reasons.append(.journalFull) }
        if hasFullQueue { reasons.append(.queuesFull) }
        return reasons
    }
}
