import EventSchema
import EventValidation
import Logging
import PipelineTestSupport
import SluicePostgres
import Synchronization
import TestPromises
import TestSupport
import Testing
import TrackerKit

/// States of a database in which rows are not stored, or do not stay, although no column and no privilege is missing.
@Suite("PostgreSQL: conditions of storage", .timeLimit(.minutes(5)))
struct PostgresConditionTests {
    private static let plan = ["Alpha", "Bought"].map { event($0, [property("number", .integer)]) }

    private func tracker(_ fixture: PostgresFixture, _ log: RecordingLog, role: String = LoaderRole.name)
        -> PostgresTracker
    {
        PostgresTracker(
            PostgresConfiguration(connection: fixture.database.url(role: role)),
            logger: log.logger
        )
    }

    private func problems(_ tracker: PostgresTracker, _ fixture: PostgresFixture) async -> [String] {
        await tracker.problems(in: PipelineOutline(catalog: fixture.catalog, hasJournal: true)).map(\.message)
    }

    private func delivery(_ numbers: Range<Int>, _ fixture: PostgresFixture) throws -> Delivery {
        try fixture.delivery(numbers.map { #"{"id":"\#(id($0))","name":"Bought","payload":{"number":\#($0)}}"# })
    }

    /// The statements that problems recommend.
    private func remedies(_ problems: [String]) throws -> String {
        try problems.map { String(try #require($0.split(separator: "run: ").dropFirst().first, "\($0)")) }
            .joined(separator: "\n")
    }

    @Test(
        "row-level security without a policy for inserts is a problem, and the recommended policy solves it",
        .promise("unfit-database")
    )
    func rowSecurity() async throws {
        let fixture = try await LoaderRole.fixture(Self.plan)
        try await fixture.database.run(
            """
            ALTER TABLE analytics.bought ENABLE ROW LEVEL SECURITY;
            CREATE POLICY readers ON analytics.bought FOR SELECT USING (true);
            CREATE POLICY others ON analytics.bought FOR INSERT TO postgres WITH CHECK (true)
            """
        )
        let log = RecordingLog()
        let tracker = tracker(fixture, log)
        try await tracker.start(for: fixture.catalog)
        #expect(
            log.all.contains { $0.contains("A table accepts no rows") && $0.contains("CREATE POLICY") },
            "\(log.all)"
        )
        let found = await problems(tracker, fixture)
        #expect(found.count == 1)
        #expect(found.first?.contains(#"row-level security of the table "analytics"."bought""#) == true, "\(found)")
        try await fixture.database.run(try remedies(found))
        #expect(await problems(tracker, fixture) == [])
        #expect(await tracker.deliver(try delivery(0..<4, fixture)).isDelivered)
        // Also if some of the rows are there already.
        #expect(await tracker.deliver(try delivery(2..<6, fixture)).isDelivered)
        #expect(try await fixture.count("analytics.bought") == 6)
        await tracker.stop()
    }

    @Test(
        "a table without a partition for the present time is a problem, unless it has a default partition",
        .promise("broken-table")
    )
    func missingPartition() async throws {
        let fixture = try await LoaderRole.fixture(Self.plan)
        try await fixture.database.run(
            """
            CREATE TABLE analytics.parts (LIKE analytics.bought INCLUDING DEFAULTS) PARTITION BY RANGE (occurred_at);
            ALTER TABLE analytics.parts ADD PRIMARY KEY (id, occurred_at);
            DROP TABLE analytics.bought;
            ALTER TABLE analytics.parts RENAME TO bought;
            GRANT INSERT, SELECT (id, occurred_at) ON analytics.bought TO \(LoaderRole.name);
            \(LoaderRole.recentIDGrants)
            """
        )
        let tracker = tracker(fixture, RecordingLog())
        func isNamed() async throws -> Bool {
            let found = await problems(tracker, fixture)
            #expect(found.count <= 1)
            #expect(found.allSatisfy { $0.contains("no partition for the present time") }, "\(found)")
            return !found.isEmpty
        }
        #expect(try await isNamed())
        try await fixture.database.run(
            """
            CREATE TABLE analytics.past PARTITION OF analytics.bought FOR VALUES FROM (MINVALUE) TO ('2024-01-01');
            CREATE TABLE analytics.future PARTITION OF analytics.bought FOR VALUES FROM ('2999-01-01') TO (MAXVALUE)
            """
        )
        #expect(try await isNamed())
        try await fixture.database.run(
            """
            CREATE TABLE analytics.present PARTITION OF analytics.bought
                FOR VALUES FROM ('2024-01-01') TO ('2999-01-01')
            """
        )
        #expect(try await !isNamed())
        try await fixture.database.run(
            "DROP TABLE analytics.present; CREATE TABLE analytics.others PARTITION OF analytics.bought DEFAULT"
        )
        let found = await problems(tracker, fixture)
        #expect(found.count == 1 && found[0].contains("has the default partition"), "\(found)")
        await tracker.stop()
    }

    @Test(
        "an UNLOGGED table, partition or checkpoint table is a problem, because a crash empties it",
        .promise("unfit-database")
    )
    func unlogged() async throws {
        let fixture = try await LoaderRole.fixture(Self.plan)
        try await fixture.database.run(
            """
            ALTER TABLE analytics.alpha SET UNLOGGED;
            ALTER TABLE analytics._sluice_checkpoints SET UNLOGGED;
            CREATE TABLE analytics.parts (LIKE analytics.bought INCLUDING ALL) PARTITION BY HASH (id);
            CREATE UNLOGGED TABLE analytics.part PARTITION OF analytics.parts FOR VALUES WITH (MODULUS 1, REMAINDER 0);
            DROP TABLE analytics.bought;
            ALTER TABLE analytics.parts RENAME TO bought;
            GRANT INSERT, SELECT (id) ON analytics.bought TO \(LoaderRole.name)
            """
        )
        let log = RecordingLog()
        let tracker = tracker(fixture, log)
        try await tracker.start(for: fixture.catalog)
        #expect(log.all.filter { $0.contains("loses them if PostgreSQL crashes") }.count == 2)
        let found = await problems(tracker, fixture)
        #expect(
            found.map { $0.prefix { $0 != "," } } == [
                #"The table "analytics"."alpha""#, #"The table "analytics"."bought""#,
                #"The table "analytics"."_sluice_checkpoints""#,
            ]
        )
        // Rows are stored all the same.
        #expect(await tracker.deliver(try delivery(0..<4, fixture)).isDelivered)
        try await fixture.database.run(
            """
            ALTER TABLE analytics.alpha SET LOGGED; ALTER TABLE analytics._sluice_checkpoints SET LOGGED;
            ALTER TABLE analytics.part SET LOGGED
            """
        )
        #expect(await problems(tracker, fixture) == [])
        await tracker.stop()
    }

    @Test("settings of the database that change what the server prints do not make tables look wrong")
    func printing() async throws {
        let fixture = try await LoaderRole.fixture(Self.plan)
        let name = fixture.database.name
        try await fixture.database.run(
            """
            ALTER DATABASE \(name) SET quote_all_identifiers = on; ALTER DATABASE \(name) SET DateStyle = 'German';
            ALTER DATABASE \(name) SET IntervalStyle = 'sql_standard'; ALTER DATABASE \(name) SET bytea_output = 'escape';
            ALTER DATABASE \(name) SET extra_float_digits = -15; ALTER DATABASE \(name) SET search_path = '';
            ALTER DATABASE \(name) SET default_transaction_read_only = on;
            ALTER DATABASE \(name) SET default_transaction_isolation = 'serializable'
            """
        )
        let tracker = tracker(fixture, RecordingLog())
        try await tracker.start(for: fixture.catalog)
        #expect(await problems(tracker, fixture) == [])
        #expect(await tracker.deliver(try delivery(0..<4, fixture)).isDelivered)
        #expect(await tracker.deliver(try delivery(2..<6, fixture)).isDelivered)
        await tracker.stop()
    }

    @Test(
        "a standby is named as the reason, by the start, by check and by migrate, and its promotion ends it",
        .promise("unfit-database")
    )
    func standby() async throws {
        let server = try await PrivatePostgres()
        let fixture = try await PostgresFixture(Self.plan, in: try await server.makeDatabase())
        await fixture.tracker.stop()
        try await server.stopFast()
        try await server.start(asStandby: true)
        let tracker = tracker(fixture, RecordingLog(), role: "postgres")
        let error = await #expect(throws: TrackerError.self) { try await tracker.start(for: fixture.catalog) }
        #expect(error?.code == .misconfigured)
        #expect(
            error?.message.hasPrefix("The server is a standby, which accepts no writes; connect to the primary") == true
        )
        #expect(await problems(tracker, fixture).first == error?.message)
        // A server that becomes a standby while the tracker runs.
        let outcome = await tracker.deliver(try delivery(0..<4, fixture))
        #expect(outcome.retry?.reason.message.contains("let the role in") == false, "\(outcome)")
        let migrator = PostgresMigrator(PostgresConfiguration(connection: fixture.database.url))
        let grown = TrackingPlan(events: Self.plan + [event("Seen")])
        let refusal = await #expect(throws: TrackerError.self) {
            try await migrator.migrate(grown, applying: Migration.builtIn)
        }
        #expect(refusal?.message.contains("connect to the primary") == true, "\(String(describing: refusal))")
        try await fixture.database.run("SELECT pg_promote()")
        try await tracker.start(for: fixture.catalog)
        #expect(await tracker.deliver(try delivery(0..<4, fixture)).isDelivered)
        await tracker.stop()
    }

