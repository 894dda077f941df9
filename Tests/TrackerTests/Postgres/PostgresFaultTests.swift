import EventPipeline
import EventSchema
import Foundation
import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

/// Whose fault an error is follows from what else the server accepts, whatever its SQLSTATE.
@Suite("PostgreSQL: whose fault an error is", .timeLimit(.minutes(5)))
struct PostgresFaultTests {
    /// When a trigger raises its error.
    enum Moment: String, CaseIterable {
        /// With the row, in `COPY` and `INSERT`.
        case row = "BEFORE INSERT"
        /// With `COMMIT`.
        case commit = "AFTER INSERT"
    }

    private static let plan = [
        event("Bought", [property("number", .integer), property("state", .string)]),
        event("Seen", [property("number", .integer)]),
    ]

    /// Every SQLSTATE of the server's own list that can be raised, one that is in no list, and that of the loader's own comparison.
    private static func states(_ fixture: PostgresFixture) async throws -> [String] {
        let folder = try await fixture.database.run("SELECT setting FROM pg_config() WHERE name = 'SHAREDIR'")
        let list = try String(contentsOfFile: try #require(folder.first) + "/errcodes.txt", encoding: .utf8)
        let states = list.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count >= 3, words[0].count == 5, ["E", "W"].contains(words[1]) else { return nil }
            return String(words[0])
        }
        #expect(states.count > 200)
        // A class itself cannot be raised.
        return states.filter { !$0.hasSuffix("000") || $0 != "00000" } + ["ZZ123", "SLU01", "SLU02"]
    }

    /// Lets a trigger raise the SQLSTATE in the column `state` of each row that has one.
    private static func raising(_ moment: Moment) -> String {
        """
        CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF NEW.state <> '' THEN RAISE EXCEPTION 'the state %', NEW.state USING ERRCODE = NEW.state; END IF;
                RETURN NEW;
            END
        $$;
        CREATE \(moment == .commit ? "CONSTRAINT " : "")TRIGGER fail \(moment.rawValue) ON analytics.bought
            \(moment == .commit ? "DEFERRABLE INITIALLY DEFERRED " : "")FOR EACH ROW EXECUTE FUNCTION public.fail()
        """
    }

    private static func bought(_ number: Int, _ state: String) -> String {
        #"{"id":"\#(id(number))","name":"Bought","payload":{"number":\#(number),"state":"\#(state)"}}"#
    }

    private static func seen(_ number: Int) -> String {
        #"{"id":"\#(id(number))","name":"Seen","payload":{"number":\#(number)}}"#
    }

    @Test(
        "an error of one row is that row's fault, with any SQLSTATE: all others are delivered",
        .promise("rejected-rows"),
        arguments: Moment.allCases
    )
    func rows(_ moment: Moment) async throws {
        let fixture = try await PostgresFixture(Self.plan)
        let states = try await Self.states(fixture)
        try await fixture.database.run(Self.raising(moment))
        let events = states.enumerated().flatMap { index, state in
            [Self.bought(3 * index, state), Self.bought(3 * index + 1, ""), Self.seen(3 * index + 2)]
        }
        let outcome = await fixture.tracker.deliver(try fixture.delivery(events))
        #expect(try await fixture.count("analytics.bought") == states.count)
        #expect(try await fixture.count("analytics.seen") == states.count)
        let stuck = outcome.retry?.stuck ?? []
        #expect(stuck.allSatisfy { !$0.isWholeName })
        #expect(outcome.retry?.positions == stuck.flatMap(\.positions).sorted())
        let failed = (outcome.refusals.map(\.position) + stuck.flatMap(\.positions)).sorted()
        #expect(failed == states.indices.map { 3 * $0 })
        // An error that may pass is retried, and every other one is refused at once.
        let retried = Set(stuck.flatMap(\.positions).map { states[$0 / 3].prefix(2) })
        #expect(retried == ["08", "25", "40", "53", "55", "57", "58", "72", "F0", "XX"])
        #expect(outcome.refusals.allSatisfy { $0.reason.contains("(SQLSTATE \(states[$0.position / 3]))") })
    }

