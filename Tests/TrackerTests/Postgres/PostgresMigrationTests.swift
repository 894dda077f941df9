import EventSchema
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: migration", .timeLimit(.minutes(5)))
struct PostgresMigrationTests {
    private func migrate(
        _ database: TestDatabase,
        _ events: [EventDefinition],
        _ migrations: [Migration]? = nil,
        schema: String = "analytics"
    ) async throws -> MigrationReport {
        let configuration = PostgresConfiguration(connection: database.url, schema: schema)
        let all = migrations ?? Migration.builtIn
        return try await PostgresMigrator(configuration).migrate(TrackingPlan(events: events), applying: all)
    }

    /// Migrates and returns the error; a migration that succeeds fails the test.
    private func migrationError(
        _ database: TestDatabase,
        _ events: [EventDefinition],
        _ migrations: [Migration]? = nil
    ) async throws -> TrackerError? {
        do {
            _ = try await migrate(database, events, migrations)
        } catch let error as TrackerError {
            return error
        }
        Issue.record("it migrated")
        return nil
    }

    private func migration(_ name: String, _ sql: String) throws -> Migration {
        try #require(Migration(name: name, sql: sql))
    }

    private func columns(_ table: String, in database: TestDatabase) async throws -> [String] {
        try await database.run(
            """
            SELECT attname, format_type(atttypid, atttypmod), attnotnull, col_description(attrelid, attnum)
            FROM pg_attribute WHERE attrelid = '\(table)'::regclass AND attnum > 0 ORDER BY attnum
            """
        )
    }