    @Test("refused rows are logged with their table and SQLSTATE, and without a value")
    func refusals() async throws {
        let fixture = try await LoaderRole.fixture(Self.plan)
        try await fixture.database.run("ALTER TABLE analytics.bought ADD CHECK (number <> 7)")
        let log = RecordingLog()
        let tracker = tracker(fixture, log)
        try await tracker.start(for: fixture.catalog)
        #expect(await tracker.deliver(try delivery(5..<9, fixture)).refusals.map(\.position) == [2])
        let lines = log.all.filter { $0.hasPrefix("PostgreSQL refused rows.") }
        #expect(
            lines == [
                #"PostgreSQL refused rows. events=1 sqlState=23514 table="analytics"."bought" tracker=postgres"#
            ]
        )
        await tracker.stop()
    }

    @Test("an event with more properties than a table has columns is refused with advice")
    func columns() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let wide = event("Wide", (0..<1_600).map { property("p\($0)", .boolean) })
        let migrator = PostgresMigrator(PostgresConfiguration(connection: database.url))
        let error = await #expect(throws: TrackerError.self) {
            try await migrator.migrate(TrackingPlan(events: [wide]), applying: Migration.builtIn)
        }
        #expect(error?.message.contains("54011") == true)
        #expect(error?.message.contains("one property of type 'object'") == true, "\(String(describing: error))")
    }

    @Test("the role's password and the connection are read again for each connection")
    func rotation() async throws {
        let server = try await PrivatePostgres()
        let fixture = try await PostgresFixture(Self.plan, in: try await server.makeDatabase())
        try await fixture.database.run(
            "CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'one'; CREATE ROLE other LOGIN SUPERUSER"
        )
        let secrets = Secrets(connection: fixture.database.url(role: "guarded"), password: "one")
        var configuration = PostgresConfiguration(connection: "host=unused", password: "unused")
        configuration.readConnection = { try secrets.connection() }
        configuration.readPassword = { secrets.password }
        let tracker = PostgresTracker(configuration, logger: Logger(label: "test"))
        try await tracker.start(for: fixture.catalog)
        try await fixture.database.run(
            """
            ALTER ROLE guarded PASSWORD 'two';
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guarded'
            """
        )
        // The connection is lost, and the next one needs the new password.
        var outcome = await tracker.deliver(try delivery(0..<2, fixture))
        if outcome.retry?.reason.code == .unavailable { outcome = await tracker.deliver(try delivery(0..<2, fixture)) }
        #expect(outcome.retry?.reason.code == .misconfigured, "\(outcome)")
        secrets.set(password: "two")
        #expect(await tracker.deliver(try delivery(0..<2, fixture)).isDelivered)
        try await fixture.database.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guarded'; DROP ROLE guarded"
        )
        secrets.set(connection: nil)
        outcome = await tracker.deliver(try delivery(2..<4, fixture))
        if outcome.retry?.reason.code == .unavailable { outcome = await tracker.deliver(try delivery(2..<4, fixture)) }
        #expect(outcome.retry?.reason.message == "The secret is missing.")
        secrets.set(connection: fixture.database.url(role: "other"))
        #expect(await tracker.deliver(try delivery(2..<4, fixture)).isDelivered)
        await tracker.stop()
    }
}

/// Secrets that a test changes.
private final class Secrets: Sendable {
    private struct Missing: Error, CustomStringConvertible {
        let description = "The secret is missing."
    }

    private let values: Mutex<(connection: String?, password: String)>

    init(connection: String, password: String) {
        values = Mutex((connection, password))
    }

    func connection() throws -> String {
        guard let connection = values.withLock(\.connection) else { throw Missing() }
        return connection
    }

    var password: String { values.withLock(\.password) }

    func set(connection: String?) { values.withLock { $0.connection = connection } }

    func set(password: String) { values.withLock { $0.password = password } }
}