    @Test(
        "an error of every row is the table's fault, with any SQLSTATE: the rows of others are delivered",
        .promise("broken-table"),
        arguments: Moment.allCases
    )
    func tables(_ moment: Moment) async throws {
        let fixture = try await PostgresFixture(Self.plan)
        try await fixture.database.run(Self.raising(moment))
        var number = 0
        for state in try await Self.states(fixture) {
            let events = (0..<10).map { index in
                number += 1
                return index < 5 ? Self.bought(number, state) : Self.seen(number)
            }
            let outcome = await fixture.tracker.deliver(try fixture.delivery(events))
            let stuck = outcome.retry?.stuck ?? []
            #expect(stuck.allSatisfy { $0.isWholeName && $0.reason.message.contains("\"bought\"") }, "\(state)")
            #expect(
                (outcome.refusals.map(\.position) + stuck.flatMap(\.positions)).sorted() == Array(0..<5),
                "\(state)"
            )
            #expect(outcome.retry?.positions == (stuck.isEmpty ? nil : Array(0..<5)), "\(state)")
        }
        #expect(try await fixture.count("analytics.bought") == 0)
        #expect(try await fixture.count("analytics.seen") == number / 2)
    }

    @Test(
        "the same is true of a partition: nothing is loaded before the wait is over, and then everything else",
        .promise("loader-broken-table")
    )
    func partitions() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        let states = try await Self.states(fixture)
        try await fixture.database.run(Self.raising(.row))
        let partition = LoadedPartition(loader: "shop", cluster: "cluster", topic: "topic", number: 0)
        let epoch = try await fixture.tracker.claim(partition, start: 0, owner: "a").epoch
        let events = states.enumerated().flatMap { index, state in
            [Self.bought(3 * index, state), Self.bought(3 * index + 1, ""), Self.seen(3 * index + 2)]
        }
        func load(refusesBrokenEvents: Bool) async throws -> PartitionOutcome {
            await fixture.tracker.load(
                PartitionDelivery(
                    partition: partition,
                    epoch: epoch,
                    start: 0,
                    end: Int64(events.count),
                    lastRecord: nil,
                    events: try fixture.delivery(events),
                    refused: [],
                    refusing: refusesBrokenEvents ? ["bought", "seen"] : [],
                    refuse: { position, _ in PartitionFixture.record(Int64(position), #"{"code":"refused"}"#) }
                )
            )
        }
        #expect(try await load(refusesBrokenEvents: false).words == "broken")
        #expect(try await fixture.count("analytics.seen") == 0)
        guard case .committed(let refused, _, let stuck) = try await load(refusesBrokenEvents: true) else {
            Issue.record("the records are not loaded")
            return
        }
        #expect(refused == states.count)
        #expect((1..<states.count).contains(stuck))
        #expect(try await fixture.count("analytics.bought") == states.count)
        #expect(try await fixture.count("analytics.seen") == states.count)
        #expect(try await fixture.count("analytics._sluice_refused") == states.count)
    }

    @Test(
        "rows without a partition are stuck for a reason of their own, and all others are delivered",
        .promise("broken-table")
    )
    func missingPartition() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        try await fixture.database.run(
            """
            DROP TABLE analytics.bought;
            CREATE TABLE analytics.bought (id uuid, occurred_at timestamptz, received_at timestamptz, user_id text,
                anonymous_id text, session_id text, context jsonb, number bigint, state text, PRIMARY KEY (id, number),
                CHECK (state <> 'refused')) PARTITION BY RANGE (number);
            CREATE TABLE analytics.bought_1 PARTITION OF analytics.bought FOR VALUES FROM (0) TO (2000)
            """
        )
        let events = (0..<4000).map { Self.bought($0, $0 == 5 ? "refused" : "") } + [Self.seen(5000)]
        let outcome = await fixture.tracker.deliver(try fixture.delivery(events))
        #expect(outcome.refusals.map(\.position) == [5])
        #expect(outcome.retry?.positions == Array(2000..<4000))
        let stuck = try #require(outcome.retry?.stuck)
        #expect(stuck.map(\.reason.code) == [.noPartition])
        #expect(stuck.map(\.isWholeName) == [false])
        #expect(try await fixture.count("analytics.bought") == 1999)
        #expect(try await fixture.count("analytics.seen") == 1)
    }

    @Test(
        "a table that does not answer is stuck, and the rows of others are delivered with the same call",
        .promise("broken-table")
    )
    func hangingTable() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        try await fixture.database.run(
            """
            CREATE FUNCTION public.hang() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN PERFORM pg_sleep_for('1 hour'); RETURN NEW; END$$;
            CREATE TRIGGER hang BEFORE INSERT ON analytics.bought FOR EACH ROW EXECUTE FUNCTION public.hang()
            """
        )
        let events = (0..<10).map { Self.bought($0, "") } + (10..<20).map(Self.seen)
        let outcome = await fixture.tracker.deliver(try fixture.delivery(events))
        #expect(outcome.retry?.positions == Array(0..<10))
        let stuck = try #require(outcome.retry?.stuck)
        #expect(stuck.map(\.positions) == [Array(0..<10)])
        #expect(stuck.map(\.reason.code) == [.timeout])
        #expect(stuck.allSatisfy { $0.isWholeName })
        #expect(try await fixture.count("analytics.seen") == 10)
    }

    @Test(
        "a row that does not answer is stuck alone, and a table that answers slowly is not stuck: all others are delivered",
        arguments: [["hang"], []]
    )
    func slowRows(hanging: [String]) async throws {
        let fixture = try await PostgresFixture(Self.plan)
        try await fixture.database.run(
            """
            CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    PERFORM pg_sleep_for(CASE NEW.state WHEN 'hang' THEN '1 hour' ELSE '20 ms' END::interval);
                    RETURN NEW;
                END
            $$;
            CREATE TRIGGER wait BEFORE INSERT ON analytics.bought FOR EACH ROW EXECUTE FUNCTION public.wait()
            """
        )
        let tracker = try await fixture.startedTracker(deliveryTimeout: .seconds(8))
        // Far more than the time of one attempt.
        var events = (0..<300).map { Self.bought($0, "") }
        for state in hanging { events[7] = Self.bought(7, state) }
        var left = Array(events.indices)
        var stuck: [DeliveryOutcome.Stuck] = []
        while !left.isEmpty, left != [7] {
            try Task.checkCancellation()
            // Another table's row is delivered with each attempt.
            let number = try await fixture.count("analytics.seen") + 1000
            let outcome = await tracker.deliver(try fixture.delivery(left.map { events[$0] } + [Self.seen(number)]))
            #expect(outcome.refusals == [])
            let retried = outcome.retry?.positions ?? []
            #expect(!retried.contains(left.count))
            stuck = outcome.retry?.stuck ?? []
            #expect(stuck.allSatisfy { !$0.isWholeName && $0.positions.allSatisfy { hanging != [] && left[$0] == 7 } })
            left = retried.map { left[$0] }
        }
        #expect(left == (hanging == [] ? [] : [7]))
        #expect(stuck.count == left.count)
        #expect(try await fixture.count("analytics.bought") == events.count - left.count)
        await tracker.stop()
    }

    @Test(
        "a table that raises the code of a time limit is stuck as a whole, however long each row takes",
        .promise("broken-table")
    )
    func raisedTimeLimit() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        try await fixture.database.run(
            """
            CREATE FUNCTION public.cancel() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF NEW.number = 0 THEN PERFORM pg_sleep_for('50 ms'); END IF;
                    RAISE EXCEPTION USING ERRCODE = 'query_canceled';
                END
            $$;
            CREATE TRIGGER cancel BEFORE INSERT ON analytics.bought FOR EACH ROW EXECUTE FUNCTION public.cancel()
            """
        )
        let events = (0..<5).map { Self.bought($0, "") } + (5..<10).map(Self.seen)
        let outcome = await fixture.tracker.deliver(try fixture.delivery(events))
        let stuck = try #require(outcome.retry?.stuck)
        #expect(stuck.map(\.positions) == [Array(0..<5)])
        #expect(stuck.allSatisfy { $0.isWholeName })
        #expect(try await fixture.count("analytics.seen") == 5)
    }

    @Test("if a connection answers but nothing is accepted, no event is stuck", .promise("outage"))
    func outage() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        try await fixture.database.run(
            """
            CREATE FUNCTION public.full() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END$$;
            CREATE TRIGGER full_1 BEFORE INSERT ON analytics.bought FOR EACH ROW EXECUTE FUNCTION public.full();
            CREATE TRIGGER full_2 BEFORE INSERT ON analytics.seen FOR EACH ROW EXECUTE FUNCTION public.full();
            """
        )
        for _ in 0..<2 {
            let outcome = await fixture.tracker.deliver(try fixture.delivery([Self.bought(1, ""), Self.seen(2)]))
            #expect(outcome.refusals == [])
            #expect(outcome.retry?.positions == nil)
            #expect(outcome.retry?.stuck.count == 0)
            #expect(outcome.retry?.reason.code == .unavailable)
        }
        try await fixture.database.run("DROP TRIGGER full_1 ON analytics.bought; DROP TRIGGER full_2 ON analytics.seen")
        #expect(await fixture.tracker.deliver(try fixture.delivery([Self.bought(1, ""), Self.seen(2)])).isDelivered)
    }

    @Test("a table whose columns have the names of the search's own variables is searched like any other")
    func names() async throws {
        let names = [
            "search", "places", "number", "first", "width", "moved", "total", "place", "state", "message", "rule",
        ]
        let fixture = try await PostgresFixture([event("Odd", names.map { property($0, .string) })])
        try await fixture.database.run("ALTER TABLE analytics.odd ADD CHECK (\"first\" <> 'bad')")
        let events = (0..<200).map { number in
            let fields = names.map { #""\#($0)":"\#($0 == "first" && number % 10 == 3 ? "bad" : "good")""# }
            return #"{"id":"\#(id(number))","name":"Odd","payload":{\#(fields.joined(separator: ","))}}"#
        }
        // The second time, the others are there already.
        for _ in 0..<2 {
            let outcome = await fixture.tracker.deliver(try fixture.delivery(events))
            #expect(outcome.refusals.map(\.position) == (0..<20).map { 10 * $0 + 3 })
            #expect(outcome.retry == nil)
            #expect(try await fixture.count("analytics.odd") == 180)
        }
    }
}
