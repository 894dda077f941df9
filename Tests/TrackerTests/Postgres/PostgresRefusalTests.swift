import EventModel
import EventPipeline
import EventSchema
import EventValidation
import Logging
import SluicePostgres
import SluiceTesting
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: refused rows")
struct PostgresRefusalTests {
    private func events(_ numbers: some Sequence<Int>, _ name: String = "Bought") -> [String] {
        numbers.map { #"{"id":"\#(id($0))","name":"\#(name)","payload":{"number":\#($0)}}"# }
    }

    private func fixture(_ constraint: String) async throws -> PostgresFixture {
        let fixture = try await PostgresFixture([
            event("Bought", [property("number", .integer)]), event("Seen", [property("number", .integer)]),
        ])
        try await fixture.database.run(constraint)
        return fixture
    }

    @Test(
        "rows that violate a constraint are refused with the server's message, and the others are inserted",
        .promise("rejected-rows")
    )
    func constraint() async throws {
        let fixture = try await fixture(
            "ALTER TABLE analytics.bought ADD CONSTRAINT odd CHECK (number NOT IN (0, 137, 138, 999))"
        )
        let delivery = try fixture.delivery(events(0..<1000) + events(0..<10, "Seen"))
        let outcome = await fixture.tracker.deliver(delivery)
        #expect(outcome.retry == nil)
        #expect(outcome.refusals.map(\.position) == [0, 137, 138, 999])
        #expect(outcome.refusals.allSatisfy { $0.reason.contains("odd") && $0.reason.contains("23514") })
        #expect(try await fixture.count("analytics.bought") == 996)
        #expect(try await fixture.count("analytics.seen") == 10)
    }

    @Test("refused rows are found among duplicates, and the duplicates are not refused")
    func amongDuplicates() async throws {
        let fixture = try await fixture("ALTER TABLE analytics.bought ADD CHECK (number <> 7)")
        _ = await fixture.tracker.deliver(try fixture.delivery(events([1, 2, 3])))
        let outcome = await fixture.tracker.deliver(try fixture.delivery(events([1, 2, 3, 7, 8])))
        #expect(outcome.refusals.map(\.position) == [3])
        #expect(try await fixture.rows("number", of: "analytics.bought") == ["1", "2", "3", "8"])
    }

    @Test("a row that violates a unique index of the user's own is refused, and does not count as a duplicate")
    func uniqueIndex() async throws {
        let fixture = try await fixture("CREATE UNIQUE INDEX ON analytics.bought ((number % 10))")
        let outcome = await fixture.tracker.deliver(try fixture.delivery(events([1, 2, 11, 3])))
        #expect(outcome.refusals.map(\.position) == [2])
        #expect(outcome.refusals.first?.reason.contains("23505") == true)
        #expect(try await fixture.count("analytics.bought") == 3)
    }

    @Test(
        "no error that is logged has a message of a trigger, which can contain a value of a row",
        arguments: ["57014", "55000", "55P03", "42501", "42P01", "08000", "40001", "53000", "XX000"]
    )
    func triggerMessage(sqlState: String) async throws {
        let fixture = try await fixture(
            """
            CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN RAISE 'cannot take %', NEW.number USING ERRCODE = '\(sqlState)'; END$$;
            CREATE TRIGGER fail BEFORE INSERT ON analytics.bought FOR EACH ROW EXECUTE FUNCTION fail();
            """
        )
        let outcome = await fixture.tracker.deliver(try fixture.delivery(events([424_242])))
        let reason = try #require(outcome.retry?.reason)
        #expect(reason.description.contains(sqlState))
        #expect(!reason.description.contains("424242"))
    }

    @Test("a deferred constraint or a trigger can refuse rows, too")
    func deferredAndTrigger() async throws {
        let fixture = try await fixture(
            """
            CREATE TABLE allowed (number bigint PRIMARY KEY);
            INSERT INTO allowed SELECT generate_series(0, 9);
            ALTER TABLE analytics.bought ADD FOREIGN KEY (number) REFERENCES allowed DEFERRABLE INITIALLY DEFERRED;
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN IF NEW.number = 4 THEN RAISE 'no four today'; END IF; RETURN NEW; END$$;
            CREATE TRIGGER refuse BEFORE INSERT ON analytics.bought FOR EACH ROW EXECUTE FUNCTION refuse();
            """
        )
        let outcome = await fixture.tracker.deliver(try fixture.delivery(events([3, 4, 5, 10, 6])))
        #expect(outcome.refusals.map(\.position) == [1, 3])
        #expect(outcome.refusals.first?.reason.contains("no four today") == true)
        #expect(try await fixture.rows("number", of: "analytics.bought") == ["3", "5", "6"])
    }

    @Test("if every row is refused, each is reported and none is inserted")
    func all() async throws {
        let fixture = try await fixture("ALTER TABLE analytics.bought ADD CHECK (number < 0)")
        let outcome = await fixture.tracker.deliver(try fixture.delivery(events(0..<100)))
        #expect(outcome.refusals.map(\.position) == Array(0..<100))
        #expect(outcome.retry == nil)
        #expect(try await fixture.count("analytics.bought") == 0)
    }

    @Test("a search for refused rows that times out commits the rows it has loaded, so that each retry makes progress")
    func manyRefused() async throws {
        let fixture = try await fixture(
            """
            ALTER TABLE analytics.bought ADD CHECK (number % 3 <> 0);
            CREATE FUNCTION public.slow() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN PERFORM count(*) FROM generate_series(1, 5000); RETURN NEW; END$$;
            CREATE TRIGGER slow BEFORE INSERT ON analytics.bought FOR EACH ROW EXECUTE FUNCTION public.slow()
            """
        )
        let tracker = PostgresTracker(
            PostgresConfiguration(connection: fixture.database.url, deliveryTimeout: .milliseconds(500)),
            logger: Logger(label: "test")
        )
        try await tracker.start(for: fixture.catalog)
        var rest = try fixture.delivery(events(0..<1500))
        var refused = 0
        var rounds = 0
        while rest.count > 0 {
            let settlement = Settlement(of: rest, outcome: await tracker.deliver(rest))
            #expect(settlement.invalidPositions == 0)
            refused += settlement.refusals.count
            rest = settlement.retry ?? Delivery([])
            rounds += 1
            try #require(rounds < 1000)
        }
        #expect(rounds > 1)
        #expect(refused == 500)
        #expect(try await fixture.count("analytics.bought") == 1000)
        await tracker.stop()
    }

    @Test("an event whose JSON the server cannot store as jsonb is refused")
    func json() async throws {
        let fixture = try await PostgresFixture([event("Noted", [property("note", .any)])])
        let batch = EventBatch.scripted(
            catalog: fixture.catalog,
            events: [
                ScriptedEvent("Noted", number: 1, payload: #"{"note":{"a":1}}"#),
                ScriptedEvent("Noted", number: 2, payload: #"{"note":"\u0000"}"#),
                ScriptedEvent("Noted", number: 3, payload: #"{"note":[}"#),
            ]
        )
        let outcome = await fixture.tracker.deliver(Delivery([EventSlice(batch)]))
        #expect(outcome.refusals.map(\.position) == [1, 2])
        #expect(try await fixture.count("analytics.noted") == 1)
    }

    @Test("an invalid line is refused without showing a value, and the others are inserted")
    func brokenLines() async throws {
        let fixture = try await PostgresFixture([
            event("Bought", [property("number", .integer), property("name", .string)])
        ])
        let payloads = [
            #"{"number":1,"name":"good"}"#, #"{"number":secret,"name":"x"}"#, #"{"number":1,"name":"secret}"#, "secret",
            "",
            #"{"number":92233720368547758089,"name":"x"}"#, #"{"number":1,"name":"\q"}"#,
            #"{"number":1,"name":"\ud800"}"#,
            #"{"number":1,"name":"x","secret":1}"#, #"{"number":1,"name":"x"}}"#, "{",
            #"{"number":2,"name":"also good"}"#,
        ]
        let events = payloads.enumerated().map { ScriptedEvent("Bought", number: $0 + 1, payload: $1) }
        let batch = EventBatch.scripted(catalog: fixture.catalog, events: events)
        let outcome = await fixture.tracker.deliver(Delivery([EventSlice(batch)]))
        #expect(outcome.refusals.map(\.position) == Array(1...10))
        #expect(!outcome.refusals.contains { $0.reason.contains("secret") })
        #expect(try await fixture.rows("number", of: "analytics.bought") == ["1", "2"])
    }

    @Test(
        "if a column was altered while the tracker runs, the events are retried, not refused",
        .promise("broken-table")
    )
    func changedColumn() async throws {
        let fixture = try await fixture("ALTER TABLE analytics.bought ALTER COLUMN number TYPE integer")
        let delivery = try fixture.delivery(events(0..<10))
        let outcome = await fixture.tracker.deliver(delivery)
        #expect(outcome.refusals == [])
        #expect(outcome.retry?.reason.code == .notPrepared)
        #expect(outcome.retry?.reason.message.contains("sluice migrate") == true)
        try await fixture.database.run("ALTER TABLE analytics.bought ALTER COLUMN number TYPE bigint")
        #expect(await fixture.tracker.deliver(delivery).retry == nil)
        #expect(try await fixture.count("analytics.bought") == 10)
    }

    @Test("if a table was dropped while the tracker runs, the events are retried, and the reason names the fix")
    func droppedTable() async throws {
        let fixture = try await fixture("DROP TABLE analytics.bought")
        let outcome = await fixture.tracker.deliver(try fixture.delivery(events(0..<10)))
        #expect(outcome.refusals == [])
        #expect(outcome.retry?.reason.code == .notPrepared)
        #expect(outcome.retry?.reason.message.contains("sluice migrate") == true)
    }
}
