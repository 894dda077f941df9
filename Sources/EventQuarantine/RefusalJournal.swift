import EventJournal
import EventModel
import TrackerKit

/// Keeps the events that trackers did not take: a commit is synced when it returns, and one that fails has not happened,
/// so that it can be made again without keeping anything twice. Nothing is ever removed.
///
/// It has a thread and a journal to itself, because both block.
actor RefusalJournal {
    private let thread: BlockingThread
    private let journal: Journal
    private var writer: JournalWriter

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Takes a journal that syncs each commit; its segments need no end, because every frame is found at the next opening.
    ///
    /// - Throws: Where the system refuses a thread.
    init(_ journal: Journal) throws(JournalError) {
        self.journal = journal
        writer = JournalWriter(journal)
        thread = try .forQuarantine()
    }

    /// Keeps lines.
    ///
    /// - Throws: `full` and `unwritable`; then none of them is kept.
    func commit(_ lines: QuarantineLines) throws(JournalError) {
        do throws(JournalError) {
            _ = try writer.commit(lines: lines.bytes, count: lines.count, now: lines.time.microseconds)
        } catch  where error.code == .full {
            throw JournalError(
                .full,
                """
                The quarantine has \(journal.position.byteCount) bytes of what trackers did not take, and may have \
                \(journal.configuration.maximumBytes); export it and remove its folder while nothing runs, or raise \
                quarantine.capacityInBytes.
                """
            )
        }
    }
}

extension BlockingThread {
    /// A thread that writes a part of a quarantine.
    static func forQuarantine() throws(JournalError) -> BlockingThread {
        do throws(TrackerError) {
            return try BlockingThread()
        } catch {
            throw JournalError(.unwritable, error.message)
        }
    }
}