    @Test("a table has Sluice's columns, the properties' and extra, with the plan's types, NOT NULL and comments")
    func tables() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let definition = event(
            "Item Purchased",
            [
                property("invoiceNo", .string, description: "It's the \"invoice\""), property("quantity", .integer),
                property("unitPrice", .number, nullable: true), property("total", .decimal, required: false),
                property("isGift", .boolean), property("paidAt", .timestamp), property("day", .date),
                property("cartID", .uuid),
                property("lines", .array), property("address", .object), property("whatever", .any),
            ],
            description: "Somebody bought something; isn't that 'nice'?",
            extra: true
        )
        let report = try await migrate(database, [definition])
        #expect(
            report.migrations == [
                "0001_schema.sql", "0002_checkpoints.sql", "0003_sessions.sql", "0004_loader.sql",
                "0005_event_time.sql",
                "0006_recent_ids.sql",
                "0007_forgotten.sql",
            ]
        )
        #expect(report.createdTables == ["item_purchased"])
        #expect(
            try await columns("analytics.item_purchased", in: database) == [
                "id|uuid|t|The event's identity.", "occurred_at|timestamp with time zone|t|When it happened.",
                "received_at|timestamp with time zone|t|When Sluice received it.",
                "user_id|text|f|The user, if known.",
                "anonymous_id|text|f|The device or browser, if known.",
                "session_id|text|f|The session, if known.",
                "context|jsonb|f|Where and how it happened.", "invoice_no|text|t|It's the \"invoice\"",
                "quantity|bigint|t|",
                "unit_price|double precision|f|", "total|numeric|f|", "is_gift|boolean|t|",
                "paid_at|timestamp with time zone|t|",
                "day|date|t|", "cart_id|uuid|t|", "lines|jsonb|t|", "address|jsonb|t|", "whatever|jsonb|t|",
                "extra|jsonb|f|Properties that the plan does not name.",
            ]
        )
        let described = try await database.run(
            "SELECT obj_description('analytics.item_purchased'::regclass), 'item_purchased_pkey'::name FROM pg_index "
                + "WHERE indrelid = 'analytics.item_purchased'::regclass AND indisprimary"
        )
        #expect(described == ["Somebody bought something; isn't that 'nice'?|item_purchased_pkey"])
    }

    @Test("a second migration does nothing")
    func twice() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let events = [
            event("Bought", [property("number", .integer, description: "n")], description: "d"), event("Seen"),
        ]
        #expect(try await !migrate(database, events).isEmpty)
        #expect(try await migrate(database, events).isEmpty)
    }

    @Test("an extended plan adds nullable columns and new comments to the tables, and no row is lost")
    func grown() async throws {
        let fixture = try await PostgresFixture([
            event("Bought", [property("number", .integer), property("gone", .string)])
        ])
        _ = await fixture.tracker.deliver(
            try fixture.delivery([#"{"id":"\#(id(1))","name":"Bought","payload":{"number":1,"gone":"x"}}"#])
        )
        let grown = event(
            "Bought",
            [property("number", .integer, required: false), property("when", .timestamp)],
            description: "new",
            extra: true
        )
        let report = try await migrate(fixture.database, [grown])
        #expect(report.extendedTables == ["bought"])
        #expect(report.createdTables == [] && report.migrations == [])
        #expect(
            try await columns("analytics.bought", in: fixture.database).suffix(4) == [
                "number|bigint|f|", "gone|text|f|", "when|timestamp with time zone|f|",
                "extra|jsonb|f|Properties that the plan does not name.",
            ]
        )
        #expect(try await migrate(fixture.database, [grown]).isEmpty)
        let later = try await PostgresFixture([grown], in: fixture.database)
        let outcome = await later.tracker.deliver(
            try later.delivery([
                #"{"id":"\#(id(2))","name":"Bought","payload":{"when":"2024-01-01T00:00:00Z","more":1}}"#
            ])
        )
        #expect(outcome.refusals == [] && outcome.retry == nil)
        #expect(try await later.rows("number, gone, extra", of: "analytics.bought") == ["1|x|", #"||{"more": 1}"#])
    }

    @Test("a changed type is an error that names both types, and nothing is changed")
    func typeChange() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        _ = try await migrate(database, [event("Bought", [property("number", .integer)])])
        let changed = [event("Seen"), event("Bought", [property("number", .string), property("more", .date)])]
        let error = try await migrationError(database, changed)
        #expect(
            error?.message.contains(#""analytics"."bought"."number" has type bigint, and the plan wants text"#) == true
        )
        #expect(error?.isRetryable == false)
        #expect(try await database.run("SELECT to_regclass('analytics.seen') IS NULL") == ["t"])
        #expect(try await columns("analytics.bought", in: database).count == 8)
    }

    @Test("a migration that was edited, renamed, removed or inserted out of order is an error that names it")
    func history() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let first = Migration.builtIn.filter { $0.number == 1 }
        let third = try migration("0003_views.sql", "CREATE VIEW three AS SELECT 3 AS three")
        #expect(try await migrate(database, [], first + [third]).migrations == ["0001_schema.sql", "0003_views.sql"])
        #expect(try await database.run("SELECT three FROM analytics.three") == ["3"])

        let edited = try migration("0003_views.sql", "CREATE VIEW three AS SELECT 4 AS three")
        #expect(
            try await migrationError(database, [], first + [edited])?.message.contains("0003_views.sql was edited")
                == true
        )
        let renamed = try migration("0003_view.sql", third.sql)
        #expect(try await migrationError(database, [], first + [renamed])?.message.contains("0003_views.sql") == true)
        #expect(try await migrationError(database, [], first)?.message.contains("0003_views.sql") == true)
        let late = try migration("0002_late.sql", "SELECT 1")
        let error = try await migrationError(database, [], first + [late, third])
        #expect(error?.message.contains("0002_late.sql comes before one that has been applied") == true)
    }

    @Test("a migration that fails is rolled back, and the earlier ones stay applied")
    func failing() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let first = Migration.builtIn.filter { $0.number == 1 }
        let second = try migration("0002_broken.sql", "CREATE TABLE half (a int); SELECT nonsense FROM half;")
        let error = try await migrationError(database, [event("Bought")], first + [second])
        #expect(error?.message.contains("0002_broken.sql failed") == true)
        #expect(error?.message.contains("42703") == true)
        #expect(try await database.run("SELECT to_regclass('analytics.half') IS NULL") == ["t"])
        #expect(try await database.run("SELECT name FROM analytics._sluice_migrations") == ["0001_schema.sql"])

        for sql in ["COMMIT", "COPY _sluice_migrations FROM STDIN", "VACUUM"] {
            let odd = try migration("0002_odd.sql", sql)
            #expect(try await migrationError(database, [], first + [odd]) != nil)
        }
        #expect(try await database.run("SELECT count(*) FROM analytics._sluice_migrations") == ["1"])
    }

    @Test("concurrent migrations run one after the other, and only the first has anything to do")
    func atOnce() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let events = (0..<20).map { event("Event \($0)", [property("a", .string)]) }
        // One of the four stops in the middle of its work until this lock is released, and the others wait for it.
        let session = try database.server.openSession(database.name)
        try session.run("SELECT pg_advisory_lock(1);")
        let sql = "SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(1)"
        let held = Migration.builtIn + [try migration("0101_held.sql", sql)]
        let reports = try await withThrowingTaskGroup(of: MigrationReport.self) { group in
            for _ in 0..<4 { group.addTask { try await migrate(database, events, held) } }
            try await database.waitForSessions(4, waitingFor: "advisory")
            #expect(try await database.run("SELECT to_regclass('analytics.event_0') IS NULL") == ["t"])
            try session.close()
            return try await group.reduce(into: [MigrationReport]()) { $0.append($1) }
        }
        #expect(reports.filter { !$0.isEmpty }.count == 1)
        #expect(reports.reduce(0) { $0 + $1.createdTables.count } == 20)
    }

    @Test("each schema has its own tables and its own migration history")
    func otherSchema() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let events = [event("Bought")]
        for schema in ["analytics", #"Odd "schema" x"#] {
            let report = try await migrate(database, events, schema: schema)
            #expect(report.migrations == Migration.builtIn.map(\.name))
            #expect(report.createdTables == ["bought"])
        }
        #expect(try await database.run(#"SELECT count(*) FROM "Odd ""schema"" x".bought"#) == ["0"])
    }

    @Test("a migration file's name begins with a number, which no other file may have")
    func names() {
        #expect(Migration(name: "0001_schema.sql", sql: "")?.number == 1)
        for name in [
            "schema.sql", "1_a.sql", "0000_a.sql", "0001_.sql", "0001_a.txt", "0001.sql", "00001_a.sql", "000x_a.sql",
        ] {
            #expect(Migration(name: name, sql: "") == nil)
        }
        #expect(throws: TrackerError.self) { try Migration.read(folder: "/nonexistent") }
    }

    @Test("the built-in migrations are the files in migrations/, byte for byte as they were applied to databases")
    func builtIn() async throws {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let folder = try Migration.read(folder: "/\(root)/migrations")
        #expect(Migration.builtIn == folder)
        // The digests recorded in existing databases. Add new migrations here, and never change one that is listed.
        #expect(
            Migration.builtIn.map(\.sha256) == [
                "de41e4f315e9b171e1be3d8b3014a5b35ddcd962972ea008bef70f5e9a04a224",
                "00546214725081a1481c32c1c8a0691a5925fe0ffe8cefff6cfc10c2c19142f4",
                "a322c9100599649d8073d308f9d252c911849ed1daa226a2cf0c59bd84f37f8d",
                "3f9059c5833ec1ec21857e8773d2ba147babec9240b33286f29682cfbc5525e1",
                "c178cd0fa89d8fad7601c2c702ef9be9ddbcdd1f69bf9495626ea089e305b8ce",
                "aca698a3afb905e7c7ce4182cb23f646b45af14d1561f700e2174f6b4dbe474a",
                "2a0477d385d174faae1179bc936b606b8de4c8b7d3d09c708e816a31e53e9c58",
            ]
        )
        let database = try await PrivatePostgres.shared().makeDatabase()
        #expect(try await migrate(database, [event("Seen")], folder).migrations == folder.map(\.name))
        #expect(try await migrate(database, [event("Seen")]).isEmpty)
    }

    @Test("a migration's digest is the SHA-256 of its text")
    func digest() {
        #expect(
            Migration(name: "0001_a.sql", sql: "abc")?.sha256
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
    }

    @Test("a property that collides with a column is a conflict in new and existing tables, and the start names it")
    func collidingColumns() {
        let wanted = [EventTable(event("Bought", [property("userId", .string)]), schema: "s")]
        let columns = EventTable.ownColumns.map { column in
            PresentTable.Column(
                name: column.name,
                type: column.type.sql,
                isNullable: column.isNullable,
                hasDefault: false,
                isUnique: column.name == "id",
                comment: column.comment
            )
        }
        let table = PresentTable(name: "bought", columns: columns)
        for tables in [[:], ["bought": table]] {
            let present = PresentSchema(name: "s", exists: true, tables: tables)
            let conflicts = SchemaChanges(from: present, to: wanted).conflicts
            #expect(
                conflicts == [
                    #"More than one thing becomes the column "s"."bought"."user_id"; give a property another name."#
                ]
            )
        }
        let gap = SchemaGap(in: PresentSchema(name: "s", exists: true, tables: ["bought": table]), for: wanted)
        #expect(
            gap?.message
                == #"More than one thing becomes the column "s"."bought"."user_id"; give a property another name."#
        )
    }

    @Test("the DDL is a pure function of the existing and the wanted tables")
    func pure() {
        let wanted = [EventTable(event("Bought", [property("number", .integer)]), schema: "s")]
        let fresh = SchemaChanges(from: PresentSchema(name: "s", exists: false), to: wanted)
        #expect(fresh.tables.map(\.isNew) == [true])
        #expect(fresh.tables.first?.statements.first?.contains(#"CREATE TABLE "s"."bought""#) == true)
        #expect(fresh.conflicts == [])
        let empty = PresentTable(name: "bought", columns: [])
        let odd = SchemaChanges(from: PresentSchema(name: "s", exists: true, tables: ["bought": empty]), to: wanted)
        #expect(odd.conflicts.count == 1)
    }
}
