import EventJournal
import EventValidation
import Synchronization
import TrackerKit

/// A pipeline's journal, with what writes it and what reads it.
final class Journaling: Sendable {
    let journal: Journal
    let committer: JournalCommitter
    /// What commits, once it has begun to.
    private let committing = Mutex<Task<Void, Never>?>(nil)
    /// Whether it has, without the lock.
    private let isCommitting = Atomic(false)
    /// Tells the time that commits are marked with, and by which segments age, in microseconds since 1970.
    ///
    /// It is that of the journal's opening and what a monotonic clock has counted since, whatever the wall clock does.
    let now: @Sendable () -> Int64
    /// One for each tracker, in the order of the queues.
    let backlogs: [TrackerBacklog]
    /// How far each tracker had got when the journal was opened.
    let cursors: [UInt64]
    /// Where the journal ended when it was opened.
    let end: UInt64
    /// The trackers that have a cursor and are not configured, and where the hindmost stands: they hold segments back.
    let abandoned: (trackers: [String], sequence: UInt64)

    /// The trackers that had no cursor, and where they begin.
    let begun: [(tracker: String, sequence: UInt64)]

    /// Opens the cursors; a tracker that has none begins at `start`.
    ///
    /// - Throws: Where a cursor cannot be opened, and where the system refuses a thread.
    init(
        _ journal: Journal,
        catalog: EventCatalog,
        trackerNames: [String],
        delivery: Pipeline.DeliveryLimits,
        start: JournalStart,
        clock: PipelineClock
    ) throws(JournalError) {
        self.journal = journal
        let opened = journal.openedAt
        let now: @Sendable () -> Int64 = { opened &+ Int64(clock.now() / .microseconds(1)) }
        self.now = now
        end = journal.position.nextSequence
        committer = JournalCommitter(journal, thread: try Self.thread(), now: now)
        var backlogs: [TrackerBacklog] = []
        var cursors: [UInt64] = []
        var begun: [(tracker: String, sequence: UInt64)] = []
        for name in trackerNames {
            let (cursor, sequence, isNew) = try Self.openCursor(of: name, in: journal, start)
            cursors.append(sequence)
            if isNew { begun.append((name, sequence)) }
            backlogs.append(
                TrackerBacklog(
                    journal,
                    end: end,
                    cursor: cursor,
                    catalog: catalog,
                    tracker: name,
                    delivery: delivery,
                    // One each, so that a tracker that reads a lot holds up no other.
                    thread: try Self.thread()
                )
            )
        }
        self.backlogs = backlogs
        self.cursors = cursors
        self.begun = begun
        let configured = Set(trackerNames.map { $0.lowercased() })
        let others = try journal.cursors().filter { !configured.contains($0.key) }
        abandoned = (others.keys.sorted(), others.values.min() ?? .max)
    }

    /// Begins to commit, unless that has begun.
    func beginCommitting(of pipeline: Pipeline) {
        if !isCommitting.load(ordering: .relaxed) { _ = committing(of: pipeline) }
    }

    /// Ends the committing once everything handed over before is committed; waits for it.
    func endCommitting(of pipeline: Pipeline) async {
        let committing = committing(of: pipeline)
        pipeline.decide { state, actions in state.endCommitting(actions: &actions) }
        await committing.value
    }

    /// Not a child of `run`: it outlives its cancellation, until the last batch is committed, and batches are taken before.
    private func committing(of pipeline: Pipeline) -> Task<Void, Never> {
        committing.withLock { committing in
            if let committing { return committing }
            let begun = pipeline.commitsGatheredBatches(by: self)
            committing = begun
            isCommitting.store(true, ordering: .relaxed)
            return begun
        }
    }

    private static func thread() throws(JournalError) -> BlockingThread {
        do throws(TrackerError) {
            return try BlockingThread()
        } catch {
            throw JournalError(.unwritable, error.message)
        }
    }

    /// A tracker's cursor, and where it stands; one that is new is put down for good, or a crash would make it new again.
    private static func openCursor(
        of tracker: String,
        in journal: Journal,
        _ start: JournalStart
    ) throws(JournalError) -> (CursorFile, UInt64, isNew: Bool) {
        var cursor = try journal.cursor(ofTracker: tracker)
        if let sequence = cursor.sequence { return (cursor, sequence, false) }
        let sequence = try start.sequence(in: journal)
        do throws(FileError) {
            try cursor.move(to: sequence, syncs: true)
        } catch {
            throw JournalError(.unwritable, "The cursor of '\(tracker)' cannot be written: \(error).")
        }
        return (cursor, sequence, true)
    }
}
