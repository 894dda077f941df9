import EventJournal
import EventModel
import TrackerKit

/// Group commit: writes all waiting batches to the journal as one frame, with one sync for many senders.
///
/// It has a thread of its own, because both calls block. The pipeline decides what is committed when.
actor JournalCommitter {
    /// The minimum age at which a segment is ended for its age: each segment is a file.
    private static let minimumSegmentAge = Duration.seconds(60)

    private let thread: BlockingThread
    private let journal: Journal
    private let now: @Sendable () -> Int64
    /// How many segments there were at the last check for removal.
    private var lastSegments = 0
    private var writer: JournalWriter?

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Commits on `thread`.
    ///
    /// `now` returns the time by which the journal's segments age, and `syncing` runs each sync.
    init(
        _ journal: Journal,
        thread: BlockingThread,
        now: @escaping @Sendable () -> Int64,
        syncing: @escaping JournalWriter.Syncing
    ) {
        self.thread = thread
        self.now = now
        self.journal = journal
        writer = JournalWriter(journal, syncing: syncing)
    }

    /// Commits until no more batches will come, and then ends the journal's last segment.
    func run(for pipeline: CommittingPipeline) async {
        committing: while true {
            switch pipeline.nextStep() {
            case .commit(let batches):
                let outcome = commit(batches)
                pipeline.commitEnded(batches, outcome)
                writer?.releaseMemory(needed: pipeline.neededSequence)
                if case .success = outcome { preallocate(pipeline.diskWatch) }
                let hasLooked = retire(after: outcome, pipeline)
                // Lets a sync that is due and retention run in between.
                if hasLooked || isTimed { await Task.yield() }
            case .wait: await pipeline.waitForBatches()
            case .end: break committing
            }
        }
        do throws(JournalError) {
            try pipeline.diskWatch { () throws(JournalError) in try writer.take()?.close(now: now()) }
        } catch {
            pipeline.journalNotEnded(error)
        }
    }

    /// Tries whether the journal can be written again, after removing segments that no tracker needs.
    func probe(needed: UInt64, _ watch: DiskWatch) throws(JournalError) {
        try watch { () throws(JournalError) in
            // Even if there is no room: acknowledged events wait for the sync.
            try syncIfTimed()
            _ = try journal.retire(before: needed, now: now(), makesRoom: true)
            _ = try writer?.commit([], now: now())
        }
    }

    /// Removes finished segments that no tracker needs, and the last one once it is old enough.
    func retire(needed: UInt64, _ watch: DiskWatch) throws(JournalError) -> [Segment] {
        try watch { () throws(JournalError) in
            let now = now()
            let age = max(journal.configuration.retentionAge, Self.minimumSegmentAge)
            try writer?.renewSegment(after: age, now: now)
            try writer?.noteFreeSpace()
            return try journal.retire(before: needed, now: now)
        }
    }

    /// Syncs the committed events if the durability is an interval.
    func syncIfTimed(_ watch: DiskWatch) throws(JournalError) {
        try watch { () throws(JournalError) in try syncIfTimed() }
    }

    /// Whether the journal has room for a commit of this size.
    func hasRoom(forBytes bytes: Int) -> Bool {
        writer?.hasRoom(forBytes: bytes) ?? false
    }

    private var isTimed: Bool {
        if case .interval = journal.configuration.durability.kind { true } else { false }
    }

    private func syncIfTimed() throws(JournalError) {
        if isTimed { try writer?.sync() }
    }

    /// Removes finished segments if a new segment was begun or there is no room; returns whether it checked.
    private func retire(after commit: Result<UInt64, JournalError>, _ pipeline: CommittingPipeline) -> Bool {
        var lacksRoom = false
        if case .failure(let error) = commit { lacksRoom = error.code == .full || error.code == .unwritable }
        let segments = journal.position.segments.count
        guard segments != lastSegments || lacksRoom else { return false }
        var outcome = Result<[Segment], JournalError>.success([])
        do throws(JournalError) {
            let needed = pipeline.neededSequence()
            outcome = .success(
                try pipeline.diskWatch { () throws(JournalError) in
                    try journal.retire(before: needed, now: now(), makesRoom: lacksRoom)
                }
            )
        } catch {
            outcome = .failure(error)
        }
        lastSegments = journal.position.segments.count
        pipeline.segmentsRemoved(outcome)
        return true
    }

    /// Preallocates bytes for the next commits, after the answers of the last one, which need not wait for it.
    private func preallocate(_ watch: DiskWatch) {
        guard writer?.wantsPreallocation() ?? false else { return }
        watch { writer?.preallocate() }
    }

    private func commit(_ batches: [RoutedBatch]) -> Result<UInt64, JournalError> {
        do throws(JournalError) {
            guard let first = try writer?.commit(batches.map(\.batch), now: now()) else {
                return .failure(JournalError(.closed, "The journal is closed."))
            }
            return .success(first)
        } catch {
            return .failure(error)
        }
    }
}

/// Reports when the journal's thread begins to wait for the disk, and when the disk has answered.
struct DiskWatch: Sendable {
    let began: @Sendable () -> Void
    let ended: @Sendable () -> Void

    /// Runs an operation on the disk.
    func callAsFunction<Result, Failure>(_ work: () throws(Failure) -> Result) throws(Failure) -> Result {
        began()
        defer { ended() }
        return try work()
    }
}
