import SluiceMigrations

extension Migration {
    /// Sluice's own migrations, in their order: those of the project's folder `migrations`, compiled into the program.
    public static var builtIn: [Migration] {
        MigrationFiles.all.compactMap { Migration(name: $0.name, sql: $0.sql) }
    }
}
