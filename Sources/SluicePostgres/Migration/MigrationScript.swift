public import EventSchema

/// What a run of the migrator would run on a database, as a script for `psql` that does the same.
///
/// It consists of the migrator's own statements, so that the two cannot differ: after it, the migrator finds nothing to
/// do. For databases that only an administrator may change, and for whoever wants to read first what would be done.
public struct MigrationScript: Sendable, Hashable {
    private let schema: String
    private let head: String
    /// Whether the tables were compared with a database that has had other migrations.
    private let isOfDatabase: Bool
    private let migrations: [Migration]
    private let tables: [SchemaChanges.TableChange]

    /// What is left to do in a database that was looked at.
    init(schema: String, migrations: [Migration], tables: [SchemaChanges.TableChange]) {
        self.schema = schema
        head = "-- For the schema \(Self.inOneLine(schema))."
        isOfDatabase = true
        self.migrations = migrations
        self.tables = tables
    }

    /// All that there is to do in a database that has nothing yet.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - migrations: The migrations, in their order.
    ///   - schema: The schema of the tables. Default: `analytics`.
    ///   - tracker: Whose events get tables.
    public init(
        _ plan: TrackingPlan,
        applying migrations: [Migration],
        schema: String = PostgresConfiguration.defaultSchema,
        tracker: String = PostgresConfiguration.defaultName
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
        tables = SchemaChanges(from: PresentSchema(name: schema, exists: false), to: wanted).tables
    }

    /// Whether there is nothing to do.
    public var isEmpty: Bool { migrations.isEmpty && tables.isEmpty }

    /// One line for people: `2 migrations and 3 tables to change; nothing was run`.
    public var summary: String {
        func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        if isEmpty { return "nothing to do: the database is up to the plan" }
        return
            "\(count(migrations.count, "migration")) to apply and \(count(tables.count, "table")) to make or extend; "
            + "nothing was run"
    }

    /// The SQL, each migration and each table in a transaction of its own; a comment where there is nothing to do.
    ///
    /// It ends with a newline.
    public var text: String {
        if isEmpty { return "-- Nothing to do: the database is up to the plan.\n" }
        let blocks = [head, opening] + migrations.map(block) + note + tables.map(Self.block) + [closing]
        return blocks.joined(separator: "\n\n") + "\n"
    }

    /// An error ends the script, as it ends a migration; and a backslash means itself in what follows, as the
    /// migrator's sessions have it.
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

    /// A migration's text, which needs no semicolon behind its last statement where it is run by itself.
    private static func terminated(_ sql: String) -> String {
        let end = sql.lastIndex { !$0.isWhitespace }.map(sql.index(after:)) ?? sql.startIndex
        let text = sql[..<end]
        let lastLine = text.split(whereSeparator: \.isNewline).last ?? ""
        return text.hasSuffix(";") && !lastLine.contains("--") ? String(text) : text + "\n;"
    }

    /// A name as part of a comment.
    private static func inOneLine(_ name: String) -> String {
        name.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
