/// A migration, and what runs around it in its transaction.
struct MigrationFrame: Sendable, Hashable {
    let migration: Migration
    /// Before it: the transaction's beginning, and the schema.
    let opening: [String]
    /// After it: the record that the database has had it, and the transaction's end.
    let closing: [String]

    /// - Parameter bookkeeping: The name of the table with the record.
    init(of migration: Migration, schema: String, bookkeeping: String) {
        self.migration = migration
        let name = SQLText.identifier(schema)
        opening = [
            "BEGIN", "SET LOCAL search_path = \(name), public",
            "SET LOCAL sluice.schema = \(SQLText.literal(schema))",
        ]
        closing = [
            """
            INSERT INTO \(name).\(SQLText.identifier(bookkeeping)) (number, name, sha256)
            VALUES (\(migration.number), \(SQLText.literal(migration.name)), \(SQLText.literal(migration.sha256)))
            """, "COMMIT",
        ]
    }
}
