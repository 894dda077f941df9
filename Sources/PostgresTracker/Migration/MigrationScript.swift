public import EventSchema

/// What `PostgresMigrator` does to a database that has nothing yet, as one script of SQL.
///
/// It consists of the migrator's own statements, so that the two cannot differ: after it, the migrator finds nothing
/// to do. For databases that only an administrator may change, and for whoever wants to read first what would be
/// done.
public struct MigrationScript: Sendable {
    private let plan: TrackingPlan
    private let migrations: [Migration]
    private let schema: String
    private let tracker: String

    /// Takes a plan, the migrations in their order, and which of the plan's events go to which schema.
    public init(
        _ plan: TrackingPlan,
        applying migrations: [Migration],
        schema: String = PostgresConfiguration.defaultSchema,
        tracker: String = PostgresConfiguration.defaultName
    ) {
        self.plan = plan
        self.migrations = migrations
        self.schema = schema
        self.tracker = tracker
    }

    /// The script, for psql or any other client; it ends with a newline.
    public var text: String {
        let blocks = [head, opening] + migrations.map(block) + tables + [closing]
        return blocks.joined(separator: "\n\n") + "\n"
    }

    private var head: String {
        """
        -- Made by `sluice export sql` for a database without the tables of the plan: the migrations, then a table for
        -- each event that goes to '\(Self.comment(tracker))'. Each is a transaction of its own.
        -- Where there are such tables already, use `sluice migrate`, which knows them.
        """
    }

    /// A backslash means itself in what follows, as the migrator's sessions have it.
    private var opening: String {
        """
        SET standard_conforming_strings = on;
        SET client_encoding = 'UTF8';
        \(MigrationSteps.lock(schema));
        \(MigrationSteps.patience);
        """
    }

    private func block(_ migration: Migration) -> String {
        let sql = migration.sql.hasSuffix("\n") ? migration.sql : migration.sql + "\n"
        return """
            -- \(Self.comment(migration.name))
            \(MigrationSteps.opening(schema));

            \(sql)
            \(MigrationSteps.closing(migration, schema));
            """
    }

    private var tables: [String] {
        let wanted = EventTable.tables(of: plan, tracker: tracker, schema: schema)
        let changes = SchemaChanges(from: PresentSchema(name: schema, exists: false), to: wanted)
        return changes.tables.map { MigrationSteps.transaction($0) + ";" }
    }

    private var closing: String {
        """
        RESET lock_timeout;
        \(MigrationSteps.unlock(schema));
        """
    }

    /// A name that does not end the comment that it stands in.
    private static func comment(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
