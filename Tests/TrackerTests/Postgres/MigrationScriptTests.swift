import EventSchema
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

/// The script of `sluice migrate --plan-only` contains what a migration runs, and is not run.
@Suite("PostgreSQL: migration scripts")
struct MigrationScriptTests {
    private static func migrator(_ database: TestDatabase) -> PostgresMigrator {
        PostgresMigrator(PostgresConfiguration(connection: database.url))
    }

    private static func plan(_ events: EventDefinition...) -> TrackingPlan { TrackingPlan(events: events) }

    /// Everything that was created in the database: schemas, tables and columns.
    private static func contents(of database: TestDatabase) async throws -> [String] {
        try await database.run(
            """
            SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                col_description(c.oid, a.attnum), obj_description(c.oid, 'pg_class')
            FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r'
            LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
            WHERE n.nspname NOT LIKE 'pg%' AND n.nspname <> 'information_schema' ORDER BY 1, 2, a.attnum
            """
        )
    }

    private static let bought = event(
        "Item Bought",
        [property("it's \"number\"", .integer, description: "How many; isn't it?\nYes."), property("gone", .string)],
        description: "Somebody bought.",
        extra: true
    )

    @Test("the script, run by psql, does what the migration does, and creating it changes nothing")
    func script() async throws {
        let byScript = try await PrivatePostgres.shared().makeDatabase()
        let byMigrator = try await PrivatePostgres.shared().makeDatabase()
        let grown = event(
            "Item Bought",
            [property("it's \"number\"", .integer, required: false), property("new", .date)]
        )
        let empty = try await Self.contents(of: byScript)
        for plan in [Self.plan(Self.bought), Self.plan(Self.bought, event("Seen")), Self.plan(grown)] {
            let before = try await Self.contents(of: byScript)
            let script = try await Self.migrator(byScript).script(for: plan, applying: Migration.builtIn)
            #expect(!script.isEmpty)
            #expect(try await Self.contents(of: byScript) == before)
            _ = try await byScript.run(script.text)
            _ = try await Self.migrator(byMigrator).migrate(plan, applying: Migration.builtIn)
            #expect(try await Self.contents(of: byScript) == Self.contents(of: byMigrator))

            let again = try await Self.migrator(byScript).script(for: plan, applying: Migration.builtIn)
            #expect(again.isEmpty)
            #expect(again.text == "-- Nothing to do: the database matches the plan.\n")
            #expect(try await Self.migrator(byScript).migrate(plan, applying: Migration.builtIn).isEmpty)
        }
        #expect(try await Self.contents(of: byScript) != empty)
    }

    @Test("if a column has another type, creating the script fails with the same error as the migration")
    func conflict() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        _ = try await Self.migrator(database).migrate(Self.plan(Self.bought), applying: Migration.builtIn)
        let other = Self.plan(event("Item Bought", [property("gone", .integer)]))
        var errors: [TrackerError] = []
        do { _ = try await Self.migrator(database).script(for: other, applying: Migration.builtIn) } catch {
            errors.append(error)
        }
        do { _ = try await Self.migrator(database).migrate(other, applying: Migration.builtIn) } catch {
            errors.append(error)
        }
        #expect(errors.map(\.message).first?.contains(#""gone" has type text, and the plan wants bigint."#) == true)
        #expect(errors.count == 2 && errors[0].message == errors[1].message)
    }

    @Test("the script contains all pending migrations, however their texts end, and an edited migration is an error")
    func migrations() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let first = Migration.builtIn
        let more = try [
            #require(Migration(name: "0101_no_semicolon.sql", sql: "CREATE TABLE a (b int)")),
            #require(Migration(name: "0102_comment.sql", sql: "CREATE TABLE c (d int) -- done;\n\n")),
            #require(Migration(name: "0103_whole.sql", sql: "CREATE TABLE e (f text DEFAULT '--');\n")),
        ]
        let script = try await Self.migrator(database).script(for: Self.plan(event("Seen")), applying: first + more)
        #expect(script.summary == "\(first.count + more.count) migrations to apply and 1 table to make or extend; nothing was run")
        #expect(script.text.contains("-- The tables below were compared with the database as it is"))
        _ = try await database.run(script.text)
        let tables = try await database.run("SELECT relname FROM pg_class WHERE relname IN ('a', 'c', 'e') ORDER BY 1")
        #expect(tables == ["a", "c", "e"])
        #expect(try await Self.migrator(database).migrate(Self.plan(event("Seen")), applying: first + more).isEmpty)
        let edited = try [#require(Migration(name: "0001_schema.sql", sql: "SELECT 1"))] + first.dropFirst() + more
        await #expect(throws: TrackerError.self) {
            try await Self.migrator(database).script(for: Self.plan(event("Seen")), applying: edited)
        }
    }

    @Test("a failing statement makes psql stop with an error, as it makes the migration stop")
    func failure() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let more = try [
            #require(Migration(name: "0101_wrong.sql", sql: "CREATE TABLE gone (); SELECT 1 / 0;")),
            #require(Migration(name: "0102_later.sql", sql: "CREATE TABLE later ();")),
        ]
        let script = MigrationScript(Self.plan(event("Seen")), applying: Migration.builtIn + more)
        let error = await #expect(throws: PrivatePostgres.Unavailable.self) {
            try await database.server.psql(database.name, script.text, stopsAtErrors: false)
        }
        #expect(error?.description.contains("ended with status 3: ") == true)
        #expect(error?.description.contains("division by zero") == true)
        #expect(
            try await database.run("SELECT name FROM analytics._sluice_migrations ORDER BY number")
                == Migration.builtIn.map(\.name)
        )
        let tables = try await database.run("SELECT relname FROM pg_class WHERE relname IN ('gone', 'later', 'seen')")
        #expect(tables == [])
    }

    @Test("no change of a plan produces a statement that destroys data or changes a type")
    func harmless() {
        let types = PropertyType.allCases
        for old in types {
            for new in types + [nil] {
                let before = EventTable(event("Sold", [property("it", old)], extra: true), schema: "s")
                let after = EventTable(
                    event("Sold", new.map { [property("it", $0, required: false)] } ?? []),
                    schema: "s"
                )
                let changes = SchemaChanges(from: PresentSchema(before), to: [after])
                for statement in changes.tables.flatMap(\.statements) {
                    let isHarmless =
                        ["CREATE TABLE ", "COMMENT ON "].contains { statement.hasPrefix($0) }
                        || statement.contains(" ADD COLUMN ") || statement.hasSuffix(" DROP NOT NULL")
                    #expect(isHarmless, "\(statement)")
                }
            }
        }
    }
}

extension PresentSchema {
    /// A schema with this table as the migration creates it.
    init(_ table: EventTable) {
        let columns = table.columns.map { column in
            PresentTable.Column(
                name: column.name,
                type: column.type.sql,
                isNullable: column.isNullable,
                isUnique: column.name == "id",
                comment: column.comment
            )
        }
        let present = PresentTable(name: table.name, columns: columns, comment: table.comment)
        self.init(name: table.schema, exists: true, tables: [table.name: present])
    }
}
