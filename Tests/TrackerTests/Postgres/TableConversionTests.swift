import EventModel
import EventSchema
import EventValidation
import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: partitioning existing tables", .timeLimit(.minutes(10)))
struct TableConversionTests {
    private static let plan = ["Bought", "Seen"].map { event($0, [property("number", .integer, description: "n")]) }

    /// Events of the last 200 days, of both names in turn.
    private static func lines(_ numbers: Range<Int>) -> [String] {
        numbers.map { number in
            let time = Timestamp(microseconds: Timestamp.now().microseconds - Int64(number % 200) * 86_400_000_000)
            let name = number.isMultiple(of: 2) ? "Bought" : "Seen"
            return #"{"id":"\#(id(number))","name":"\#(name)","time":"\#(time)","payload":{"number":\#(number)}}"#
        }
    }

    private func partition(
        _ fixture: PostgresFixture,
        _ tables: [String]? = nil,
        leaving: Set<String> = []
    ) async throws -> MaintenanceReport {
        try await PostgresMaintainer(PostgresConfiguration(connection: fixture.database.url)).partition(
            fixture.catalog.plan,
            tables: tables,
            leaving: leaving
        )
    }

    /// Partitions the tables and returns the error; it fails the test if there is none.
    private func refusal(_ fixture: PostgresFixture, leaving: Set<String> = []) async -> String {
        do throws(TrackerError) {
            _ = try await PostgresMaintainer(PostgresConfiguration(connection: fixture.database.url)).partition(
                fixture.catalog.plan,
                tables: nil,
                leaving: leaving
            )
            Issue.record("the tables were partitioned")
            return ""
        } catch {
            return error.message
        }
    }

