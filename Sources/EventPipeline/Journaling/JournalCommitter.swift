import EventJournal
import EventModel
import TrackerKit

/// Commits batches to the journal, all that have gathered at a time: one write and one sync for many senders.
///
/// It has a thread of its own, because both block. What is committed when is the pipeline's decision.
actor JournalCommitter {
    /// What the committer asks the pipeline, and tells it.
    struct Desk: Sendable {
        /// Takes the batches of the next commit: none where nothing has gathered, `nil` where nothing more will.
        let take: @Sendable () -> [RoutedBatch]?
        /// Suspends until something may have gathered.
        let wait: @Sendable () async -> Void
        /// Hears what became of the batches that were taken: the number of the first event, or why none was committed.
        let ended: @Sendable ([RoutedBatch], Result<UInt64, JournalError>) -> Void
        /// Tells the number of the oldest event that somebody still needs.
        let needed: @Sendable () -> UInt64
        /// Hears which segments were removed.
        let retired: @Sendable (Result<[Segment], JournalError>) -> Void
        let watch: DiskWatch
    }

    /// How old a segment's first event is at least when the segment is ended for its age: each one is a file.
    private static let minimumSegmentAge = Duration.seconds(60)

    private let thread: BlockingThread
    private let journal: Journal
    private let now: @Sendable () -> Int64
    /// How many segments there were when segments were last looked at for removal.
    private var lastSegments = 0
    private var writer: JournalWriter?

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Commits on `thread`; `now` tells the time by which the journal's segments age.
    init(_ journal: Journal, thread: BlockingThread, now: @escaping @Sendable () -> Int64) {
        self.thread = thread
        self.now = now
        self.journal = journal
        writer = JournalWriter(journal)
    }

    /// Commits until nothing more will come, and ends the journal's last segment then.
    func run(_ desk: Desk) async {
        while let batches = desk.take() {
            guard !batches.isEmpty else {
                await desk.wait()
                continue
            }
            let outcome = commit(batches)
            desk.ended(batches, outcome)
            writer?.releaseMemory(needed: desk.needed)
            let hasLooked = retire(after: outcome, desk)
            // Lets a sync that is due, and what retention takes, come in between.
            if hasLooked || isTimed { await Task.yield() }
        }
        desk.watch { try? writer.take()?.close(now: now()) }
    }

    /// Tries whether the journal can be written, after it could not; makes room before, of what nobody needs.
    func probe(needed: UInt64, _ watch: DiskWatch) throws(JournalError) {
        try watch { () throws(JournalError) in
            // Also where there is no room: what was acknowledged waits for it.
            try syncIfTimed()
            _ = try journal.retire(before: needed, now: now(), makesRoom: true)
            _ = try writer?.commit([], now: now())
        }
    }

    /// Removes segments that are over and nobody needs; the last one, too, once it is old enough.
    func retire(needed: UInt64, _ watch: DiskWatch) throws(JournalError) -> [Segment] {
        try watch { () throws(JournalError) in
            let now = now()
            let age = max(journal.configuration.retentionAge, Self.minimumSegmentAge)
            try writer?.renewSegment(after: age, now: now)
            return try journal.retire(before: needed, now: now)
        }
    }

    /// Makes what was committed survive a loss of power, where the durability leaves that to a timer.
    func syncIfTimed(_ watch: DiskWatch) throws(JournalError) {
        try watch { () throws(JournalError) in try syncIfTimed() }
    }

    /// Whether the journal has room for a commit of so many bytes.
    func hasRoom(forBytes bytes: Int) -> Bool {
        writer?.hasRoom(forBytes: bytes) ?? false
    }

    private var isTimed: Bool {
        if case .interval = journal.configuration.durability.kind { true } else { false }
    }

    private func syncIfTimed() throws(JournalError) {
        if isTimed { try writer?.sync() }
    }

    /// Removes segments that are over, each time another one was begun, and when there is no room; returns whether it
    /// looked.
    private func retire(after commit: Result<UInt64, JournalError>, _ desk: Desk) -> Bool {
        var lacksRoom = false
        if case .failure(let error) = commit { lacksRoom = error.code == .full || error.code == .unwritable }
        let segments = journal.position.segments.count
        guard segments != lastSegments || lacksRoom else { return false }
        var outcome = Result<[Segment], JournalError>.success([])
        do throws(JournalError) {
            let needed = desk.needed()
            outcome = .success(
                try desk.watch { () throws(JournalError) in
                    try journal.retire(before: needed, now: now(), makesRoom: lacksRoom)
                }
            )
        } catch {
            outcome = .failure(error)
        }
        lastSegments = journal.position.segments.count
        desk.retired(outcome)
        return true
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

/// Tells when the journal's thread begins to wait for the disk, and when the disk has answered.
struct DiskWatch: Sendable {
    let began: @Sendable () -> Void
    let ended: @Sendable () -> Void

    /// Does something on the disk.
    func callAsFunction<Result, Failure>(_ work: () throws(Failure) -> Result) throws(Failure) -> Result {
        began()
        defer { ended() }
        return try work()
    }
}
