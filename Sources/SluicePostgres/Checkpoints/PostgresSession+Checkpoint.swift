import EventModel
import TrackerKit

extension PostgresSession {
    /// Returns the stored checkpoint of a journal, once no transaction is in progress that could still store one.
    ///
    /// From now on this session stores checkpoints for the journal; the session of an earlier process is terminated.
    func checkpoint(ofJournal journal: JournalID, _ interrupt: Interrupt) throws(TrackerError) -> UInt64? {
        do throws(PostgresFailure) {
            let stored = try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
                connection,
                limit throws(PostgresFailure) in
                try claim(journal, for: connection, limit)
            }
            checkpointMemory.asked(about: journal, answer: stored)
            return stored
        } catch {
            throw checkpointError(error)
        }
    }

    /// Makes this session the one that stores checkpoints for the delivery's journal.
    ///
    /// Returns whether the delivery was committed by a transaction whose response was lost.
    func takeUp(_ delivery: Delivery, _ interrupt: Interrupt) throws(TrackerError) -> Bool {
        guard let journal = delivery.journal else { return false }
        if checkpointMemory.isSuperseded(in: journal) { throw .superseded }
        guard checkpointMemory.known(of: journal) != nil else {
            throw TrackerError(
                code: .superseded,
                message: "The tracker has not read the checkpoint of journal \(journal) since the tracker started.",
                isRetryable: false
            )
        }
        do throws(PostgresFailure) {
            return try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
                connection,
                limit throws(PostgresFailure) in
                guard !claimedJournals.contains(journal) else { return false }
                let stored = try claim(journal, for: connection, limit)
                switch checkpointMemory.found(stored, in: journal) {
                case .unchanged: return false
                case .committed: return stored != nil && stored == delivery.checkpoint?.nextSequence
                case .superseded: throw .superseded(by: stored)
                }
            }
        } catch {
            throw checkpointError(error)
        }
    }

    private func claim(
        _ journal: JournalID,
        for connection: PostgresConnection,
        _ limit: WaitLimit
    ) throws(PostgresFailure) -> UInt64? {
        if !connection.isPooled { try connection.execute(checkpoints.endPredecessor(for: journal), limit) }
        let claim = checkpoints.claim(for: journal, isPooled: connection.isPooled)
        let rows = try connection.lastRows(of: claim, limit)
        claimedJournals.insert(journal)
        return rows.first?.first.flatMap { $0.flatMap { UInt64($0) } }
    }

    private func checkpointError(_ failure: PostgresFailure) -> TrackerError {
        switch failure.sqlState {
        case "42P01", "3F000": .missing(table: checkpoints.sqlName)
        case "42703", "23502": .outdated(table: checkpoints.sqlName)
        case "42501": .missingPrivilege(on: checkpoints, role: SQLText.identifier(role))
        default: TrackerError(failure)
        }
    }
}

extension PostgresFailure {
    /// The stored checkpoint is not the one that the session knows.
    static func superseded(by stored: UInt64?) -> PostgresFailure {
        PostgresFailure(
            source: .superseded,
            message: "another process has stored a checkpoint for this journal (\(stored.map(String.init) ?? "none"))"
        )
    }
}

extension TrackerError {
    /// The error of every delivery after another process has taken over.
    fileprivate static var superseded: TrackerError {
        TrackerError(
            PostgresFailure(source: .superseded, message: "another process has stored a checkpoint for this journal")
        )
    }
}