    private func expectPartitioned(_ fixture: PostgresFixture) async throws {
        #expect(
            try await fixture.database.run(
                """
                SELECT c.relname, pg_get_partkeydef(c.oid), pg_get_constraintdef(k.oid) FROM pg_class c
                JOIN pg_constraint k ON k.conrelid = c.oid WHERE c.relnamespace = 'analytics'::regnamespace AND relkind = 'p'
                    AND NOT starts_with(c.relname, '_sluice') ORDER BY 1
                """
            ) == ["bought", "seen"].map { "\($0)|RANGE (occurred_at)|PRIMARY KEY (occurred_at, id)" }
        )
        #expect(try await fixture.count("pg_constraint WHERE conname LIKE 'sluice%' OR NOT convalidated") == 0)
        #expect(try await fixture.count("pg_index WHERE NOT indisvalid") == 0)
        let outline = PipelineOutline(catalog: fixture.catalog, hasJournal: false)
        #expect(await fixture.tracker.problems(in: outline).map(\.message) == [])
    }

    @Test("a table keeps its rows, grants, views, indexes and comments, and gets partitions for the months to come")
    func kept() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        #expect(await fixture.tracker.deliver(try fixture.delivery(Self.lines(0..<400))).isDelivered)
        let (reader, loader) = ("reader_\(fixture.database.name)", "loader_\(fixture.database.name)")
        try await fixture.database.run(
            """
            CREATE ROLE \(reader) LOGIN; CREATE ROLE \(loader) LOGIN;
            GRANT USAGE ON SCHEMA analytics TO \(reader), \(loader);
            GRANT SELECT ON analytics.bought TO \(reader); GRANT INSERT, SELECT (id) ON analytics.bought TO \(loader);
            ALTER DEFAULT PRIVILEGES IN SCHEMA analytics GRANT DELETE ON TABLES TO \(loader);
            CREATE VIEW v WITH (security_barrier = true) AS SELECT id, number FROM analytics.bought;
            CREATE VIEW w AS SELECT count(*) FROM v;
            GRANT SELECT ON w TO \(reader);
            CREATE INDEX numbers ON analytics.bought (number) WHERE number > 5;
            COMMENT ON TABLE analytics.bought IS 'ours'
            """
        )
        let report = try await partition(fixture)
        #expect(report.problems.isEmpty)
        #expect(report.changes.contains { $0.hasPrefix("partitioned bought") })
        try await expectPartitioned(fixture)
        #expect(try await fixture.count("analytics.bought") == 200)
        #expect(
            try await fixture.database.run(
                """
                SELECT obj_description('analytics.bought'::regclass), col_description('analytics.bought'::regclass, 1),
                    (SELECT reloptions FROM pg_class WHERE relname = 'v'),
                    (SELECT indexdef LIKE '%WHERE (number > 5)' FROM pg_indexes WHERE tablename = 'bought' AND indexname = 'numbers'),
                    has_table_privilege('\(reader)', 'analytics.bought', 'SELECT'),
                    has_table_privilege('\(loader)', 'analytics.bought', 'INSERT'),
                    has_table_privilege('\(loader)', 'analytics.bought', 'DELETE'),
                    has_column_privilege('\(loader)', 'analytics.bought', 'occurred_at', 'SELECT'),
                    has_column_privilege('\(loader)', 'analytics.bought', 'number', 'SELECT')
                """
            ) == ["ours|The event's identity.|{security_barrier=true}|t|t|t|f|t|f"]
        )
        // Rows of the past and of a month to come are in the view; an event that is sent again is a duplicate.
        let future = Timestamp(microseconds: Timestamp.now().microseconds + 85 * 86_400_000_000)
        let line = #"{"id":"\#(id(1000))","name":"Bought","time":"\#(future)","payload":{"number":1}}"#
        #expect(await fixture.tracker.deliver(try fixture.delivery(Self.lines(1..<2) + [line])).isDelivered)
        #expect(try await fixture.database.run("SET ROLE \(reader); SELECT * FROM w") == ["201"])
        #expect(
            try await fixture.database.run(
                "SELECT count(*) FROM analytics_partitions.bought_\("\(future)".prefix(7).replacing("-", with: "_"))"
            )
                == ["1"]
        )
        let again = try await partition(fixture)
        #expect(again.changes == ["analyzed bought", "analyzed seen"])
        try await fixture.database.run("DROP OWNED BY \(reader), \(loader); DROP ROLE \(reader), \(loader)")
    }

    @Test(
        "what would follow the old rows alone is named, and refused unless it is left",
        arguments: [
            (
                "CREATE TRIGGER audit BEFORE INSERT ON analytics.bought FOR EACH ROW EXECUTE FUNCTION f()", "trigger",
                "audit"
            ),
            ("CREATE PUBLICATION changes FOR TABLE analytics.bought", "publication", "changes"),
            ("CREATE MATERIALIZED VIEW daily AS SELECT number FROM analytics.bought", "materialized view", "daily"),
            ("CREATE UNIQUE INDEX once ON analytics.bought (number)", "unique index", "once"),
            ("CREATE POLICY mine ON analytics.bought", "policy", "mine"),
            (
                """
                CREATE TABLE other (n bigint PRIMARY KEY); INSERT INTO other SELECT generate_series(0, 400);
                ALTER TABLE analytics.bought ADD CONSTRAINT known FOREIGN KEY (number) REFERENCES other
                """, "foreign key", "known"
            ),
            (
                "CREATE FUNCTION g() RETURNS SETOF analytics.bought LANGUAGE sql RETURN (SELECT b FROM analytics.bought b LIMIT 1)",
                "object", "function g()"
            ),
        ]
    )
    func dependents(_ statement: String, kind: String, name: String) async throws {
        let fixture = try await PostgresFixture(Self.plan)
        #expect(await fixture.tracker.deliver(try fixture.delivery(Self.lines(0..<400))).isDelivered)
        try await fixture.database.run(
            "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; \(statement)"
        )
        let message = await refusal(fixture)
        #expect(message.contains(#"The table "analytics"."bought""#))
        #expect(message.contains("the \(kind) \(name)") && message.contains("--leave '\(name)'"), "\(message)")
        #expect(
            try await fixture.database.run("SELECT relkind FROM pg_class WHERE oid = 'analytics.bought'::regclass") == [
                "r"
            ]
        )
        _ = try await partition(fixture, leaving: [name])
        #expect(try await fixture.count("analytics.bought") == 200)
    }

    @Test("rows in the far future stop it before anything is locked, and are counted")
    func farFuture() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        try await fixture.database.run(
            "INSERT INTO analytics.bought VALUES (gen_random_uuid(), '2100-05-06 07:08:09Z', now(), NULL, NULL, NULL, NULL, 1)"
        )
        let message = await refusal(fixture)
        #expect(message.contains("2100-05-06 07:08:09: 1;"), "\(message)")
        try await fixture.database.run("DELETE FROM analytics.bought")
        _ = try await partition(fixture)
        try await expectPartitioned(fixture)
    }

    @Test("a constraint that an interrupted run left long ago is made anew, and sluice check names it")
    func oldBound() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        try await fixture.database.run(
            "ALTER TABLE analytics.bought ADD CONSTRAINT sluice_before_2020_01 CHECK (occurred_at < '2020-01-01Z') NOT VALID"
        )
        let outline = PipelineOutline(catalog: fixture.catalog, hasJournal: false)
        let problems = await fixture.tracker.problems(in: outline).map(\.message)
        #expect(problems.contains { $0.contains("`sluice migrate --partition bought` was interrupted") })
        #expect(await fixture.tracker.deliver(try fixture.delivery(Self.lines(0..<1))).isDelivered == false)
        _ = try await partition(fixture)
        try await expectPartitioned(fixture)
        #expect(await fixture.tracker.deliver(try fixture.delivery(Self.lines(0..<1))).isDelivered)
    }

    @Test(
        "killed before and after each statement, while events are loaded and queried, it loses and doubles nothing",
        .promise("interrupted-conversion")
    )
    func killed() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        #expect(await fixture.tracker.deliver(try fixture.delivery(Self.lines(0..<400))).isDelivered)
        try await fixture.database.run("CREATE VIEW public.v AS SELECT id, number FROM analytics.bought")
        let killer = try await StatementKiller(in: fixture.database)
        let joined = "SELECT count(*) FROM v JOIN analytics.bought USING (id)"
        let queries = ["SELECT count(*) FROM v", joined, "SELECT count(*) FROM analytics.seen"]
        let traffic = TableTraffic(fixture: fixture, events: Self.lines, queries: queries)
        let loaded = try await traffic.during {
            try await killer.untilComplete {
                do {
                    _ = try await partition(fixture)
                    return nil
                } catch {
                    return "\(error)"
                }
            }
        }
        let kills = try await killer.kills
        #expect(
            Set(kills.keys).isSuperset(of: [
                "CREATE INDEX", "ALTER TABLE", "CREATE TABLE", "CREATE VIEW", "CREATE SCHEMA",
            ])
        )
        #expect(kills["ALTER TABLE"] ?? 0 > 20)
        #expect(loaded > 0)
        let rows = "(SELECT id FROM analytics.bought UNION ALL SELECT id FROM analytics.seen) t"
        #expect(try await fixture.count(rows) == 400 + loaded)
        try await expectPartitioned(fixture)
    }
}
