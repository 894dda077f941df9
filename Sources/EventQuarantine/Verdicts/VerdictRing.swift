import EventJournal
import EventModel
import TrackerKit

/// The ring buffer of the latest rejected events: at its size limit the oldest segment is removed.
///
/// It has its own thread, because the journal's calls block. Nothing is synced, because the sender already knows that its events
/// were rejected.
actor VerdictRing {
    /// The result of a write.
    struct Outcome: Sendable {
        /// The reason why nothing was written; `nil` on success.
        var error: JournalError?
        /// The number of older events that were removed to make room.
        var overwritten = 0
    }

    private let thread: BlockingThread
    private let journal: Journal
    private var writer: JournalWriter?
    private var lastTime: Int64

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Takes a journal whose `maximumBytes` is the ring buffer's limit; `now` is in microseconds since 1970.
    ///
    /// - Throws: If the system cannot create a thread.
    init(_ journal: Journal, now: Int64) throws(JournalError) {
        self.journal = journal
        writer = JournalWriter(journal)
        lastTime = now
        thread = try .forQuarantine()
    }

    deinit {
        // If this fails, the next opening finds every frame anyway.
        try? writer.take()?.close(now: lastTime)
    }

    /// Writes entries as one frame, all or none.
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

    /// Removes the events that are too old; returns how many.
    func removeExpired(_ retention: QuarantineRetention, now: Int64) throws(JournalError) -> Int {
        guard var writer = writer.take() else { return 0 }
        let result = Result { () throws(JournalError) in try retention.apply(to: journal, &writer, now: now) }
        self.writer = consume writer
        return try result.get()
    }

    /// Removes the oldest segments until there is room for the given bytes; returns the number of their events.
    private func makeRoom(for bytes: Int) throws(JournalError) -> Int {
        var removed = 0
        let limit = journal.configuration.maximumBytes - bytes
        // A write that does not fit into an empty ring buffer removes nothing.
        while limit >= 0, journal.position.byteCount > limit, let oldest = journal.position.segments.dropLast().first {
            let retired = try journal.retire(before: oldest.nextSequence, now: lastTime, makesRoom: true)
            guard !retired.isEmpty else { break }
            removed += retired.reduce(0) { $0 + Int(clamping: $1.nextSequence - $1.name.firstSequence) }
        }
        return removed
    }
}
