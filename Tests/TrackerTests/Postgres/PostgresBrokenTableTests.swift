import EventJournal
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

/// A table that accepts no rows does not affect the rows of other tables.
@Suite("PostgreSQL: broken tables", .timeLimit(.minutes(5)))
struct PostgresBrokenTableTests {
    private static let plan = ["Alpha", "Bought", "Zeta"].map { event($0, [property("number", .integer)]) }
    private let journal = JournalID()

    /// A delivery of events of three tables in turn.
    private func delivery(_ fixture: PostgresFixture, from first: Int = 0, to sequence: UInt64 = 30) throws -> Delivery
    {
        let events = (0..<30).map { number in
            let name = ["Alpha", "Bought", "Zeta"][number % 3]
            return #"{"id":"\#(id(first + number))","name":"\#(name)","payload":{"number":\#(first + number)}}"#
        }
        return Delivery(
            [EventSlice(try fixture.batch(events))],
            checkpoint: Checkpoint(journal: journal, nextSequence: sequence)
        )
    }

    private static let bought = Array(stride(from: 1, to: 30, by: 3))

    @Test(
        "if one table is broken, the rows of the others are committed without the checkpoint, and its own are retried",
        .promise("broken-table"),
        arguments: [
            (
                "ALTER TABLE analytics.bought RENAME TO gone", "ALTER TABLE analytics.gone RENAME TO bought",
                "not-prepared"
            ),
            (
                "ALTER TABLE analytics.bought RENAME number TO old",
                "ALTER TABLE analytics.bought RENAME old TO number",
                "not-prepared"
            ),
            (
                "ALTER TABLE analytics.bought ALTER number TYPE boolean USING true",
                "ALTER TABLE analytics.bought ALTER number TYPE bigint USING 0", "not-prepared"
            ),
            (
                """
                ALTER TABLE analytics.bought ADD COLUMN more text; UPDATE analytics.bought SET more = '';
                ALTER TABLE analytics.bought ALTER more SET NOT NULL
                """,
                "ALTER TABLE analytics.bought DROP COLUMN more", "not-prepared"
            ),
            (
                "REVOKE INSERT ON analytics.bought FROM loader", "GRANT INSERT ON analytics.bought TO loader",
                "misconfigured"
            ),
            (
                """
                CREATE FUNCTION public.audit() RETURNS trigger LANGUAGE plpgsql AS
                    $$BEGIN INSERT INTO public.nowhere VALUES (1); RETURN NEW; END$$;
                CREATE TRIGGER audit BEFORE INSERT ON analytics.bought FOR EACH ROW EXECUTE FUNCTION public.audit()
                """,
                "DROP TRIGGER audit ON analytics.bought", "not-prepared"
            ),
        ]
    )
    func broken(breaks: String, mends: String, code: String) async throws {
        let fixture = try await LoaderRole.fixture(Self.plan)
        let tracker = try await fixture.startedTracker(connection: fixture.database.url(role: LoaderRole.name))
        #expect(try await tracker.checkpoint(ofJournal: journal) == nil)
        // Creates the staging tables, so that they exist when the table changes.
        #expect(await tracker.deliver(try delivery(fixture)).isDelivered)
        #expect(await tracker.deliver(try delivery(fixture, to: 31)).isDelivered)
        try await fixture.database.run(breaks)
        for first in [100, 200] {
            let outcome = await tracker.deliver(try delivery(fixture, from: first, to: 60))
            #expect(outcome.refusals == [])
            #expect(outcome.retry?.positions == Self.bought)
            #expect(outcome.retry?.reason.code.description == code)
            #expect(outcome.retry?.reason.isRetryable == false)
            #expect(outcome.retry?.reason.message.contains("\"bought\"") == true, "\(outcome)")
            #expect(try await fixture.database.run("SELECT next_sequence FROM analytics._sluice_checkpoints") == ["31"])
        }
        #expect(try await fixture.count("analytics.alpha") == 30)
        #expect(try await fixture.count("analytics.zeta") == 30)
        try await fixture.database.run(mends)
        for first in [100, 200] {
            var rest = try delivery(fixture, from: first, to: 60)
            // The first attempt may find an outdated staging table.
            for _ in 0..<2 where rest.count > 0 {
                let settlement = Settlement(of: rest, outcome: await tracker.deliver(rest))
                rest = settlement.retry ?? Delivery([])
            }
            #expect(rest.count == 0)
        }
        #expect(try await fixture.count("analytics.bought") == 30)
        #expect(try await fixture.database.run("SELECT next_sequence FROM analytics._sluice_checkpoints") == ["60"])
        await tracker.stop()
    }

