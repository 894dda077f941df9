import EventModel
import EventSchema
import EventValidation
import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

/// Events that are sent again and get another time, in tables whose key contains the time.
@Suite("PostgreSQL: recent ids", .timeLimit(.minutes(5)))
struct RecentIDTests {
    /// Partitions `bought` by time.
    private static let partitioned = """
        DROP TABLE analytics.bought;
        CREATE TABLE analytics.bought (id uuid NOT NULL, occurred_at timestamptz NOT NULL, received_at timestamptz NOT NULL,
            user_id text, anonymous_id text, session_id text, context jsonb, number bigint NOT NULL,
            PRIMARY KEY (occurred_at, id)) PARTITION BY RANGE (occurred_at);
        CREATE TABLE analytics.bought_all PARTITION OF analytics.bought FOR VALUES FROM ('2020-01-01') TO ('2100-01-01');
        """
    /// Makes the current half of the recent ids older than a week.
    private static let aWeekLater = "UPDATE analytics._sluice_recent_ids_current SET since = now() - interval '8 days'"

    private static func fixture(_ setup: String = partitioned) async throws -> PostgresFixture {
        let definitions = [event("Bought", [property("number", .integer)])]
        let first = try await PostgresFixture(definitions)
        try await first.database.run(setup)
        // The tracker reads the tables when it starts.
        return try await PostgresFixture(definitions, in: first.database)
    }

    /// An id of version 4, which has no time.
    private static func id4(_ number: Int) -> String {
        EventID(high: 0x0190_0000_0000_4000, low: 0x8000_0000_0000_0000 | UInt64(number)).description
    }

