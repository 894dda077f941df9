import DequeModule
import EventModel
import Journal
import Synchronization

/// Commits batches to the journal, all that have gathered at a time: one write and one sync for many senders.
///
/// It has a thread of its own, because both block.
actor JournalCommitter {
    /// What became of batches that were committed together, in the order in which they came.
    struct Commit: Sendable {
        let batches: [RoutedBatch]
        let completions: [@Sendable (Result<Void, SubmissionError>) -> Void]
        /// The number of the first event, or why none was committed.
        let outcome: Result<UInt64, JournalError>

        /// Whether there was no room for it, or the disk did not write.
        var lacksRoom: Bool {
            guard case .failure(let error) = outcome else { return false }
            return error.code == .full || error.code == .unwritable
        }
    }

    private typealias Request = (batch: RoutedBatch, completion: @Sendable (Result<Void, SubmissionError>) -> Void)

    /// What the door and the committer share.
    private struct Mailbox: Sendable {
        var requests: Deque<Request> = []
        var parked: CheckedContinuation<Void, Never>?
        var isClosed = false
    }

    /// The most bytes of events in one commit, if not a single batch has more.
    private static let maximumBytes = 4 << 20
    /// How old a segment's first event is at least when the segment is ended for its age: each one is a file.
    private static let minimumSegmentAge = Duration.seconds(60)

    private let thread: BlockingThread
    private let journal: Journal
    private let now: @Sendable () -> Timestamp
    /// How many segments there were when segments were last looked at for removal.
    private var lastSegments = 0
    private var writer: JournalWriter?
    private let mailbox = Mutex(Mailbox())

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Commits on `thread`; `now` tells the time.
    init(_ journal: Journal, thread: BlockingThread, now: @escaping @Sendable () -> Timestamp) {
        self.thread = thread
        self.now = now
        self.journal = journal
        writer = JournalWriter(journal)
    }

    /// Hands a batch over; after `close` it is turned down.
    nonisolated func commit(
        _ batch: RoutedBatch,
        completion: @escaping @Sendable (Result<Void, SubmissionError>) -> Void
    ) -> Bool {
        let (isOpen, parked) = mailbox.withLock { mailbox in
            guard !mailbox.isClosed else { return (false, CheckedContinuation<Void, Never>?.none) }
            mailbox.requests.append((batch, completion))
            return (true, mailbox.parked.take())
        }
        parked?.resume()
        return isOpen
    }

    /// Commits until it is closed; `done` is called after each commit, before the next.
    ///
    /// `needed` tells the number of the oldest event that somebody still needs; `retired` hears what was removed.
    func run(
        needed: @Sendable () -> UInt64,
        retired: @Sendable (Result<[Segment], JournalError>) -> Void,
        _ done: @Sendable (Commit) -> Void
    ) async {
        while true {
            while let requests = takeRequests() {
                let commit = commit(requests)
                done(commit)
                writer?.releaseMemory(needed: needed)
                let hasNewSegment = retire(after: commit, needed, retired)
                // Lets a sync that is due, and what retention takes, come in between.
                if hasNewSegment || isTimed { await Task.yield() }
            }
            guard await waitForRequests() else { break }
        }
        try? writer.take()?.close(now: now().microseconds)
    }

    /// Tries whether the journal can be written, after it could not; makes room before, of what nobody needs.
    func probe(needed: UInt64) throws(JournalError) {
        // Also where there is no room: what was acknowledged waits for it.
        try syncIfTimed()
        _ = try journal.retire(before: needed, now: now().microseconds, makesRoom: true)
        _ = try writer?.commit([], now: now().microseconds)
    }

    /// Removes segments that are over and nobody needs; the last one, too, once it is old enough.
    func retire(needed: UInt64) throws(JournalError) -> [Segment] {
        let now = now().microseconds
        let age = max(journal.configuration.retentionAge, Self.minimumSegmentAge)
        try writer?.renewSegment(after: age, now: now)
        return try journal.retire(before: needed, now: now)
    }

    private var isTimed: Bool {
        if case .interval = journal.configuration.durability { true } else { false }
    }

    /// Makes what was committed survive a loss of power, where the durability leaves that to a timer.
    func syncIfTimed() throws(JournalError) {
        if isTimed { try writer?.sync() }
    }

    /// Ends `run` once everything handed over before is committed.
    nonisolated func close() {
        let parked = mailbox.withLock { mailbox in
            mailbox.isClosed = true
            return mailbox.parked.take()
        }
        parked?.resume()
    }

    /// Removes segments that are over, each time another one was begun, and when there is no room; returns whether it
    /// looked.
    private func retire(
        after commit: Commit,
        _ needed: () -> UInt64,
        _ retired: (Result<[Segment], JournalError>) -> Void
    ) -> Bool {
        let segments = journal.position.segments.count
        guard segments != lastSegments || commit.lacksRoom else { return false }
        var outcome = Result<[Segment], JournalError>.success([])
        do throws(JournalError) {
            let now = self.now().microseconds
            outcome = .success(try journal.retire(before: needed(), now: now, makesRoom: commit.lacksRoom))
        } catch {
            outcome = .failure(error)
        }
        lastSegments = journal.position.segments.count
        retired(outcome)
        return true
    }

    private func commit(_ requests: [Request]) -> Commit {
        var outcome = Result<UInt64, JournalError>.failure(JournalError(.closed, "The journal is closed."))
        do throws(JournalError) {
            let now = self.now().microseconds
            if let first = try writer?.commit(requests.map(\.batch.batch), now: now) { outcome = .success(first) }
        } catch {
            outcome = .failure(error)
        }
        return Commit(batches: requests.map(\.batch), completions: requests.map(\.completion), outcome: outcome)
    }

    /// What is committed next; `nil` where nothing has come.
    private func takeRequests() -> [Request]? {
        mailbox.withLock { mailbox in
            var taken: [Request] = []
            var bytes = 0
            while let next = mailbox.requests.first {
                bytes += next.batch.batch.byteCount
                guard taken.isEmpty || bytes <= Self.maximumBytes else { break }
                taken.append(mailbox.requests.removeFirst())
            }
            return taken.isEmpty ? nil : taken
        }
    }

    /// Suspends until there is something; false where it is closed and nothing is left.
    private func waitForRequests() async -> Bool {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isDue = mailbox.withLock { mailbox in
                if !mailbox.requests.isEmpty || mailbox.isClosed { return true }
                mailbox.parked = continuation
                return false
            }
            if isDue { continuation.resume() }
        }
        return mailbox.withLock { !$0.isClosed || !$0.requests.isEmpty }
    }
}
