import EventJournal
import EventModel
import TrackerKit

/// Stores the events that trackers refused: a commit is synced when it returns, and a failed commit has no effect, so it can be
/// repeated without storing an event twice. Nothing is removed before it has reached the quarantine's age limit.
///
/// It has its own thread, because the journal's calls block.
actor RefusalJournal {
    private let thread: BlockingThread
    private let journal: Journal
    private var writer: JournalWriter

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Takes a journal that syncs each commit.
    ///
    /// It is never closed, because the next opening finds every frame anyway.
    ///
    /// - Throws: If the system cannot create a thread.
    init(_ journal: Journal) throws(JournalError) {
        self.journal = journal
        writer = JournalWriter(journal)
        thread = try .forQuarantine()
    }

    /// Removes the events that are too old; returns how many.
    func removeExpired(_ retention: QuarantineRetention, now: Int64) throws(JournalError) -> Int {
        try retention.apply(to: journal, &writer, now: now)
    }

    /// Stores lines.
    ///
    /// - Throws: `full` or `unwritable`; then none of them is stored.
    func commit(_ lines: QuarantineLines) throws(JournalError) {
        do throws(JournalError) {
            _ = try writer.commit(lines: lines.bytes, count: lines.count, now: lines.time.microseconds)
        } catch  where error.code == .full {
            throw JournalError(
                .full,
                """
                The quarantine has \(journal.position.byteCount) bytes of events that trackers refused, and its limit is \
                \(journal.configuration.maximumBytes). Export it and remove its folder while no process runs, or raise \
                quarantine.capacityInBytes.
                """
            )
        }
    }
}

extension BlockingThread {
    /// Makes a thread that writes a part of a quarantine.
    static func forQuarantine() throws(JournalError) -> BlockingThread {
        do throws(TrackerError) {
            return try BlockingThread()
        } catch {
            throw JournalError(.unwritable, error.message)
        }
    }
}
