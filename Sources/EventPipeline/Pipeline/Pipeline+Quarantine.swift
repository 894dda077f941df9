import EventJournal
import EventModel
import EventQuarantine
import EventSchema
public import EventValidation

extension Pipeline {
    /// Stores rejected events in the quarantine; `source` is their origin, such as `http` or the name of a file.
    ///
    /// Never waits for the disk: the events are handed to a thread, and what it has no room for is counted and logged.
    public func quarantine(_ rejections: [Rejection], source: String) {
        let plan = plan
        metrics.rejected(metrics.kinds(of: rejections), explained: rejections, sender: source, at: now())
        feed.rejected(rejections, unexplained: 0, sender: source, showsOriginals: plan.showsOriginals)
        quarantine.keep(rejections, source: source, planVersion: plan.catalog.plan.version)
    }

    /// Stores `rejections`, a part of the rejected events of a body; the others are counted as lost.
    ///
    /// `explained` are those whose reasons are known, whether they are stored or not, and `sender` is who sent them.
    package func quarantine(
        _ rejections: [Rejection],
        of rejected: RejectionTally,
        explained: [Rejection],
        source: String,
        sender: String
    ) {
        guard rejected.count > 0 else { return }
        let plan = plan
        metrics.rejected(rejected.kinds, explained: explained, sender: sender, at: now())
        feed.rejected(
            explained,
            unexplained: rejected.count - explained.count,
            sender: sender,
            showsOriginals: plan.showsOriginals
        )
        quarantine.keep(rejections, source: source, planVersion: plan.catalog.plan.version)
        quarantine.markLost(rejected.count - rejections.count)
    }

    /// Stores accepted events that no longer follow the plan, and that a tracker had not delivered, except those that a tombstone
    /// covers; throws if that fails.
    func quarantine(_ rejections: [Rejection], undeliveredBy tracker: String) async throws(JournalError) {
        let tombstones = tombstones.current
        let rejections = rejections.filter { !tombstones.covers($0) }
        guard !rejections.isEmpty else { return }
        try await quarantine.keep(rejections, undeliveredBy: tracker, planVersion: catalog.plan.version)
        let kinds = metrics.kinds(of: rejections)
        metrics.rejected(kinds, explained: rejections, sender: "tracker:\(tracker)", at: now())
    }

    /// Waits until the rejected events that were handed over are written, for at most `cancellationGrace`; says how many
    /// are not.
    func drainQuarantine() async {
        await withTaskGroup { group in
            group.addTask { await self.quarantine.drain() }
            group.addTask { try? await self.clock.sleepUntil(self.clock.now() + self.configuration.cancellationGrace) }
            await group.next()
            group.cancelAll()
        }
        let unwritten = quarantine.unwrittenEvents
        if unwritten > 0 { log.leavesQuarantine(unwritten) }
    }
}
