import EventJournal
import EventModel
import EventValidation
import Synchronization
import TrackerKit

/// A pipeline's journal (write-ahead log), with its writer and a reader for each tracker.
final class PipelineJournal: Sendable {
    /// The write-ahead log itself.
    let store: Journal
    let committer: JournalCommitter
    /// The task that commits, once it has been started.
    private let committing = Mutex<Task<Void, Never>?>(nil)
    /// Whether that task has been started; readable without the lock.
    private let isCommitting = Atomic(false)
    /// The time of commits and of the segments' age, in microseconds since 1970.
    ///
    /// It is the time of the journal's opening plus what a monotonic clock has counted since, so changes of the wall clock do not
    /// affect it.
    let now: @Sendable () -> Int64
    /// One for each tracker, in the order of the queues.
    let backlogs: [TrackerBacklog]
    /// The cursor of each tracker when the journal was opened.
    let cursors: [UInt64]
    /// Where the journal ended when it was opened.
    let end: UInt64
    /// The trackers that have a cursor but are not configured, and the oldest of their cursors, which keeps segments from being
    /// removed.
    let abandoned: (trackers: [String], sequence: UInt64)
    /// The trackers that had no cursor, and where they begin.
    let begun: [(tracker: String, sequence: UInt64)]

    /// Opens the cursors; a tracker that has none begins at `configuration.journalStart`.
    ///
    /// - Throws: If a cursor cannot be opened, or the system refuses a thread.
    init(
        _ journal: Journal,
        catalog: EventCatalog,
        trackerNames: [String],
        configuration: Pipeline.Configuration,
        clock: RelativeClock,
        metrics: JournalMetrics
    ) throws(JournalError) {
        store = journal
        let opened = journal.openedAt
        let now: @Sendable () -> Int64 = { opened &+ Int64(clock.now() / .microseconds(1)) }
        self.now = now
        end = journal.position.nextSequence
        committer = JournalCommitter(journal, thread: try Self.thread(), now: now) { sync throws(FileError) in
            let began = clock.now()
            try sync()
            metrics.synced(after: clock.now() - began)
        }
        var backlogs: [TrackerBacklog] = []
        var cursors: [UInt64] = []
        var begun: [(tracker: String, sequence: UInt64)] = []
        for name in trackerNames {
            let (cursor, sequence, isNew) = try Self.openCursor(of: name, in: journal, configuration.journalStart)
            cursors.append(sequence)
            if isNew { begun.append((name, sequence)) }
            backlogs.append(
                TrackerBacklog(
                    journal,
                    end: end,
                    cursor: cursor,
                    catalog: catalog,
                    tracker: name,
                    // One each, so that a tracker that reads much does not delay the others.
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

    /// How large the journal is.
    var statistics: JournalStatistics {
        let position = store.position
        return JournalStatistics(
            byteCount: position.byteCount,
            parts: position.segments.map {
                .init(firstSequence: $0.name.firstSequence, nextSequence: $0.nextSequence, byteCount: $0.byteCount)
            },
            roomInBytes: store.roomInBytes
        )
    }

    /// How many events from a number on were in the journal when it was opened, and still are.
    func earlierEvents(from sequence: UInt64) -> Int { store.position.count(from: sequence, to: end) }

    /// Starts the task that commits, unless it has been started.
    func beginCommitting(of pipeline: Pipeline) {
        if !isCommitting.load(ordering: .relaxed) { _ = committing(of: pipeline) }
    }

    /// Ends the task that commits once all admitted batches are committed, and waits for it.
    func endCommitting(of pipeline: Pipeline) async {
        let committing = committing(of: pipeline)
        pipeline.decide { state, actions in state.endCommitting(actions: &actions) }
        await committing.value
    }

    /// The task is not a child of `run`: batches are accepted before `run` is called, and are committed even if it is cancelled.
    private func committing(of pipeline: Pipeline) -> Task<Void, Never> {
        committing.withLock { committing in
            if let committing { return committing }
            let begun = pipeline.startCommitting(by: self)
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

    /// A tracker's cursor and its position; a new cursor is synced, because otherwise a crash would make the tracker new again.
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
