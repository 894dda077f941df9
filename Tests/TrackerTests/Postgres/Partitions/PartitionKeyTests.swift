import PipelineTestSupport
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

/// Nothing rests on an index on `id` alone.
@Suite("PostgreSQL: keys of event tables", .timeLimit(.minutes(5)))
struct PartitionKeyTests {
    /// Partitions `bought` by time, whose key then contains the time.
    private static let partitioned = """
        ALTER TABLE analytics.bought DROP CONSTRAINT bought_pkey;
        ALTER TABLE analytics.bought RENAME TO bought_default;
        CREATE TABLE analytics.bought (LIKE analytics.bought_default, PRIMARY KEY (id, occurred_at))
            PARTITION BY RANGE (occurred_at);
        ALTER TABLE analytics.bought ATTACH PARTITION analytics.bought_default DEFAULT;
        """
    private static let withoutKey = "ALTER TABLE analytics.bought DROP CONSTRAINT bought_pkey;"

    private func delivery(
        _ fixture: PartitionFixture,
        _ events: [(number: Int, name: String)],
        at offset: Int
    ) throws -> PartitionDelivery {
        let lines = events.map { event in
            #"{"id":"\#(id(event.number))","name":"\#(event.name)","time":"2024-05-06T07:08:09Z","#
                + #""payload":{"number":\#(event.number)}}"#
        }
        return fixture.delivery(
            of: try fixture.base.delivery(lines),
            offsets: events.indices.map { Int64(offset + $0) },
            offset..<offset + events.count
        )
    }

    private func bought(_ fixture: PartitionFixture, _ numbers: Range<Int>, at offset: Int) throws -> PartitionDelivery
    {
        try delivery(fixture, numbers.map { ($0, "Bought") }, at: offset)
    }

    @Test(
        "duplicates are skipped in a table whose key contains the time, whenever the key was changed",
        arguments: [false, true]
    )
    func partitioned(isStartedBefore: Bool) async throws {
        let fixture = try await PartitionFixture(isStartedBefore ? "" : Self.partitioned)
        let tracker = fixture.makeTracker()
        try await tracker.start(for: fixture.base.catalog)
        if isStartedBefore { try await fixture.database.run(Self.partitioned) }
        _ = try await fixture.claim(tracker)
        #expect(await tracker.load(try bought(fixture, 0..<10, at: 0)).words == "committed 0")
        #expect(await tracker.load(try bought(fixture, 5..<15, at: 10)).words == "committed 0")
        #expect(try await fixture.numbers() == Array(0..<15))
        // Through the staging table that exists by now.
        #expect(await tracker.load(try bought(fixture, 10..<20, at: 20)).words == "committed 0")
        #expect(try await fixture.numbers() == Array(0..<20))
        let outline = PipelineOutline(catalog: fixture.base.catalog, hasJournal: false)
        let problems = await tracker.problems(in: outline).map(\.message)
        #expect(problems.count == 1 && problems[0].contains("has the default partition"), "\(problems)")
        await tracker.stop()
    }

    @Test(
        "a row that violates a unique index of the user's own is refused beside skipped duplicates, whatever the key is"
    )
    func ownIndex() async throws {
        let fixture = try await PartitionFixture(
            Self.partitioned + "CREATE UNIQUE INDEX ON analytics.bought_default ((number % 10))"
        )
        _ = try await fixture.claim()
        #expect(await fixture.tracker.load(try bought(fixture, 0..<8, at: 0)).words == "committed 0")
        // The first three are duplicates, and 11 has the last digit of 1.
        #expect(await fixture.tracker.load(try bought(fixture, 5..<12, at: 8)).words == "committed 2")
        #expect(try await fixture.numbers() == Array(0..<10))
        #expect(try await fixture.refused() == ["13|refused", "14|refused"])
    }

