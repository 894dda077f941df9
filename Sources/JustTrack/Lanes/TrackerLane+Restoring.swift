import EventJournal
import EventValidation
import Logging

extension TrackerLane {
    /// How long the spool may take to take what is restored.
    private static let patience = 10.0

    /// Takes what earlier processes left, and what the tracker did not take in this one; returns how many events.
    ///
    /// A spool is removed when all of it is taken again; where that fails, the rest waits for the next time, as long as it
    /// is not too much.
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
                // Another process, or this one, is still at it.
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
            // Should the process end before all is taken, only what follows comes again.
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
