import EventModel
public import EventSchema

/// A script for `psql` that makes the changes that the migrator would make to a database.
///
/// It consists of the migrator's own statements, so the two cannot differ: after it has run, the migrator has nothing to
/// do. Use it for a database that only an administrator may change, or to review the statements before they run.
public struct MigrationScript: Sendable, Hashable {
    private let schema: String
    private let head: String
    /// Whether the tables were compared with a database to which other migrations had been applied.
    private let isOfDatabase: Bool
    private let migrations: [Migration]
    private let tables: [SchemaChanges.TableChange]
    /// Statements that grant a role what it needs.
    private let grants: [String]

    /// The changes that an inspected database still needs.
    init(schema: String, migrations: [Migration], tables: [SchemaChanges.TableChange], grants: [String]) {
        self.schema = schema
        head = "-- For the schema \(Self.inOneLine(schema))."
        isOfDatabase = true
        self.migrations = migrations
        self.tables = tables
        self.grants = grants
    }

    /// The changes that an empty database needs.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - migrations: The migrations, in their order.
    ///   - schema: The schema of the tables. Default: `analytics`.
    ///   - tracker: The tracker whose events get tables.
    ///   - partitioning: How the tables are divided. Default: `none`.
    public init(
        _ plan: TrackingPlan,
        applying migrations: [Migration],
        schema: String = PostgresConfiguration.defaultSchema,
        tracker: String = PostgresConfiguration.defaultName,
        partitions partitioning: TablePartitioning = .none
    ) {
        let wanted = EventTable.tables(of: plan, tracker: tracker, schema: schema)
        self.schema = schema
        head = """
            -- Made by `sluice export sql` for a database without the tables of the plan: the migrations, then a table for
            -- each event that goes to '\(Self.inOneLine(tracker))'. Each is a transaction of its own.
            -- Where there are such tables already, use `sluice migrate`, which knows them.
            """
        isOfDatabase = false
        self.migrations = migrations
        tables =
            SchemaChanges(
                from: PresentSchema(name: schema, exists: false),
                to: wanted,
                dividedInto: TimePartition.ofNewTable(by: partitioning)
            )
            .tables
        grants = []
    }

    /// Whether there is nothing to do.
    public var isEmpty: Bool { migrations.isEmpty && tables.isEmpty && grants.isEmpty }

    /// A one-line summary: `2 migrations to apply and 3 tables to make or extend; nothing was run`.
    public var summary: String {
        if isEmpty { return "nothing to do: the database matches the plan" }
        return
            "\(migrations.count.of("migration")) to apply and \(tables.count.of("table")) to make or extend"
            + (grants.isEmpty ? "" : ", and privileges to grant") + "; nothing was run"
    }

    /// The SQL, with each migration and each table in a transaction of its own; only a comment if there is nothing to do.
    ///
    /// It ends with a newline.
    public var text: String {
        if isEmpty { return "-- Nothing to do: the database matches the plan.\n" }
        let blocks = [head, opening] + migrations.map(block) + note + tables.map(Self.block) + grantBlock + [closing]
        return blocks.joined(separator: "\n\n") + "\n"
    }

    /// The settings at the beginning of the script.
    ///
    /// An error stops the script, as it stops the migrator, and backslashes have no special meaning, as in the migrator's
    /// sessions.
    private var opening: String {
        """
        \\set ON_ERROR_STOP on
        SET standard_conforming_strings = on;
        SET client_encoding = 'UTF8';
        \(MigrationSteps.lock(schema));
        \(MigrationSteps.patience);
        """
    }

    private var closing: String {
        """
        RESET lock_timeout;
        \(MigrationSteps.unlock(schema));
        """
    }

    private var note: [String] {
        guard isOfDatabase, !migrations.isEmpty, !tables.isEmpty else { return [] }
        return ["-- The tables below were compared with the database as it is, before the migrations above."]
    }

    private var grantBlock: [String] {
        if grants.isEmpty { return [] }
        return ["-- grants the role what it needs\n\(MigrationSteps.transaction(of: grants));"]
    }

    private func block(_ migration: Migration) -> String {
        """
        -- \(Self.inOneLine(migration.name))
        \(MigrationSteps.opening(schema));

        \(Self.terminated(migration.sql))

        \(MigrationSteps.closing(migration, schema));
        """
    }

    private static func block(_ change: SchemaChanges.TableChange) -> String {
        """
        -- \(change.isNew ? "makes" : "extends") the table \(inOneLine(change.table))
        \(MigrationSteps.transaction(change));
        """
    }

    /// Ends a migration's text with a semicolon, which its last statement may lack.
    private static func terminated(_ sql: String) -> String {
        let end = sql.lastIndex { !$0.isWhitespace }.map(sql.index(after:)) ?? sql.startIndex
        let text = sql[..<end]
        let lastLine = text.split(whereSeparator: \.isNewline).last ?? ""
        return text.hasSuffix(";") && !lastLine.contains("--") ? String(text) : text + "\n;"
    }

    /// Returns a name without line breaks, for a comment.
    private static func inOneLine(_ name: String) -> String {
        name.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
