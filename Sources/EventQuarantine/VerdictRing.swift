import EventJournal
import EventModel
import TrackerKit

/// Keeps the latest verdicts: at its limit the oldest segment is removed, so that new mistakes stay visible.
///
/// It has a thread and a journal to itself, because both block. Nothing is synced: the sender was told already that its
/// event was not taken.
actor VerdictRing {
    /// What came of some verdicts.
    struct Outcome: Sendable {
        /// Why they were not written; `nil` where they were.
        var error: JournalError?
        /// How many older events were removed for them.
        var overwritten = 0
    }

    private let thread: BlockingThread
    private let journal: Journal
    private var writer: JournalWriter?
    private var lastTime: Int64

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Takes a journal whose `maximumBytes` is the ring's limit; `now` is in microseconds since 1970.
    ///
    /// - Throws: Where the system refuses a thread.
    init(_ journal: Journal, now: Int64) throws(JournalError) {
        self.journal = journal
        writer = JournalWriter(journal)
        lastTime = now
        thread = try .forQuarantine()
    }

    deinit {
        // What is not ended well is found whole at the next opening, too.
        try? writer.take()?.close(now: lastTime)
    }

    /// Writes verdicts as one frame, all or none.
    func write(_ verdicts: [VerdictHandover.Entry]) -> Outcome {
        var outcome = Outcome()
        let bytes = verdicts.flatMap(\.records.bytes)
        let count = verdicts.reduce(0) { $0 + $1.rejections.count }
        lastTime = verdicts.reduce(.min) { max($0, $1.time.microseconds) }
        do throws(JournalError) {
            outcome.overwritten = try makeRoom(for: FrameHeader.byteCount + bytes.count)
            _ = try writer?.commit(lines: bytes, count: count, now: lastTime)
        } catch {
            outcome.error = error
        }
        return outcome
    }

    /// Removes the oldest segments until so many bytes have room; returns how many events they held.
    private func makeRoom(for bytes: Int) throws(JournalError) -> Int {
        var removed = 0
        let limit = journal.configuration.maximumBytes - bytes
        // What has no room in an empty ring pushes nothing out.
        while limit >= 0, journal.position.byteCount > limit, let oldest = journal.position.segments.dropLast().first {
            let retired = try journal.retire(before: oldest.nextSequence, now: lastTime, makesRoom: true)
            guard !retired.isEmpty else { break }
            removed += retired.reduce(0) { $0 + Int(clamping: $1.nextSequence - $1.name.firstSequence) }
        }
        return removed
    }
}
