import EventJournal
import EventModel

/// The timers of a pipeline's journal.
struct JournalMaintenance: Sendable {
    let pipeline: Pipeline
    let journal: PipelineJournal

    /// Logs when the journal's disk stops answering, as long as it does not, and when it answers again.
    ///
    /// This is separate from `run`, which waits for the same disk.
    func watchDisk() async {
        let pause = max(pipeline.configuration.commitOverdueAfter, .seconds(1))
        while (try? await pipeline.clock.sleepUntil(pipeline.clock.now() + pause)) != nil {
            let (notice, events) = pipeline.decide { state, _ in
                (state.journalHealth.overdueNotice(now: pipeline.clock.now()), state.commits.eventsBeingWritten)
            }
            switch notice {
            case .overdue(let wait): pipeline.log.diskOverdue(wait, events: events)
            case .over(let duration): pipeline.log.diskAnswers(after: duration)
            case nil: break
            }
        }
    }

    /// Syncs the journal at the interval of its durability, applies its retention even if no events arrive, and probes the journal
    /// while it cannot be written.
    ///
    /// A load balancer sends nothing to a service that is not ready, so the journal must find out by itself that it has recovered.
    func run() async {
        var pause = Duration.seconds(1)
        if case .interval(let length) = journal.store.configuration.durability.kind {
            pause = max(length, .milliseconds(1))
        }
        let retention = JournalRetention(pipeline: pipeline, journal: journal)
        var nextRetention = pipeline.clock.now() + .seconds(1)
        while (try? await pipeline.clock.sleepUntil(pipeline.clock.now() + pause)) != nil {
            let (wasWritable, needed) = pipeline.decide { state, _ in
                let needed = state.neededSequence(besides: journal.abandoned.sequence)
                // Retention may have removed events before their tracker has moved behind them.
                state.drain.note(max(needed, journal.store.position.firstSequence), now: pipeline.clock.now())
                return (state.journalHealth.isWritable, needed)
            }
            do throws(JournalError) {
                if wasWritable {
                    try await journal.committer.syncIfTimed(pipeline.diskWatch)
                    if pipeline.clock.now() >= nextRetention {
                        nextRetention = pipeline.clock.now() + .seconds(1)
                        await retention.apply()
                        await noticeRoom()
                    }
                } else {
                    try await journal.committer.probe(needed: needed, pipeline.diskWatch)
                    pipeline.decide { state, _ in state.journalHealth.isWritable = true }
                }
                pipeline.log.synced()
            } catch {
                // A journal without room is not an error.
                if wasWritable || error.code == .unwritable { pipeline.log.notSynced(error) }
                pipeline.decide { state, _ in state.journalHealth.isWritable = false }
            }
        }
    }

    /// Checks whether the journal has room again for the commit that did not fit; `tryTrack` learns it only from this.
    private func noticeRoom() async {
        guard let bytes = pipeline.decide({ state, _ in state.journalHealth.bytesWithoutRoom }),
            await journal.committer.hasRoom(forBytes: bytes)
        else { return }
        pipeline.decide { state, _ in state.journalHealth.bytesWithoutRoom = nil }
    }
}
