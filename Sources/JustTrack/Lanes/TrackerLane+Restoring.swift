import EventJournal
import EventValidation
import Logging

extension TrackerLane {
    /// How long a commit of restored events may take.
    private static let patience = 10.0

    /// Tracks the events of earlier processes again, and those that the tracker refused in this one; returns how many.
    ///
    /// A spool is removed when all of its events are tracked again. If that fails, the rest is kept for the next time,
    /// within the limits of a spool.
    func restore() -> Int {
        defer { removeSuperfluous() }
        undelivered.release()
        var count = 0
        for folder in spools.spools {
            guard !Spool.isDiscarded(folder) else {
                _ = Spool.removeUnused(folder)
                continue
            }
            do throws(JournalError) {
                count += try restore(Spool(folder: folder))
            } catch {
                // The spool is in use, by another process or this one.
                if error.code != .locked { logger.error("Events for '\(name)' could not be restored: \(error)") }
            }
        }
        return count
    }

    private func restore(_ spool: Spool) throws(JournalError) -> Int {
        for finding in spool.journal.recovery.sentences { logger.error("A spool of '\(name)' is damaged: \(finding)") }
        var reader = SpoolReader(spool, from: try spool.nextSequence(), catalog: catalog)
        var count = 0
        while let part = try reader.next() {
            if let finding = part.finding { logger.error("A spool of '\(name)' is damaged: \(finding)") }
            guard let batch = part.batch else { continue }
            try take(batch)
            count += batch.count
            // If the process ends before the end of the spool, only the following events are restored again.
            do throws(FileError) {
                try spool.answers.move(to: part.nextSequence)
            } catch {
                throw JournalError(.unwritable, "The place in the spool cannot be noted: \(error).")
            }
        }
        spool.remove()
        return count
    }

    private func take(_ batch: EventBatch) throws(JournalError) {
        do {
            guard try track(batch).wait(atMost: Self.patience) else { throw RecordError.spoolStandsStill }
        } catch {
            throw JournalError(.unwritable, "They are not taken: \(error)")
        }
    }
}
