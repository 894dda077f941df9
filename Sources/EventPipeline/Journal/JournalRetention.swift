import EventJournal
import EventModel
import TrackerKit

/// Removes the segments that a pipeline's journal no longer has to keep.
struct JournalRetention: Sendable {
    let pipeline: Pipeline
    let journal: PipelineJournal

    /// Removes the segments that every tracker has settled and, if the configuration says so, expired segments with undelivered
    /// events.
    func apply() async {
        var needed = pipeline.decide { state, _ in state.neededSequence(besides: journal.abandoned.sequence) }
        if journal.store.configuration.retentionDropsUndelivered,
            let limit = journal.store.expiredSegments(now: journal.now()).last?.nextSequence, limit > needed
        {
            for queue in pipeline.trackers.trackerIndices { await giveUp(before: limit, of: queue) }
            if journal.abandoned.sequence < limit { noteAbandonedLosses() }
            needed = limit
            // Skipping events is not progress.
            pipeline.decide { state, _ in state.drain = DrainRate() }
        }
        do throws(JournalError) {
            pipeline.logRetired(.success(try await journal.committer.retire(needed: needed, pipeline.diskWatch)))
        } catch {
            pipeline.logRetired(.failure(error))
        }
    }

    private func noteAbandonedLosses() {
        pipeline.log.lost(of: journal.abandoned.trackers)
    }

    /// Moves a tracker's reader behind the segments that will be removed, and counts the events that the tracker loses.
    private func giveUp(before limit: UInt64, of queue: TrackerIndex) async {
        // Events in memory do not need the journal.
        guard let next = pipeline.decide({ state, _ in state.spilledSequence(of: queue) }), next < limit else { return }
        let lost = await journal.backlogs[queue].giveUp(before: limit, from: next)
        guard lost.total > 0 else { return }
        let unforeseen = pipeline.decide { state, actions in state.lost(lost, of: queue, actions: &actions) }
        pipeline.metrics[queue].lost(lost.total, unforeseen: unforeseen)
        pipeline.log.lost(lost.total, tracker: pipeline.trackers[queue].name)
    }
}
