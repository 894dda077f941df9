/// The statements around migrations and changes of tables: the migrator runs them, and a script holds them.
enum MigrationSteps {
    /// Where a schema keeps the record of its migrations; no event's table has a name that begins with an underscore.
    private static let bookkeeping = "_sluice_migrations"
    /// The first half of the advisory lock's key; the second is a hash of the schema's name.
    private static let lockClass = 0x736C_7569

    /// Waits until no other migration of the schema runs.
    static func lock(_ schema: String) -> String { "SELECT pg_advisory_lock(\(key(of: schema)))" }

    /// Lets the next one run.
    static func unlock(_ schema: String) -> String { "SELECT pg_advisory_unlock(\(key(of: schema)))" }

    private static func key(of schema: String) -> String { "\(lockClass), hashtext(\(SQLText.literal(schema)))" }

    /// A change of a table must not queue for long behind a reader: every writer would queue behind it.
    static let patience = "SET lock_timeout = '10s'"

    /// The table with the migrations that a schema has had, quoted.
    static func record(of schema: String) -> String {
        SQLText.identifier(schema) + "." + SQLText.identifier(bookkeeping)
    }

    /// What stands before a migration.
    static func opening(_ schema: String) -> String {
        """
        BEGIN;
        SET LOCAL search_path = \(SQLText.identifier(schema)), public;
        SET LOCAL sluice.schema = \(SQLText.literal(schema))
        """
    }

    /// What stands behind it: that it was applied.
    static func closing(_ migration: Migration, _ schema: String) -> String {
        """
        INSERT INTO \(record(of: schema)) (number, name, sha256)
        VALUES (\(migration.number), \(SQLText.literal(migration.name)), \(SQLText.literal(migration.sha256)));
        COMMIT
        """
    }

    /// All that is done for one table.
    static func transaction(_ change: SchemaChanges.TableChange) -> String {
        (["BEGIN"] + change.statements + ["COMMIT"]).joined(separator: ";\n")
    }
}
