import EventModel
import Journal

/// Keeps events for good: a commit is synced when it returns, and one that fails has not happened, so that it can be made
/// again without keeping anything twice.
///
/// It has a thread and a journal to itself, so that who writes a verdict waits for none of its syncs.
actor DurableQuarantinePart {
    private let thread: BlockingThread
    private var writer: JournalWriter

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Takes a journal that syncs each commit; its segments need no end, because every frame is found at the next opening.
    ///
    /// - Throws: Where the system refuses a thread.
    init(_ journal: Journal) throws(JournalError) {
        writer = JournalWriter(journal)
        do throws(TrackerError) {
            thread = try BlockingThread()
        } catch {
            throw JournalError(.unwritable, error.message)
        }
    }

    /// Keeps lines.
    ///
    /// - Throws: `full` and `unwritable`; then none of them is kept.
    func commit(_ lines: QuarantineLines) throws(JournalError) {
        _ = try writer.commit(lines: lines.bytes, count: lines.count, now: lines.time.microseconds)
    }

    /// Makes what was made in a folder survive a loss of power, as far as the disk does it: nobody was promised that.
    func syncFolder(of files: any FileSystem) {
        try? files.syncFolder()
    }
}
