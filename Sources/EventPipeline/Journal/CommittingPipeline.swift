import EventJournal
import EventModel

/// A pipeline as its committer uses it, which does not keep it alive.
struct CommittingPipeline: Sendable {
    private weak var pipeline: Pipeline?
    /// The number of the oldest event that trackers which are not configured still need.
    private let abandonedSequence: UInt64
    private let log: PipelineLog
    let diskWatch: DiskWatch

    init(_ pipeline: Pipeline, abandonedSequence: UInt64, log: PipelineLog, diskWatch: DiskWatch) {
        self.pipeline = pipeline
        self.abandonedSequence = abandonedSequence
        self.log = log
        self.diskWatch = diskWatch
    }

    /// The committer's next step: to end if the pipeline is gone.
    func nextStep() -> CommitterStep {
        guard let pipeline else { return .end }
        return pipeline.decide { state, _ in state.nextCommitterStep(now: pipeline.clock.now()) }
    }

    /// Suspends until batches may wait.
    func waitForBatches() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            guard let pipeline else { return continuation.resume() }
            pipeline.parkCommitter(continuation)
        }
    }

    /// A commit has ended: publishes its batches and answers their senders, or tells them why nothing was committed.
    ///
    /// The value of a successful `outcome` is the number of the commit's first event.
    func commitEnded(_ batches: [RoutedBatch], _ outcome: Result<UInt64, JournalError>) {
        pipeline?.commitEnded(batches, outcome)
    }

    /// The number of the oldest event that a tracker still needs.
    func neededSequence() -> UInt64 {
        pipeline?.decide { state, _ in state.neededSequence(besides: abandonedSequence) } ?? 0
    }

    /// Segments were removed, or could not be.
    func segmentsRemoved(_ outcome: Result<[Segment], JournalError>) { pipeline?.segmentsRemoved(outcome) }

    /// The journal's last segment could not be ended, so its last events may not be synced.
    func journalNotEnded(_ error: JournalError) { log.notEnded(error) }
}