    @Test("the key is also read by a role that has only the documented privileges, and a missing one is named")
    func privileges() async throws {
        let base = try await LoaderRole.fixture(PartitionFixture.plan)
        try await base.database.run(
            LoaderRole.partitionGrants + Self.partitioned + "GRANT INSERT, SELECT (id) ON analytics.bought TO loader"
        )
        let fixture = try await PartitionFixture(in: base.database)
        let tracker = fixture.makeTracker(connection: fixture.database.url(role: LoaderRole.name))
        let outline = PipelineOutline(catalog: fixture.base.catalog, hasJournal: false)
        let message = try #require(await tracker.problems(in: outline).map(\.message).first)
        #expect(message.contains(#"GRANT INSERT, SELECT ("id", "occurred_at") ON "analytics"."bought" TO "loader";"#))
        try await fixture.database.run(String(try #require(message.split(separator: "run: ").last)))
        let problems = await tracker.problems(in: outline).map(\.message)
        #expect(problems.count == 1 && problems[0].contains("has the default partition"), "\(problems)")
        _ = try await fixture.claim(tracker)
        #expect(await tracker.load(try bought(fixture, 0..<10, at: 0)).words == "committed 0")
        #expect(await tracker.load(try bought(fixture, 0..<15, at: 10)).words == "committed 0")
        #expect(try await fixture.numbers() == Array(0..<15))
        await tracker.stop()
    }

    @Test("a table without a key keeps duplicates, and is not broken if others have duplicates or it refuses a row")
    func withoutKey() async throws {
        let fixture = try await PartitionFixture(
            Self.withoutKey + "ALTER TABLE analytics.bought ADD CHECK (number <> 7)"
        )
        _ = try await fixture.claim()
        let both = [(1, "Bought"), (2, "Seen")]
        for offset in [0, 2, 4] {
            #expect(await fixture.tracker.load(try delivery(fixture, both, at: offset)).words == "committed 0")
        }
        #expect(try await fixture.numbers() == [1, 1, 1])
        #expect(try await fixture.numbers(in: "seen") == [2])
        #expect(await fixture.tracker.load(try bought(fixture, 6..<9, at: 6)).words == "committed 1")
        #expect(try await fixture.numbers() == [1, 1, 1, 6, 8])
        // A check reports it, because duplicates are not recognized.
        let outline = PipelineOutline(catalog: fixture.base.catalog, hasJournal: false)
        let problems = await fixture.tracker.problems(in: outline).map(\.message)
        #expect(problems.count == 1 && problems[0].contains("primary key"), "\(problems)")
    }

    @Test("a tracker starts if its tables have no keys, even if it requires every table, and warns of each")
    func startWithoutKey() async throws {
        let fixture = try await PartitionFixture(
            Self.withoutKey + "ALTER TABLE analytics.seen DROP CONSTRAINT seen_pkey"
        )
        let log = RecordingLog()
        let tracker = fixture.makeTracker(logger: log.logger) { $0.requiresEveryTable = true }
        try await tracker.start(for: fixture.base.catalog)
        #expect(
            log.all.filter { $0.contains("primary key") }
                == ["bought", "seen"].map {
                    "A table has no primary key on id, so duplicates are not recognized; add the key."
                        + #" table="analytics"."\#($0)" tracker=postgres"#
                }
        )
        #expect(log.all.filter { $0.hasPrefix("A table accepts no rows") } == [])
        await tracker.stop()
    }

    @Test("a deadlock keeps the connection, and the rows are loaded with the next attempt", arguments: [true, false])
    func deadlock(hasKey: Bool) async throws {
        let fixture = try await PartitionFixture(
            (hasKey ? "" : Self.withoutKey) + """
                CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
                    $$BEGIN RAISE 'conflict' USING ERRCODE = '40P01'; END$$;
                CREATE TRIGGER fail BEFORE INSERT ON analytics.bought FOR EACH ROW EXECUTE FUNCTION fail();
                """
        )
        let tracker = fixture.makeTracker()
        try await tracker.start(for: fixture.base.catalog)
        _ = try await fixture.claim(tracker)
        #expect(await tracker.load(try bought(fixture, 0..<5, at: 0)).words == "failed")
        try await fixture.database.run("DROP TRIGGER fail ON analytics.bought")
        #expect(await tracker.load(try bought(fixture, 0..<5, at: 0)).words == "committed 0")
        #expect(try await fixture.numbers() == Array(0..<5))
        await tracker.stop()
    }
}
