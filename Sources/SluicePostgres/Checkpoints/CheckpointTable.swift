import EventModel
import TrackerKit

/// The table in which the database keeps how far the tracker has got in a journal, and the statements for it.
struct CheckpointTable: Sendable {
    /// No event's table has a name that begins with an underscore.
    static let name = "_sluice_checkpoints"
    /// What the statements use of it.
    static let columns: Set = ["journal", "tracker", "next_sequence", "updated_at", "backend_start"]
    /// The first half of the advisory lock's key; the second is a hash of what the row is for.
    private static let lockClass = 0x736C_636B

    let schema: String
    /// The tracker's name in lower case, because names are compared without regard to it.
    let tracker: String

    init(_ configuration: PostgresConfiguration) {
        schema = configuration.schema
        tracker = configuration.name.lowercased()
    }

    /// Schema and name, quoted.
    var sqlName: String {
        SQLText.identifier(schema) + "." + SQLText.identifier(Self.name)
    }

    /// What a transaction of rows does at its beginning: waits until no other transaction of the same tracker and
    /// journal goes on, and reads what is stored; the row stays as it is until the transaction ends.
    func lockAndRead(for journal: JournalID) -> String {
        "\(lock(for: journal)); SELECT next_sequence FROM \(sqlName) WHERE \(isRow(of: journal)) FOR UPDATE"
    }

    /// What it does at its end: stores the checkpoint.
    func store(_ checkpoint: Checkpoint) -> String {
        // A journal's numbers end where those of `bigint` do.
        let number = Int64(clamping: checkpoint.nextSequence)
        return """
            INSERT INTO \(sqlName) (journal, tracker, next_sequence) VALUES (\(key(of: checkpoint.journal)), \(number))
            ON CONFLICT (journal, tracker) DO UPDATE SET next_sequence = EXCLUDED.next_sequence, updated_at = now()
            """
    }

    /// Ends the session that an earlier process, or an earlier connection of this one, left behind with the lock.
    ///
    /// It may be reading rows from a network that has gone silent, and then nothing else ends it soon. It is ended only
    /// if it has our role and our application's name, and began when the recorded session did: a process number may
    /// have gone to somebody else's.
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

    /// Waits for the end of a transaction that an earlier session began, and records this one as the latest; gives a
    /// row with the number that is stored, or NULL.
    ///
    /// Behind a pooler no session is recorded: it may be another client's by the time it would be ended.
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