    @Test("a locked table delays the other tables by only a few seconds", .promise("broken-table"))
    func locked() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        // A statement waits for a lock for at most a quarter of this.
        let tracker = try await fixture.startedTracker(deliveryTimeout: .seconds(20))
        #expect(try await tracker.checkpoint(ofJournal: journal) == nil)
        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run("BEGIN; LOCK TABLE analytics.bought; SELECT 1;")
        let outcome = await tracker.deliver(try delivery(fixture))
        #expect(outcome.retry?.positions == Self.bought)
        #expect(outcome.retry?.reason.code == .timeout)
        #expect(outcome.retry?.reason.isRetryable == true)
        #expect(try await fixture.count("analytics.alpha") == 10)
        #expect(try await fixture.count("analytics.zeta") == 10)
        try session.close()
        #expect(await tracker.deliver(try delivery(fixture)).isDelivered)
        #expect(try await fixture.count("analytics.bought") == 10)
    }

    @Test("a locked table delays the other tables by no more than the timeout for locks")
    func lockTimeout() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        // A quarter of the timeout for deliveries would be longer than the test may take.
        let tracker = try await fixture.startedTracker(deliveryTimeout: .seconds(7200), lockTimeout: .milliseconds(300))
        #expect(try await tracker.checkpoint(ofJournal: journal) == nil)
        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run("BEGIN; LOCK TABLE analytics.bought; SELECT 1;")
        let outcome = await tracker.deliver(try delivery(fixture))
        #expect(outcome.retry?.positions == Self.bought)
        #expect(try await fixture.count("analytics.alpha") == 10)
        try session.close()
        await tracker.stop()
    }

    @Test(
        "several locked tables delay the others by only a few seconds, with and without staging tables",
        .promise("broken-table"),
        arguments: [false, true]
    )
    func severalLocked(hasStaged: Bool) async throws {
        let names = ["Alpha", "Beta", "Delta", "Gamma", "Zeta"]
        let fixture = try await PostgresFixture(names.map { event($0, [property("number", .integer)]) })
        let tracker = try await fixture.startedTracker(deliveryTimeout: .seconds(8))
        func delivery(from first: Int) throws -> Delivery {
            try fixture.delivery(
                names.enumerated().map { number, name in
                    #"{"id":"\#(id(first + number))","name":"\#(name)","payload":{"number":\#(number)}}"#
                }
            )
        }
        if hasStaged {
            #expect(await tracker.deliver(try delivery(from: 0)).isDelivered)
            #expect(await tracker.deliver(try delivery(from: 0)).isDelivered)
        }
        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run(
            "BEGIN; LOCK TABLE analytics.alpha, analytics.beta, analytics.delta, analytics.gamma; SELECT 1;"
        )
        let outcome = await tracker.deliver(try delivery(from: 100))
        #expect(outcome.retry?.positions == Array(0..<4))
        #expect(outcome.retry?.reason.code == .timeout)
        #expect(try await fixture.count("analytics.zeta") == (hasStaged ? 2 : 1))
        try session.close()
        #expect(await tracker.deliver(try delivery(from: 100)).isDelivered)
        #expect(try await fixture.count("analytics.alpha") == (hasStaged ? 2 : 1))
    }

    @Test("refused rows of one table are found even if another table is broken")
    func withRefusals() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        #expect(try await fixture.tracker.checkpoint(ofJournal: journal) == nil)
        try await fixture.database.run(
            "DROP TABLE analytics.bought; ALTER TABLE analytics.zeta ADD CHECK (number <> 5)"
        )
        let outcome = await fixture.tracker.deliver(try delivery(fixture))
        #expect(outcome.refusals.map(\.position) == [5])
        #expect(outcome.retry?.positions == Self.bought)
        #expect(try await fixture.count("analytics.alpha") == 10)
        #expect(try await fixture.count("analytics.zeta") == 9)
    }

    @Test("if every table is broken, the whole delivery is retried")
    func all() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        #expect(try await fixture.tracker.checkpoint(ofJournal: journal) == nil)
        try await fixture.database.run("DROP TABLE analytics.alpha, analytics.bought, analytics.zeta")
        let outcome = await fixture.tracker.deliver(try delivery(fixture))
        #expect(outcome.retry?.positions == Array(0..<30))
        #expect(outcome.retry?.reason.code == .notPrepared)
    }
}

/// A role that has only the documented privileges.
enum LoaderRole {
    static let name = "loader"
    /// The statements that grant what tables whose key contains the time need besides.
    static let recentIDGrants = """
        GRANT SELECT, INSERT ON analytics._sluice_recent_ids TO loader;
        GRANT TRUNCATE ON analytics._sluice_recent_ids_0, analytics._sluice_recent_ids_1 TO loader;
        GRANT SELECT, UPDATE ON analytics._sluice_recent_ids_current TO loader;
        """
    /// The statements that grant what `sluice load` needs besides.
    static let partitionGrants = """
        GRANT SELECT, INSERT, UPDATE ON analytics._sluice_loader_offsets TO loader;
        GRANT SELECT, INSERT, UPDATE, DELETE ON analytics._sluice_refused TO loader;
        GRANT INSERT ON analytics._sluice_accepted_losses TO loader;
        \(recentIDGrants)
        """

    /// Creates a migrated database in which the role has its privileges.
    static func fixture(
        _ events: [EventDefinition],
        partitions: TablePartitioning = .none
    ) async throws -> PostgresFixture {
        let fixture = try await PostgresFixture(events, partitions: partitions)
        let tables = events.map { "analytics.\($0.name.lowercased())" }.joined(separator: ", ")
        try await fixture.database.run(
            """
            DO $$BEGIN CREATE ROLE loader LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN END$$;
            REVOKE ALL ON DATABASE \(fixture.database.name) FROM PUBLIC;
            GRANT CONNECT, TEMPORARY ON DATABASE \(fixture.database.name) TO loader;
            GRANT USAGE ON SCHEMA analytics TO loader;
            GRANT INSERT, SELECT (id\(partitions == .none ? "" : ", occurred_at")) ON \(tables) TO loader;
            GRANT SELECT, INSERT, UPDATE ON analytics._sluice_checkpoints TO loader
            """
        )
        if partitions != .none { try await fixture.database.run(recentIDGrants) }
        return fixture
    }
}