    /// Events with these ids that state no time and arrive at the minute of the year 2026, so each attempt has another time.
    private static func delivery(
        _ ids: [String],
        at minute: Int64,
        _ fixture: PostgresFixture
    ) throws -> Delivery {
        let arrival = Timestamp(microseconds: 1_768_000_000_000_000 + minute * 60_000_000)
        let validator = EventValidator(catalog: fixture.catalog, now: { arrival })
        let lines = ids.enumerated().map { #"{"id":"\#($1)","name":"Bought","payload":{"number":\#($0)}}"# }
        var body = lines.joined(separator: "\n")
        let checked = try body.withUTF8 { try validator.check(UnsafeRawBufferPointer($0), as: .lines) }
        return Delivery([EventSlice(try #require(checked.batch))])
    }

    private static func deliver(_ delivery: Delivery, to tracker: PostgresTracker) async {
        let outcome = await tracker.deliver(delivery)
        #expect(outcome.refusals == [] && outcome.retry == nil)
    }

    @Test(
        "a table that is partitioned while a tracker runs has each event once from then on",
        .promise("repeated-time")
    )
    func partitionedMeanwhile() async throws {
        let fixture = try await Self.fixture("")
        await Self.deliver(try Self.delivery([Self.id4(1)], at: 0, fixture), to: fixture.tracker)
        try await fixture.database.run(Self.partitioned)
        for minute in 1...2 as ClosedRange<Int64> {
            await Self.deliver(try Self.delivery([Self.id4(2)], at: minute, fixture), to: fixture.tracker)
            #expect(try await fixture.count("analytics.bought") == 1)
        }
        #expect(try await fixture.count("analytics._sluice_recent_ids") == 1)
    }

    @Test(
        "an event without a time that is sent again is stored once, directly and through the staging table",
        .promise("repeated-time")
    )
    func again() async throws {
        let fixture = try await Self.fixture()
        let ids = (0..<300).map(Self.id4)
        for minute in 0..<4 as Range<Int64> {
            let part = minute == 0 ? Array(ids[..<200]) : ids.shuffled()
            await Self.deliver(try Self.delivery(part, at: minute, fixture), to: fixture.tracker)
        }
        #expect(try await fixture.count("analytics.bought") == 300)
        #expect(try await fixture.database.run("SELECT count(DISTINCT id) FROM analytics.bought") == ["300"])
    }

    @Test("an id that occurs twice in a delivery is stored once, and so is one beside events with a time of their own")
    func twiceInOne() async throws {
        let fixture = try await Self.fixture()
        let ids = [1, 2, 1, 3, 2].map(Self.id4)
        await Self.deliver(try Self.delivery(ids, at: 0, fixture), to: fixture.tracker)
        #expect(try await fixture.rows("number", of: "analytics.bought") == ["0", "1", "3"])
        let timed = (10..<20).map {
            #"{"id":"\#(Self.id4($0))","name":"Bought","time":"2026-02-03T04:05:06Z","payload":{"number":\#($0)}}"#
        }
        let untimed = #"{"id":"\#(Self.id4(1))","name":"Bought","payload":{"number":99}}"#
        for _ in 0..<2 {
            await Self.deliver(try fixture.delivery(timed + [untimed]), to: fixture.tracker)
        }
        #expect(try await fixture.count("analytics.bought") == 13)
    }

    @Test("two sessions that load the same ids at one time store each once", .promise("repeated-time"))
    func twoSessions() async throws {
        let fixture = try await Self.fixture()
        let other = try await fixture.startedTracker(name: "other")
        for round in 0..<10 {
            let ids = (round * 100..<round * 100 + 100).map(Self.id4)
            let first = try Self.delivery(ids.shuffled(), at: Int64(2 * round), fixture)
            let second = try Self.delivery(ids.shuffled(), at: Int64(2 * round + 1), fixture)
            async let one: Void = Self.deliver(first, to: fixture.tracker)
            async let two: Void = Self.deliver(second, to: other)
            _ = await (one, two)
        }
        let counts = try await fixture.database.run("SELECT count(*), count(DISTINCT id) FROM analytics.bought")
        #expect(counts == ["1000|1000"])
        await other.stop()
    }

    @Test("an id is remembered for a week at least, and forgotten after the second exchange", .promise("repeated-time"))
    func exchange() async throws {
        let fixture = try await Self.fixture()
        let ids = (0..<5).map(Self.id4)
        var minute: Int64 = 0
        func deliver(_ ids: [String]) async throws {
            // A new session looks at once whether the halves are to be exchanged.
            let tracker = try await fixture.startedTracker(name: "t\(minute)")
            await Self.deliver(try Self.delivery(ids, at: minute, fixture), to: tracker)
            await tracker.stop()
            minute += 1
        }
        try await deliver(ids)
        try await fixture.database.run(Self.aWeekLater)
        try await deliver(ids)
        #expect(try await fixture.count("analytics.bought") == 5)
        #expect(try await fixture.database.run("SELECT half FROM analytics._sluice_recent_ids_current") == ["1"])
        try await fixture.database.run(Self.aWeekLater)
        try await deliver([Self.id4(99)])
        #expect(try await fixture.database.run("SELECT half FROM analytics._sluice_recent_ids_current") == ["0"])
        try await deliver(ids)
        #expect(try await fixture.count("analytics.bought") == 11)
    }

    @Test(
        "while a table is locked, the outcome names all of its events, whether their time is the sender's or not",
        .promise("broken-table")
    )
    func locked() async throws {
        let fixture = try await Self.fixture()
        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run("BEGIN; LOCK TABLE analytics.bought IN ACCESS EXCLUSIVE MODE; SELECT 1;")
        let line = #"{"id":"\#(Self.id4(9))","name":"Bought","time":"2026-01-10T00:00:00Z","payload":{"number":9}}"#
        let marked = try Self.delivery((0..<5).map(Self.id4), at: 0, fixture)
        let delivery = Delivery(marked.slices + (try fixture.delivery([line])).slices)
        let outcome = await fixture.tracker.deliver(delivery)
        let left = outcome.retry.map { $0.positions ?? Array(0..<6) }
        #expect(Set(left ?? []) == Set(0..<6))
        try session.close()
        await Self.deliver(delivery, to: fixture.tracker)
        #expect(try await fixture.count("analytics.bought") == 6)
    }

    @Test("a row that is refused is not remembered, and the others are stored once")
    func refused() async throws {
        let fixture = try await Self.fixture(Self.partitioned + "ALTER TABLE analytics.bought ADD CHECK (number <> 3);")
        let ids = (0..<6).map(Self.id4)
        for minute in 0..<3 as Range<Int64> {
            let outcome = await fixture.tracker.deliver(try Self.delivery(ids, at: minute, fixture))
            #expect(outcome.refusals.map(\.position) == [3])
            #expect(outcome.refusals.first?.reason.contains("violates check constraint") == true)
        }
        #expect(try await fixture.count("analytics.bought") == 5)
        try await fixture.database.run("ALTER TABLE analytics.bought DROP CONSTRAINT bought_number_check")
        await Self.deliver(try Self.delivery(ids, at: 9, fixture), to: fixture.tracker)
        #expect(try await fixture.count("analytics.bought") == 6)
    }

    @Test("a table whose key is the id needs no recent ids")
    func keyOfID() async throws {
        let fixture = try await Self.fixture("SELECT 1")
        for minute in 0..<3 as Range<Int64> {
            await Self.deliver(try Self.delivery((0..<10).map(Self.id4), at: minute, fixture), to: fixture.tracker)
        }
        #expect(try await fixture.count("analytics.bought") == 10)
        #expect(try await fixture.count("analytics._sluice_recent_ids") == 0)
    }

    @Test("an id of version 7 has the event's time, so each attempt is the same row without recent ids")
    func version7() async throws {
        let fixture = try await Self.fixture()
        let arrival = Timestamp(microseconds: 1_768_000_000_000_000)
        let ids = (0..<20).map { EventID(version7At: arrival, randomA: 1, randomB: UInt64($0)).description }
        for minute in 0..<3 as Range<Int64> {
            await Self.deliver(try Self.delivery(ids, at: minute, fixture), to: fixture.tracker)
        }
        #expect(try await fixture.count("analytics.bought") == 20)
        #expect(try await fixture.count("analytics._sluice_recent_ids") == 0)
    }

    @Test("sluice check names a missing table and a missing privilege of the recent ids", .promise("unfit-database"))
    func problems() async throws {
        let fixture = try await Self.fixture()
        let outline = PipelineOutline(catalog: fixture.catalog, hasJournal: false)
        #expect(await fixture.tracker.problems(in: outline).map(\.message) == [])
        try await fixture.database.run("DROP TABLE analytics._sluice_recent_ids_current")
        let messages = await fixture.tracker.problems(in: outline).map(\.message)
        #expect(
            messages == [
                #"The database lacks the table "analytics"."_sluice_recent_ids_current"; run `sluice migrate`."#
            ]
        )
    }
}
