/// The statements around migrations and changes of tables, shared by the migrator and its script.
enum MigrationSteps {
    /// The table that records a schema's migrations; no event's table has a name that begins with an underscore.
    private static let bookkeeping = "_sluice_migrations"
    /// The first half of the advisory lock's key; the second is a hash of the schema's name.
    private static let lockClass = 0x736C_7569

    /// Waits until no other migration of the schema is running.
    static func lock(_ schema: String) -> String { "SELECT pg_advisory_lock(\(key(of: schema)))" }

    /// Releases the lock, so that the next migration can run.
    static func unlock(_ schema: String) -> String { "SELECT pg_advisory_unlock(\(key(of: schema)))" }

    private static func key(of schema: String) -> String { "\(lockClass), hashtext(\(SQLText.literal(schema)))" }

    /// A change to a table must not wait long for a reader, because every writer would queue after it.
    static let patience = "SET lock_timeout = '10s'"

    /// The table of the migrations that were applied to a schema, quoted.
    static func record(of schema: String) -> String {
        SQLText.identifier(schema) + "." + SQLText.identifier(bookkeeping)
    }

    /// The statements before a migration.
    static func opening(_ schema: String) -> String {
        """
        BEGIN;
        SET LOCAL search_path = \(SQLText.identifier(schema)), public;
        SET LOCAL sluice.schema = \(SQLText.literal(schema))
        """
    }

    /// The statements after a migration, which record that it was applied.
    static func closing(_ migration: Migration, _ schema: String) -> String {
        """
        INSERT INTO \(record(of: schema)) (number, name, sha256)
        VALUES (\(migration.number), \(SQLText.literal(migration.name)), \(SQLText.literal(migration.sha256)));
        COMMIT
        """
    }

    /// The transaction with all changes to one table.
    static func transaction(_ change: SchemaChanges.TableChange) -> String { transaction(of: change.statements) }

    /// A transaction with these statements.
    static func transaction(of statements: [String]) -> String {
        (["BEGIN"] + statements + ["COMMIT"]).joined(separator: ";\n")
    }
}
