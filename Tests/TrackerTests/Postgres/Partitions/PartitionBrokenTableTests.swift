import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: partitions and broken tables", .timeLimit(.minutes(5)))
struct PartitionBrokenTableTests {
    private static let breaking = (
        bought: "ALTER TABLE analytics.bought ALTER number TYPE text;",
        seen: "ALTER TABLE analytics.seen ALTER number TYPE text;"
    )

    @Test(
        "while a table accepts nothing, nothing is committed, unless its events are to be refused",
        .promise("loader-broken-table")
    )
    func brokenTable() async throws {
        let fixture = try await PartitionFixture("ALTER TABLE analytics.seen ALTER number TYPE text")
        _ = try await fixture.claim()
        let lines = (0..<6).map { Self.line($0, $0 % 2 == 0 ? "Bought" : "Seen") }
        func delivery(refusesBrokenEvents: Bool) throws -> PartitionDelivery {
            fixture.delivery(
                of: try fixture.base.delivery(lines),
                offsets: (0..<6).map(Int64.init),
                0..<6,
                refusesBrokenEvents: refusesBrokenEvents
            )
        }
        let outcome = await fixture.tracker.load(try delivery(refusesBrokenEvents: false))
        #expect(outcome.words == "broken")
        #expect(outcome.error?.message.contains(#""analytics"."seen""#) == true, "\(String(describing: outcome.error))")
        #expect(try await fixture.numbers() == [])
        #expect(try await fixture.stored() == ["0|1"])
        #expect(await fixture.tracker.load(try delivery(refusesBrokenEvents: true)).words == "committed 3, 3 broken")
        #expect(try await fixture.numbers() == [0, 2, 4])
        #expect(try await fixture.refused() == ["1|broken", "3|broken", "5|broken"])
        #expect(try await fixture.stored() == ["6|1"])
    }

