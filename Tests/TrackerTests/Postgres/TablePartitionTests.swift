import EventModel
import EventSchema
import EventValidation
import ServerTestSupport
import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: tables that are partitioned by time", .timeLimit(.minutes(5)))
struct TablePartitionTests {
    private static let plan = ["Bought", "Seen"].map { event($0, [property("number", .integer)]) }

    /// An event of a time; the number makes its id.
    private static func line(_ number: Int, _ time: Timestamp, name: String = "Bought") -> String {
        #"{"id":"\#(id(number))","name":"\#(name)","time":"\#(time)","payload":{"number":\#(number)}}"#
    }

    private static func now(plusDays days: Int64) -> Timestamp {
        Timestamp(microseconds: Timestamp.now().microseconds + days * 86_400_000_000)
    }

    /// The time that no new table has a partition for.
    private static let past = Timestamp(microseconds: 1_291_161_600_000_000)

    @Test(
        "a new table has partitions for 400 days back and three months ahead, in a schema of their own",
        arguments: [
            TablePartitioning.month, .day,
        ]
    )
    func created(_ partitioning: TablePartitioning) async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: partitioning)
        let expected = TimePartition.ofNewTable(by: partitioning)
        #expect(
            try await fixture.database.run(
                """
                SELECT relname FROM pg_class
                WHERE relkind = 'r' AND relnamespace = 'analytics_partitions'::regnamespace
                    AND relname LIKE 'bought%' ORDER BY 1
                """
            ) == expected.map { $0.name(of: "bought") }
        )
        #expect(
            try await fixture.database.run(
                """
                SELECT pg_get_partkeydef(c.oid), pg_get_constraintdef(k.oid) FROM pg_class c
                JOIN pg_constraint k ON k.conrelid = c.oid WHERE c.relname = 'seen'
                """
            ) == ["RANGE (occurred_at)|PRIMARY KEY (occurred_at, id)"]
        )
        #expect(
            try await fixture.database.run(
                "SELECT count(*) FROM pg_indexes WHERE tablename = 'seen' AND indexdef LIKE '%(user_id, occurred_at)'"
            ) == ["1"]
        )
        let configuration = PostgresConfiguration(connection: fixture.database.url, partitions: partitioning)
        let again = try await PostgresMigrator(configuration).migrate(fixture.catalog.plan, applying: Migration.builtIn)
        #expect(again.isEmpty)
        #expect(
            await fixture.tracker.problems(in: PipelineOutline(catalog: fixture.catalog, hasJournal: false)).isEmpty
        )
    }

    @Test("an event is in the partition of its month or day in UTC, whatever the server's time zone")
    func bounds() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        try await database.run("ALTER DATABASE \(database.name) SET TimeZone = 'America/New_York'")
        let fixture = try await PostgresFixture(Self.plan, in: database, partitions: .month)
        let month = TimePartition.ofNewTable(by: .month)[3]
        let start = try #require(Timestamp("\(month.first)T00:00:00Z"))
        let end = try #require(Timestamp("\(month.end)T00:00:00Z"))
        let times = [start.microseconds - 1, start.microseconds, end.microseconds - 1, end.microseconds]
        let events = times.enumerated().map { Self.line($0, Timestamp(microseconds: $1)) }
        #expect(await fixture.tracker.deliver(try fixture.delivery(events)).isDelivered)
        let rows = try await fixture.database.run(
            """
            SELECT tableoid = 'analytics_partitions.\(month.name(of: "bought"))'::regclass FROM analytics.bought
            ORDER BY number
            """
        )
        #expect(rows == ["f", "t", "t", "f"])
    }

    @Test(
        "events of a missing month are parked at once; all others are loaded, and nothing is searched",
        .promise("broken-table")
    )
    func missingMonth() async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: .month)
        let times = [Self.past, .now(), Self.now(plusDays: -300), Self.now(plusDays: 4000), Self.now(plusDays: 60)]
        let events = (0..<1000).map { Self.line($0, times[$0 % 5], name: $0.isMultiple(of: 2) ? "Bought" : "Seen") }
        let missing = (0..<1000).filter { [0, 3].contains($0 % 5) }
        for _ in 0..<2 {
            let outcome = await fixture.tracker.deliver(try fixture.delivery(events))
            #expect(outcome.refusals == [])
            #expect(outcome.retry == nil)
            #expect(outcome.parked.flatMap(\.positions).sorted() == missing)
            #expect(Set(outcome.parked.map(\.reason.code)) == [.noPartition])
            #expect(outcome.parked.allSatisfy { $0.reason.message.contains("`sluice maintain --since 2010-12`") })
        }
        // An event that is sent again is a duplicate.
        #expect(try await fixture.count("analytics.bought") + fixture.count("analytics.seen") == 600)
        try await expectNoSearch(fixture)
        // Also if nothing else is delivered.
        let alone = await fixture.tracker.deliver(try fixture.delivery([Self.line(0, Self.past)]))
        #expect(alone.parked.map(\.positions) == [[0]])
        // A partition that is made is found without a restart.
        try await fixture.database.run(
            """
            CREATE TABLE analytics_partitions.old PARTITION OF analytics.bought
                FOR VALUES FROM ('2010-12-01Z') TO ('2011-01-01Z')
            """
        )
        while await !fixture.tracker.deliver(try fixture.delivery([Self.line(0, Self.past)])).isDelivered {
            try await waitBriefly()
        }
    }

    @Test(
        "a partition that is removed while events arrive is missing like one that never was",
        .promise("broken-table"),
        arguments: [
            "DROP TABLE analytics_partitions.NAME",
            "ALTER TABLE analytics.bought DETACH PARTITION analytics_partitions.NAME",
            // It is interrupted while it waits for a reader.
            "ALTER TABLE analytics.bought DETACH PARTITION analytics_partitions.NAME CONCURRENTLY",
        ]
    )
    func removed(_ statement: String) async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: .month)
        let month = TimePartition.ofNewTable(by: .month)[3]
        let old = try #require(Timestamp("\(month.first)T12:00:00Z"))
        #expect(
            await fixture.tracker.deliver(try fixture.delivery([Self.line(0, old), Self.line(1, .now())])).isDelivered
        )
        let removal = statement.replacing("NAME", with: month.name(of: "bought"))
        if removal.hasSuffix("CONCURRENTLY") {
            let (server, name) = (fixture.database.server, fixture.database.name)
            let reader = try server.openSession(name)
            try reader.run("BEGIN; SELECT count(*) FROM analytics.bought;")
            _ = try? await server.psql(name, "SET lock_timeout = '1s';\n\(removal);", stopsAtErrors: false)
            try reader.close()
            #expect(try await fixture.count("pg_inherits WHERE inhdetachpending") == 1)
        } else {
            try await fixture.database.run(removal)
        }
        let events =
            (10..<20).map { Self.line($0, $0.isMultiple(of: 2) ? old : .now()) } + [Self.line(30, old, name: "Seen")]
        let outcome = await fixture.tracker.deliver(try fixture.delivery(events))
        #expect(outcome.refusals == [])
        #expect(outcome.retry == nil)
        #expect(outcome.parked.map(\.positions) == [[0, 2, 4, 6, 8]])
        #expect(outcome.parked.map(\.reason.code) == [.noPartition])
        #expect(try await fixture.count("analytics.bought WHERE number >= 10") == 5)
        #expect(try await fixture.count("analytics.seen") == 1)
        try await expectNoSearch(fixture)
    }

    @Test(
        "partitions are read under any DateStyle and TimeZone, while one is locked, and with bounds out of Sluice's range"
    )
    func read() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        try await database.run(
            """
            ALTER DATABASE \(database.name) SET DateStyle = 'SQL, DMY';
            ALTER DATABASE \(database.name) SET TimeZone = 'Asia/Kolkata'
            """
        )
        let fixture = try await PostgresFixture(Self.plan, in: database, partitions: .month)
        let partitions = TimePartition.ofNewTable(by: .month)
        try await database.run(
            """
            CREATE TABLE analytics_partitions.late PARTITION OF analytics.bought
                FOR VALUES FROM ('9999-01-01Z') TO ('200000-01-01Z');
            CREATE TABLE analytics_partitions.last PARTITION OF analytics.bought
                FOR VALUES FROM ('200000-01-01Z') TO ('infinity')
            """
        )
        let session = try database.server.openSession(database.name)
        try session.run("BEGIN; LOCK TABLE analytics_partitions.\(partitions[2].name(of: "seen")); SELECT 1;")
        let first = try #require(Timestamp("\(partitions[0].first)T00:00:00Z"))
        let times = [first.microseconds, first.microseconds - 1, Timestamp(microseconds: .max).microseconds]
        let events = times.enumerated().map { Self.line($0, Timestamp(microseconds: $1)) }
        let tracker = try await fixture.startedTracker()
        let outcome = await tracker.deliver(try fixture.delivery(events))
        #expect(outcome.parked.map(\.positions) == [[1]])
        #expect(outcome.retry == nil && outcome.refusals == [])
        try session.close()
        await tracker.stop()
    }

    private func expectNoSearch(_ fixture: PostgresFixture) async throws {
        #expect(
            try await fixture.database.run("SELECT count(*) FROM pg_proc WHERE proname LIKE 'sluice_search%'") == ["0"]
        )
    }

    @Test("sluice check names a table whose partitions end within a week, and how to make more")
    func ahead() async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: .day)
        func problems() async -> [String] {
            await fixture.tracker.problems(in: PipelineOutline(catalog: fixture.catalog, hasJournal: false)).map(
                \.message
            )
        }
        #expect(await problems() == [])
        // The day in eight days is the first that is missing, so that midnight changes nothing.
        let gap = TimePartition.covering(Self.now(plusDays: 8)...Self.now(plusDays: 8), by: .day)[0].name(of: "seen")
        try await fixture.database.run("DROP TABLE analytics_partitions.\(gap)")
        #expect(await problems() == [])
        let earlier = TimePartition.covering(Self.now(plusDays: 5)...Self.now(plusDays: 5), by: .day)[0].name(
            of: "seen"
        )
        try await fixture.database.run("DROP TABLE analytics_partitions.\(earlier)")
        let found = await problems()
        #expect(found.count == 1)
        #expect(found.first?.contains(#"The table "analytics"."seen" has partitions until"#) == true)
        #expect(found.first?.contains("`sluice maintain`") == true)
    }

    @Test("a loader keeps records of a missing month as refused, and loads all others", .promise("loader-broken-table"))
    func loaded() async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: .month)
        let partition = LoadedPartition(loader: "shop", cluster: "cluster", topic: "topic", number: 0)
        let epoch = try await fixture.tracker.claim(partition, start: 0, owner: "a").epoch
        let events = (0..<100).map { Self.line($0, $0 % 10 == 3 ? Self.past : .now()) }
        let outcome = await fixture.tracker.load(
            PartitionDelivery(
                partition: partition,
                epoch: epoch,
                start: 0,
                end: 100,
                lastRecord: nil,
                events: try fixture.delivery(events),
                refused: [],
                refusing: [],
                refuse: { position, _ in PartitionFixture.record(Int64(position), #"{"code":"parked"}"#) }
            )
        )
        guard case .committed(let refused, let broken, _) = outcome else {
            Issue.record("the records are not loaded")
            return
        }
        #expect(refused == 10 && broken.isEmpty)
        #expect(try await fixture.count("analytics.bought") == 90)
        #expect(try await fixture.count("analytics._sluice_refused") == 10)
        try await expectNoSearch(fixture)
    }

    @Test("event_time reads the time in ids of the versions 7 and 8, and returns NULL for others")
    func eventTime() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        let time = try #require(Timestamp("2026-11-05T12:34:56.789Z"))
        let ids = [
            EventID(version7At: time, randomA: 0xFFF, randomB: .max),
            EventID(version8At: time, digestHigh: 0, digestLow: 0),
            EventID(high: 0x1234_5678_9ABC_4DEF, low: 1),
        ]
        let calls = ids.map { "to_char(analytics.event_time('\($0)') AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')" }
        #expect(
            try await fixture.database.run("SELECT \(calls.joined(separator: ", "))")
                == ["2026-11-05 12:34:56.789000|2026-11-05 12:34:56.789000|"]
        )
    }

    @Test("a lookup by the id and its time reads one month")
    func lookup() async throws {
        let fixture = try await PostgresFixture(Self.plan, partitions: .month)
        let month = TimePartition.ofNewTable(by: .month)[3]
        let time = Timestamp(microseconds: month.microseconds.lowerBound + 10 * 86_400_000_000)
        let id = EventID(version7At: time, randomA: 1, randomB: 1)
        let plan = try await fixture.database.run(
            """
            EXPLAIN (COSTS OFF) SELECT * FROM analytics.bought WHERE id = '\(id)' AND occurred_at BETWEEN
                analytics.event_time('\(id)') - interval '1 day' AND analytics.event_time('\(id)') + interval '1 day'
            """
        )
        let scans = plan.filter { $0.contains("Scan") && $0.contains("on \(month.name(of: "bought"))") }
        #expect(plan.count { $0.contains(" on bought_") } == scans.count && !scans.isEmpty, "\(plan)")
    }
}
