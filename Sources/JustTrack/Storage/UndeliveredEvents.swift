import EventJournal
import EventModel
import EventValidation
import Logging
import Synchronization
import TrackerKit

/// The events that a tracker answered with `false`, in a spool of their own until `enable()`.
final class UndeliveredEvents: Sendable {
    /// A spool that is being written.
    private struct Store: ~Copyable {
        let spool: Spool
        var writer: JournalWriter

        init(_ spool: Spool) {
            self.spool = spool
            writer = JournalWriter(spool.journal)
        }

        /// Appends a line; if the spool is full, removes the oldest ones and returns how many bytes they had.
        mutating func keep(_ line: [UInt8]) throws(JournalError) -> Int {
            let now = Timestamp.now().microseconds
            let journal = spool.journal
            var removed = 0
            while true {
                do throws(JournalError) {
                    _ = try writer.commit(lines: line, count: 1, now: now)
                    return removed
                } catch {
                    guard error.code == .full, let oldest = journal.position.segments.first else { throw error }
                    let retired = try journal.retire(before: oldest.nextSequence, now: now, makesRoom: true)
                    guard !retired.isEmpty else { throw error }
                    removed += oldest.byteCount
                }
            }
        }

        consuming func close(discarding: Bool) {
            let spool = spool
            try? writer.close(now: Timestamp.now().microseconds)
            if discarding { spool.remove() }
        }
    }

    private let folder: SpoolFolder
    private let logger: Logger
    private let store = Mutex<Store?>(nil)

    init(in folder: SpoolFolder, logger: Logger) {
        self.folder = folder
        self.logger = logger
    }

    /// Stores an event; if that fails, the event is lost and an error is logged.
    func keep(_ event: TrackedEvent) {
        do throws(JournalError) {
            let line = Array(event.batch.line(at: event.index)) + [UInt8(ascii: "\n")]
            try store.withLock { store throws(JournalError) in
                if store == nil { store = Store(try folder.begin()) }
                if let removed = try store?.keep(line), removed > 0 {
                    logger.error("Too much is undelivered: \(removed) bytes of the oldest events are lost.")
                }
            }
        } catch {
            logger.error("An event that its tracker did not take cannot be kept, and is lost: \(error)")
        }
    }

    /// Closes the spool, so that its events can be restored; with `discarding` removes it.
    func release(discarding: Bool = false) {
        store.withLock { $0.take()?.close(discarding: discarding) }
    }
}
