import EventPipeline
import Journal

extension PostgresSession {
    /// What is stored for a journal, once no transaction that may still store something is under way.
    func checkpoint(ofJournal journal: JournalID, _ interrupt: Interrupt) throws(TrackerError) -> UInt64? {
        do throws(PostgresFailure) {
            return try storedCheckpoint(ofJournal: journal, interrupt)
        } catch {
            if error.sqlState == "42P01" {
                let message = "The database lacks the table \(checkpoints.sqlName); run `sluice migrate`."
                throw TrackerError(code: .notPrepared, message: message, isRetryable: false, underlying: error)
            }
            throw TrackerError(error)
        }
    }

    /// Whether a delivery that failed without an answer was loaded all the same, and with it its checkpoint.
    func isLoaded(_ delivery: Delivery, _ interrupt: Interrupt) throws(PostgresFailure) -> Bool {
        guard isInDoubt, let checkpoint = delivery.checkpoint else { return false }
        return try storedCheckpoint(ofJournal: checkpoint.journal, interrupt) == checkpoint.nextSequence
    }

    private func storedCheckpoint(
        ofJournal journal: JournalID,
        _ interrupt: Interrupt
    ) throws(PostgresFailure) -> UInt64? {
        try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
            connection,
            limit throws(PostgresFailure) in
            try connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED; \(checkpoints.lock(for: journal))", limit)
            // A statement of its own, which sees what was committed while the lock was waited for.
            let rows = try connection.rows(of: checkpoints.query(for: journal), parameters: [], limit)
            try connection.execute("COMMIT", limit)
            return rows.first?.first.flatMap { $0.flatMap { UInt64($0) } }
        }
    }
}
