import EventModel
import EventSchema
import EventValidation
import ServerTestSupport
import SluiceExec
import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: maintenance of partitioned tables", .timeLimit(.minutes(5)))
struct MaintenanceTests {
    private static let plan = ["Bought", "Seen"].map {
        event($0, [property("number", .integer, required: false, description: "n")])
    }

    private static func now(plusDays days: Int64) -> Timestamp {
        Timestamp(microseconds: Timestamp.now().microseconds + days * 86_400_000_000)
    }

    private func maintain(
        _ fixture: PostgresFixture,
        since: CalendarDate? = nil,
        retentionMonths: Int? = nil,
        plusDays days: Int64 = 0
    ) async throws -> MaintenanceReport {
        var configuration = PostgresConfiguration(connection: fixture.database.url)
        configuration.retentionMonths = retentionMonths
        return try await PostgresMaintainer(configuration).maintain(
            fixture.catalog.plan,
            since: since,
            now: Self.now(plusDays: days),
            programs: ExecProgramRunner(logger: ProgramFolder.silent)
        )
    }

    private func partitions(of table: String, _ fixture: PostgresFixture) async throws -> [String] {
        try await fixture.database.run(
            """
            SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = 'analytics.\(table)'::regclass AND NOT i.inhdetachpending ORDER BY 1
            """
        )
    }

    private func problems(_ fixture: PostgresFixture) async -> [String] {
        await fixture.tracker.problems(in: PipelineOutline(catalog: fixture.catalog, hasJournal: false)).map(\.message)
    }

