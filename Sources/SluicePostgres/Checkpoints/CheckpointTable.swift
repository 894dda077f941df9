import EventModel
import TrackerKit

/// The table that stores the tracker's checkpoint for each journal, and the statements for it.
struct CheckpointTable: Sendable {
    /// The table's name; no event's table has a name that begins with an underscore.
    static let name = "_sluice_checkpoints"
    /// The columns that the statements use.
    static let columns: Set = ["journal", "tracker", "next_sequence", "updated_at", "backend_start"]
    /// The first half of the advisory lock's key; the second is a hash that identifies the row.
    private static let lockClass = 0x736C_636B

    let schema: String
    /// The tracker's name in lower case, because names are case-insensitive.
    let tracker: String

    init(_ configuration: PostgresConfiguration) {
        schema = configuration.schema
        tracker = configuration.name.lowercased()
    }

    /// The schema and the table's name, quoted.
    var sqlName: String {
        SQLText.identifier(schema) + "." + SQLText.identifier(Self.name)
    }

    /// The statement at the beginning of a transaction that loads rows.
    ///
    /// It waits until no other transaction of the same tracker and journal is in progress, and reads the checkpoint, which
    /// stays locked until the transaction ends.
    func lockAndRead(for journal: JournalID) -> String {
        "\(lock(for: journal)); SELECT next_sequence FROM \(sqlName) WHERE \(isRow(of: journal)) FOR UPDATE"
    }

    /// The statement at the end of the transaction, which stores the checkpoint.
    func store(_ checkpoint: Checkpoint) -> String {
        // A journal's sequence numbers end at the maximum of `bigint`.
        let number = Int64(clamping: checkpoint.nextSequence)
        return """
            INSERT INTO \(sqlName) (journal, tracker, next_sequence) VALUES (\(key(of: checkpoint.journal)), \(number))
            ON CONFLICT (journal, tracker) DO UPDATE SET next_sequence = EXCLUDED.next_sequence, updated_at = now()
            """
    }

    /// Terminates the session that an earlier process, or an earlier connection of this one, left behind with the lock.
    ///
    /// That session may be reading rows from a network that went silent, which nothing else would end soon. It is
    /// terminated only if it has our role, our application's name, and the start time of the recorded session, because the
    /// system may have reused its process number.
    func endPredecessor(for journal: JournalID) -> String {
        """
        SELECT pg_catalog.pg_terminate_backend(l.pid)
        FROM pg_catalog.pg_locks l
        JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
        JOIN \(sqlName) c ON c.backend_start = a.backend_start AND \(isRow(of: journal))
        WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.pid <> pg_catalog.pg_backend_pid()
            AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database())
            AND l.classid::bigint = \(Self.lockClass)
            AND l.objid::bigint = hashtext(\(lockSubject(of: journal)))::bigint & 4294967295
            AND a.usename = session_user AND a.application_name = current_setting('application_name')
        """
    }

    /// Waits for the end of a transaction that an earlier session began, and records this session as the latest.
    ///
    /// Returns a row with the stored checkpoint, or NULL.
    ///
    /// Through a pooler no session is recorded, because it could belong to another client by the time it is terminated.
    func claim(for journal: JournalID, isPooled: Bool) -> String {
        let start =
            isPooled
            ? "NULL"
            : "(SELECT backend_start FROM pg_catalog.pg_stat_activity WHERE pid = pg_catalog.pg_backend_pid())"
        return """
            BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = 0; \(lock(for: journal));
            INSERT INTO \(sqlName) (journal, tracker, backend_start) VALUES (\(key(of: journal)), \(start))
            ON CONFLICT (journal, tracker) DO UPDATE SET backend_start = EXCLUDED.backend_start
            RETURNING next_sequence;
            COMMIT
            """
    }

    private func key(of journal: JournalID) -> String {
        "\(SQLText.literal("\(journal)")), \(SQLText.literal(tracker))"
    }

    private func isRow(of journal: JournalID) -> String {
        "journal = \(SQLText.literal("\(journal)")) AND tracker = \(SQLText.literal(tracker))"
    }

    private func lockSubject(of journal: JournalID) -> String {
        SQLText.literal("\(sqlName) \(journal) \(tracker)")
    }

    private func lock(for journal: JournalID) -> String {
        "SELECT pg_advisory_xact_lock(\(Self.lockClass), hashtext(\(lockSubject(of: journal))))"
    }
}
