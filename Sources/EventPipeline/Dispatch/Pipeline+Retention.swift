import EventJournal
import EventModel

extension Pipeline {
    /// Removes the segments of the journal that are over: those that every tracker has got through, and where its
    /// configuration says so, others, too.
    func retireSegments(of journaling: Journaling) async {
        var needed = decide { state, _ in state.neededSequence(besides: journaling.abandoned.sequence) }
        let journal = journaling.journal
        if journal.configuration.retentionDropsUndelivered,
            let limit = journal.expiredSegments(now: journaling.now()).last?.nextSequence, limit > needed
        {
            for queue in trackers.indices { await giveUp(before: limit, of: queue, journaling) }
            if journaling.abandoned.sequence < limit { log.lost(of: journaling.abandoned.trackers) }
            needed = limit
            // What is given up is not got through.
            decide { state, _ in state.drain = DrainRate() }
        }
        do throws(JournalError) {
            log.retired(.success(try await journaling.committer.retire(needed: needed, diskWatch)))
        } catch {
            log.retired(.failure(error))
        }
    }

    /// Makes a tracker go on behind what is going to be removed, counting what it loses.
    private func giveUp(before limit: UInt64, of queue: Int, _ journaling: Journaling) async {
        // What is in memory does not need the journal.
        guard let next = decide({ state, _ in state.spilledSequence(of: queue) }), next < limit else { return }
        let lost = await journaling.backlogs[queue].giveUp(before: limit, from: next)
        guard lost.total > 0 else { return }
        let unforeseen = decide { state, _ in state.lost(lost, of: queue) }
        metrics[queue].lost(lost.total, unforeseen: unforeseen)
        log.lost(lost.total, tracker: trackers[queue].name)
    }
}