    @Test(
        "the months or days to come are made like those of a new table, and a second run makes none",
        arguments: [
            TablePartitioning.month, .day,
        ]
    )
    func ahead(_ partitioning: TablePartitioning) async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: partitioning)
        let newest = try #require(TimePartition.ofNewTable(by: partitioning).last)
        let last = newest.name(of: "bought")
        let before = Set(try await partitions(of: "bought", fixture))
        let report = try await maintain(fixture, plusDays: 40)
        #expect(report.problems.map(\.message) == [])
        let added = Set(try await partitions(of: "bought", fixture)).subtracting(before)
        let start = try #require(Timestamp("\(newest.end)T00:00:00Z"))
        let later = TimePartition.covering(start...Self.now(plusDays: 40 + 92), by: partitioning)
        #expect(!added.isEmpty && added == Set(later.map { $0.name(of: "bought") }))
        #expect(report.changes.filter { $0.hasPrefix("made bought") } == added.sorted().map { "made \($0)" })

        // One that was made is like one that the table was created with.
        let shape = { (name: String) in
            try await fixture.database.run(
                """
                SELECT a.attname, a.atttypid::regtype, a.attnotnull
                FROM pg_attribute a WHERE a.attrelid = 'analytics_partitions.\(name)'::regclass AND attnum > 0 ORDER BY attnum;
                SELECT i.indisprimary, i.indkey, i.indisvalid, EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = i.indexrelid)
                FROM pg_index i WHERE i.indrelid = 'analytics_partitions.\(name)'::regclass ORDER BY 1
                """
            )
        }
        #expect(try await shape(try #require(added.sorted().first)) == shape(last))

        let again = try await maintain(fixture, plusDays: 40)
        #expect(again.changes == ["analyzed bought", "analyzed seen"])
        #expect(again.problems.isEmpty)
    }

    @Test("a partition is made while a load is open, which does not wait either")
    func openLoad() async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: .month)
        let load = try fixture.database.server.openSession(fixture.database.name)
        let row = "INSERT INTO analytics.bought (id, occurred_at, received_at) VALUES (gen_random_uuid(), now(), now())"
        try load.run("BEGIN; \(row); SELECT 1;")
        let report = try await maintain(fixture, plusDays: 40)
        #expect(report.problems.isEmpty && report.changes.contains { $0.hasPrefix("made bought") })
        try load.run("\(row); COMMIT; SELECT 1;")
        try load.close()
        #expect(try await fixture.count("analytics.bought") == 2)
    }

    @Test(
        "a month that was dropped, and part of another, are named by sluice check and made again",
        .promise("altered-partitions")
    )
    func gaps() async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: .month)
        let months = TimePartition.ofNewTable(by: .month)
        let (dropped, halved) = (months[3], months[5])
        try await fixture.database.run(
            """
            DROP TABLE analytics_partitions.\(dropped.name(of: "bought")), analytics_partitions.\(halved.name(of: "bought"));
            CREATE TABLE analytics_partitions.\(halved.name(of: "bought")) PARTITION OF analytics.bought
            FOR VALUES FROM ('\(halved.first)T00:00:00Z') TO ('\(halved.first)T12:00:00Z')
            """
        )
        let found = await problems(fixture)
        #expect(found.count == 1)
        #expect(
            found.first?.contains("no partition for events from \(dropped.first)T00:00:00Z to \(dropped.end)T") == true
        )
        let remedy = "`sluice maintain --since \("\(dropped.first)".prefix(7))`"
        #expect(found.first?.contains(remedy) == true)
        let report = try await maintain(fixture)
        #expect(
            report.changes.filter { $0.hasPrefix("made") } == [
                "made \(dropped.name(of: "bought"))", "made \(halved.name(of: "bought", number: 2))",
            ]
        )
        #expect(await problems(fixture) == [])
    }

    @Test("--since makes the months that a replay of old events needs")
    func since() async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: .month)
        let past = try #require(Timestamp("2023-12-15T00:00:00Z"))
        let line = #"{"id":"\#(id(1))","name":"Bought","time":"\#(past)","payload":{}}"#
        _ = await fixture.tracker.deliver(try fixture.delivery([line]))
        #expect(try await fixture.count("analytics.bought") == 0)
        _ = try await maintain(fixture, since: CalendarDate("2023-12-01"))
        // The partitions are read at most once a second.
        while await !fixture.tracker.deliver(try fixture.delivery([line])).isDelivered {
            try await waitBriefly()
        }
        #expect(try await fixture.count("analytics.bought") == 1)
    }

    @Test("a month that has ended is frozen once, unless it is empty, and the comment of an administrator stays")
    func frozen() async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: .month)
        let month = TimePartition.ofNewTable(by: .month)[3]
        let time = Timestamp(microseconds: month.microseconds.lowerBound)
        let line = #"{"id":"\#(id(1))","name":"Bought","time":"\#(time)","payload":{}}"#
        #expect(await fixture.tracker.deliver(try fixture.delivery([line])).isDelivered)
        let old = month.name(of: "bought")
        try await fixture.database.run("COMMENT ON TABLE analytics_partitions.\(old) IS 'ours'")
        let report = try await maintain(fixture)
        #expect(report.changes.filter { $0.hasPrefix("froze") } == ["froze \(old)"])
        let comment = "SELECT obj_description('analytics_partitions.\(old)'::regclass)"
        #expect(try await fixture.database.run(comment) == ["ours Frozen by sluice maintain."])
        #expect(try await !maintain(fixture).changes.contains { $0.hasPrefix("froze") })
        #expect(
            try await fixture.database.run(
                "SELECT last_analyze IS NOT NULL FROM pg_stat_user_tables WHERE relid = 'analytics.bought'::regclass"
            ) == ["t"]
        )
    }

    private static var today: Int32 { Int32(Timestamp.now().microseconds / 86_400_000_000) }

    @Test(
        "an interrupted detaching is completed, and the detached table is not replaced by an empty one",
        .promise("interrupted-maintenance")
    )
    func interruptedDetaching() async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: .month)
        let name = TimePartition.ofNewTable(by: .month)[3].name(of: "bought")
        try await interruptDetaching(of: name, fixture)
        #expect(await problems(fixture).contains { $0.contains("was interrupted") && $0.contains("`sluice maintain`") })
        let report = try await maintain(fixture)
        #expect(report.changes.contains("completed the detaching of \(name)"))
        #expect(
            report.problems.map(\.message).contains {
                $0.contains("ATTACH PARTITION \"analytics_partitions\".\"\(name)\"")
            }
        )
        #expect(try await fixture.database.run("SELECT count(*) FROM pg_inherits WHERE inhdetachpending") == ["0"])
    }

    /// Leaves what a `DETACH CONCURRENTLY` leaves that waits for a query in vain.
    private func interruptDetaching(of name: String, _ fixture: PostgresFixture) async throws {
        let (server, database) = (fixture.database.server, fixture.database.name)
        let reader = try server.openSession(database)
        try reader.run("BEGIN; SELECT count(*) FROM analytics.bought;")
        let detaching =
            "SET lock_timeout = '1s';\nALTER TABLE analytics.bought DETACH PARTITION analytics_partitions.\(name) CONCURRENTLY;"
        _ = try? await server.psql(database, detaching, stopsAtErrors: false)
        try reader.close()
        #expect(try await fixture.count("pg_inherits WHERE inhdetachpending") == 1)
    }

    @Test(
        "a default partition, and a column and a check of a partition, are named with the remedy, which works",
        .promise("altered-partitions")
    )
    func alterations() async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: .month)
        let name = TimePartition.ofNewTable(by: .month)[3].name(of: "bought")
        try await fixture.database.run(
            """
            ALTER TABLE analytics_partitions.\(name) ALTER COLUMN number SET NOT NULL, ADD CONSTRAINT few CHECK (number < 9),
                ADD CONSTRAINT late CHECK (occurred_at > '2000-01-01');
            CREATE TABLE analytics_partitions.rest PARTITION OF analytics.seen DEFAULT
            """
        )
        let found = await problems(fixture)
        #expect(found.count == 3)
        #expect(try await maintain(fixture).problems.map(\.message).sorted() == found.sorted())
        for problem in found {
            let statement = try #require(problem.firstMatch(of: /run: (ALTER TABLE [^;]*;)/)?.1)
            try await fixture.database.run(String(statement))
        }
        #expect(await problems(fixture) == [])
    }

    @Test("the tables of pg_partman are left to it")
    func partman() async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: .month)
        try await fixture.database.run(
            """
            CREATE SCHEMA partman; CREATE TABLE partman.part_config (parent_table text PRIMARY KEY);
            INSERT INTO partman.part_config VALUES ('analytics.bought')
            """
        )
        let report = try await maintain(fixture, plusDays: 40)
        #expect(report.changes.contains("left bought to pg_partman"))
        #expect(!report.changes.contains { $0.hasPrefix("made bought") })
        #expect(report.changes.contains { $0.hasPrefix("made seen") })
    }

    @Test(
        "expired months are removed, also after a run that was interrupted at any step",
        .promise("interrupted-maintenance")
    )
    func retention() async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: .month)
        let months = TimePartition.ofNewTable(by: .month)
        let names = months.map { $0.name(of: "bought") }
        // What a run leaves that is interrupted after its first step, in its second one, and after that.
        let mark = #"IS 'ours Expired partition of "analytics"."bought"; sluice maintain drops it.'"#
        try await fixture.database.run(
            """
            COMMENT ON TABLE analytics_partitions.\(names[1]) \(mark);
            COMMENT ON TABLE analytics_partitions.\(names[2]) \(mark);
            COMMENT ON TABLE analytics_partitions.\(names[3]) \(mark);
            ALTER TABLE analytics.bought DETACH PARTITION analytics_partitions.\(names[2])
            """
        )
        try await interruptDetaching(of: names[3], fixture)
        let current = try #require(months.firstIndex { $0.end.daysSince1970 > Self.today })
        _ = try await maintain(fixture, retentionMonths: 6)
        #expect(try await partitions(of: "bought", fixture) == Array(names[(current - 6)...]))
        #expect(
            try await fixture.database.run(
                "SELECT count(*) FROM pg_class WHERE relnamespace = 'analytics_partitions'::regnamespace AND relkind = 'r'"
            ) == ["\(2 * (names.count - current + 6))"]
        )
        let again = try await maintain(fixture, retentionMonths: 6)
        #expect(again.changes == ["analyzed bought", "analyzed seen"])
        // Not what the retention would remove.
        let refused = try await maintain(fixture, since: months[0].first, retentionMonths: 6)
        #expect(refused.problems.count == 2)
        #expect(refused.problems.allSatisfy { $0.message.contains("postgres.retentionMonths") })
    }

    @Test(
        "killed before and after each statement, and while it detaches, under loads and queries, it loses and doubles nothing",
        .promise("interrupted-maintenance")
    )
    func killed() async throws {
        let scene = try await ArchiveScene()
        let (fixture, database) = (scene.fixture, scene.fixture.database)
        let recent = "analytics.bought WHERE occurred_at > now() - interval '300 days'"
        let queries = [recent, "analytics.bought"].map { "SELECT count(*) FROM \($0)" }
        let killer = try await StatementKiller(in: database)
        let loaded = try await TableTraffic(fixture: fixture, events: Self.lines, queries: queries).during {
            // The DETACH waits for this transaction when the test terminates it.
            let reader = try database.server.openSession(database.name)
            try reader.run("BEGIN; SELECT count(*) FROM analytics.bought;")
            try await withThrowingTaskGroup { group in
                group.addTask { try await Self.terminateDetaching(in: database) }
                try await killer.untilComplete {
                    let failure = await failure(of: scene)
                    return try await fixture.count("pg_inherits WHERE inhdetachpending") == 1 ? nil : failure
                }
                group.cancelAll()
            }
            try reader.close()
            try await killer.untilComplete { await failure(of: scene) }
        }
        let kills = try await killer.kills
        #expect(Set(kills.keys).isSuperset(of: ["CREATE TABLE", "ALTER TABLE", "COMMENT", "DROP TABLE"]))
        #expect(loaded > 0)
        #expect(try await fixture.count("analytics.bought") == loaded)
        #expect(try await scene.isDropped())
        #expect(try await scene.rowsOfArchive() == "\(ArchiveScene.rows)")
        let added = TimePartition.covering(Self.now(plusDays: 40)...Self.now(plusDays: 132), by: .month)
        let names = Set(try await partitions(of: "bought", fixture))
        #expect(names.isSuperset(of: added.map { $0.name(of: "bought") }))
        #expect(try await maintain(scene).changes == ["analyzed bought"])
    }

    /// Terminates the session of Sluice that waits until it can detach a partition.
    private static func terminateDetaching(in database: TestDatabase) async throws {
        let waiting = "query LIKE '%DETACH PARTITION%' AND wait_event = 'virtualxid' AND application_name = 'sluice'"
        let terminating = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE \(waiting)"
        while try await database.run(terminating) == ["0"] { try await waitBriefly() }
    }

    /// Creates the partitions of coming months, and archives those that have expired.
    private func maintain(_ scene: ArchiveScene) async throws -> MaintenanceReport {
        try await scene.maintain(ArchiveScene.reference, now: Self.now(plusDays: 40))
    }

    /// Does the same, and returns what it could not do.
    private func failure(of scene: ArchiveScene) async -> String? {
        do {
            return try await maintain(scene).problems.first?.message
        } catch {
            return "\(error)"
        }
    }

    /// Events `Bought` of the last 200 days.
    private static func lines(_ numbers: Range<Int>) -> [String] {
        numbers.map { number in
            let time = now(plusDays: -Int64(number % 200))
            return #"{"id":"\#(id(number))","name":"Bought","time":"\#(time)","payload":{"number":\#(number)}}"#
        }
    }
}