    @Test("if no table accepts events, nothing is refused, because that is an outage", .promise("loader-broken-table"))
    func allBroken() async throws {
        let fixture = try await PartitionFixture(Self.breaking.bought + Self.breaking.seen)
        _ = try await fixture.claim()
        let lines = (0..<4).map { Self.line($0, $0 % 2 == 0 ? "Bought" : "Seen") }
        let both = fixture.delivery(
            of: try fixture.base.delivery(lines),
            offsets: (0..<4).map(Int64.init),
            0..<5,
            refused: [PartitionFixture.record(4, #"{"code":"invalid"}"#)],
            refusesBrokenEvents: true
        )
        #expect(await fixture.tracker.load(both).words == "broken")
        // The other table is broken, but the delivery has no event of it.
        let one = try fixture.delivery(0..<4, "Seen", refusesBrokenEvents: true)
        #expect(await fixture.tracker.load(one).words == "broken")
        #expect(try await fixture.refused() == [])
        #expect(try await fixture.stored() == ["0|1"])
    }

    @Test("events of a broken table are refused if another table is healthy, even if the delivery has no event of it")
    func otherIsHealthy() async throws {
        let fixture = try await PartitionFixture(Self.breaking.seen)
        _ = try await fixture.claim()
        let delivery = try fixture.delivery(0..<3, "Seen", refusing: [1], refusesBrokenEvents: true)
        #expect(await fixture.tracker.load(delivery).words == "committed 3, 2 broken")
        #expect(try await fixture.refused() == ["0|broken", "1|invalid", "2|broken"])
        #expect(try await fixture.stored() == ["3|1"])
    }

    @Test("events that the server refuses are no evidence that their table is healthy, but the schema is")
    func refusedElsewhere() async throws {
        let fixture = try await PartitionFixture(
            Self.breaking.seen + "ALTER TABLE analytics.bought ADD CHECK (number < 0)"
        )
        _ = try await fixture.claim()
        let delivery = fixture.delivery(
            of: try fixture.base.delivery([Self.line(0, "Bought"), Self.line(1, "Seen")]),
            offsets: [0, 1],
            0..<2,
            refusesBrokenEvents: true
        )
        #expect(await fixture.tracker.load(delivery).words == "committed 2, 1 broken")
        #expect(try await fixture.refused() == ["0|refused", "1|broken"])
    }

    @Test(
        "what the schema does not show is no table's fault, unless the server accepts other events meanwhile",
        .promise("loader-broken-table")
    )
    func withoutEvidence() async throws {
        // As after a function was dropped that the triggers of all tables call, and as in a tablespace that is full.
        for state in ["undefined_function", "disk_full", "ZZ123"] {
            let fixture = try await PartitionFixture(
                """
                CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS
                    $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '\(state)'; END$$;
                CREATE TRIGGER fail BEFORE INSERT ON analytics.bought FOR EACH ROW EXECUTE FUNCTION public.fail();
                CREATE TRIGGER fail BEFORE INSERT ON analytics.seen FOR EACH ROW EXECUTE FUNCTION public.fail();
                """
            )
            _ = try await fixture.claim()
            let early = await fixture.tracker.load(try fixture.delivery(0..<4, "Seen", acceptsOthers: true))
            guard case .broken(["seen"], acceptsOthers: true, _) = early else {
                Issue.record("\(state): \(early)")
                continue
            }
            let alone = try fixture.delivery(0..<4, "Seen", refusesBrokenEvents: true)
            #expect(await fixture.tracker.load(alone).words == "broken", "\(state)")
            #expect(try await fixture.refused() == [], "\(state)")
            // Another partition's events were accepted.
            _ = try await fixture.claim()
            let others = try fixture.delivery(0..<4, epoch: 2, "Seen", refusesBrokenEvents: true, acceptsOthers: true)
            #expect(await fixture.tracker.load(others).words == "committed 4, 4 broken", "\(state)")
            #expect(try await fixture.refused().count == 4, "\(state)")
            #expect(try await fixture.stored() == ["4|2"], "\(state)")
        }
    }

    @Test(
        "only the events of tables that have been broken for long enough are refused",
        .promise("loader-broken-table")
    )
    func otherBreaks() async throws {
        let fixture = try await PartitionFixture(Self.breaking.bought + Self.breaking.seen)
        _ = try await fixture.claim()
        let delivery = PartitionDelivery(
            partition: fixture.partition,
            epoch: 1,
            start: 0,
            end: 2,
            lastRecord: nil,
            events: try fixture.base.delivery([Self.line(0, "Bought"), Self.line(1, "Seen")]),
            refused: [],
            refusing: ["seen"],
            acceptsOthers: true,
            refuse: { position, _ in PartitionFixture.record(Int64(position), "{}") }
        )
        guard case .broken(let tables, let acceptsOthers, _) = await fixture.tracker.load(delivery) else {
            Issue.record("the events of the other table are refused")
            return
        }
        #expect(tables == ["bought", "seen"])
        #expect(acceptsOthers)
        #expect(try await fixture.refused() == [])
    }

    @Test("a missing privilege that every table needs is an outage")
    func commonPrivilege() async throws {
        let base = try await LoaderRole.fixture(PartitionFixture.plan)
        try await base.database.run(LoaderRole.partitionGrants)
        let fixture = try await PartitionFixture(in: base.database)
        let tracker = fixture.makeTracker(connection: fixture.database.url(role: LoaderRole.name))
        _ = try await fixture.claim(tracker)
        #expect(await tracker.load(try fixture.delivery(0..<5)).words == "committed 0")
        // The staging table, through which the duplicates would be skipped, cannot be created.
        try await fixture.database.run(
            """
            REVOKE TEMPORARY ON DATABASE \(fixture.database.name) FROM loader;
            UPDATE analytics._sluice_loader_offsets SET next_offset = 0;
            """
        )
        #expect(await tracker.load(try fixture.delivery(0..<10, refusesBrokenEvents: true)).words == "broken")
        #expect(try await fixture.refused() == [])
        #expect(try await fixture.stored() == ["0|1"])
        await tracker.stop()
    }

    private static func line(_ number: Int, _ name: String) -> String {
        #"{"id":"\#(id(number))","name":"\#(name)","payload":{"number":\#(number)}}"#
    }
}
