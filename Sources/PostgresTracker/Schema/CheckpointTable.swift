import EventPipeline
import Journal

/// The table in which the database keeps how far the tracker has got in a journal, and the statements for it.
struct CheckpointTable: Sendable {
    /// What a transaction of rows has to do beside them.
    struct Statements: Sendable {
        /// At its beginning: waits until no other transaction of the same tracker and journal goes on.
        let lock: String
        /// At its end: stores the checkpoint.
        let store: String
    }

    /// No event's table has a name that begins with an underscore.
    private static let name = "_sluice_checkpoints"
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

    /// The statements for the transaction of a delivery.
    func statements(for checkpoint: Checkpoint) -> Statements {
        let key = "\(SQLText.literal("\(checkpoint.journal)")), \(SQLText.literal(tracker))"
        // A journal's numbers end where those of `bigint` do.
        let number = Int64(clamping: checkpoint.nextSequence)
        return Statements(
            lock: lock(for: checkpoint.journal),
            store: """
                INSERT INTO \(sqlName) (journal, tracker, next_sequence) VALUES (\(key), \(number))
                ON CONFLICT (journal, tracker) DO UPDATE SET next_sequence = EXCLUDED.next_sequence, updated_at = now()
                """
        )
    }

    /// Waits for the end of a transaction that an earlier process began; it may still be committed when that is gone.
    func lock(for journal: JournalID) -> String {
        let subject = SQLText.literal("\(sqlName) \(journal) \(tracker)")
        return "SELECT pg_advisory_xact_lock(\(Self.lockClass), hashtext(\(subject)))"
    }

    /// Asks for what is stored: a row with the number, or none.
    func query(for journal: JournalID) -> String {
        """
        SELECT next_sequence FROM \(sqlName)
        WHERE journal = \(SQLText.literal("\(journal)")) AND tracker = \(SQLText.literal(tracker))
        """
    }
}
