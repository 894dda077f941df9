import EventSchema
import EventValidation
import Logging
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: the roles of migrate --roles", .timeLimit(.minutes(5)))
struct DatabaseRoleTests {
    private static let page = event("page", extra: true)
    private static let sold = event("Item Sold", [property("number", .integer)])

    /// Roles belong to all databases of the server, so each test has a schema of its own.
    private let database: TestDatabase
    private var schema: String { database.name }

    init() async throws {
        database = try await PrivatePostgres.shared().makeDatabase()
    }

    private func tracker(as role: String = "postgres") -> PostgresTracker {
        PostgresTracker(
            PostgresConfiguration(connection: database.url(role: role), schema: schema, partitions: .month),
            logger: Logger(label: "test")
        )
    }

    private func request(_ events: EventDefinition...) -> MigrationRequest {
        MigrationRequest(
            plan: TrackingPlan(events: events),
            migrations: nil,
            role: nil,
            makesSegmentViews: true,
            makesRoles: true
        )
    }

    private func run(as role: String, _ sql: String) async throws -> [String] {
        try await database.run("SET ROLE \(schema)_\(role); \(sql)")
    }

    private func expectRefusal(as role: String, _ sql: String) async {
        let error = await #expect(throws: PrivatePostgres.Unavailable.self) { try await run(as: role, sql) }
        #expect(error?.description.contains("permission denied") == true, "\(sql)")
    }

    @Test("the owner owns everything, the loader can load, and the reader can only read")
    func roles() async throws {
        let changes = try await tracker().migrate(request(Self.page, Self.sold))
        #expect(changes.suffix(3) == ["owner", "loader", "reader"].map { "granted '\(schema)_\($0)' what it needs" })
        let foreign = try await database.run(
            """
            SELECT relname FROM pg_class WHERE relowner <> '\(schema)_owner'::regrole AND relkind IN ('r', 'p', 'v', 'S')
                AND relnamespace::regnamespace::text IN ('\(schema)', '\(schema)_partitions', 'segment')
            UNION ALL SELECT nspname FROM pg_namespace
                WHERE nspname LIKE '\(schema)%' AND nspowner <> '\(schema)_owner'::regrole
            UNION ALL SELECT proname FROM pg_proc
                WHERE pronamespace = '\(schema)'::regnamespace AND proowner <> '\(schema)_owner'::regrole
            """
        )
        #expect(foreign == [])

        let loader = tracker(as: schema + "_loader")
        let catalog = EventCatalog(plan: TrackingPlan(events: [Self.page, Self.sold]))
        try await loader.start(for: catalog)
        let validator = EventValidator(catalog: catalog)
        var body = #"{"name":"Item Sold","payload":{"number":7}}"#
        let batch = try body.withUTF8 { try validator.check(UnsafeRawBufferPointer($0), as: .lines) }.batch
        #expect(await loader.deliver(Delivery([EventSlice(try #require(batch))])).isDelivered)
        await loader.stop()

        #expect(try await run(as: "reader", "SELECT number FROM \(schema).item_sold") == ["7"])
        #expect(try await run(as: "reader", "SELECT event FROM segment.tracks") == ["item_sold"])
        await expectRefusal(as: "reader", "DELETE FROM \(schema).item_sold")
        await expectRefusal(as: "reader", "INSERT INTO \(schema).page DEFAULT VALUES")
        await expectRefusal(as: "reader", "SELECT FROM \(schema)._sluice_refused")
        await expectRefusal(as: "reader", "CREATE TABLE \(schema).mine ()")
        await expectRefusal(as: "loader", "DELETE FROM \(schema).item_sold")
        await expectRefusal(as: "loader", "SELECT number FROM \(schema).item_sold")
        let limits = try await database.run(
            "SELECT unnest(rolconfig) FROM pg_roles WHERE rolname LIKE '\(schema)\\_%' ORDER BY 1"
        )
        #expect(limits == ["idle_in_transaction_session_timeout=1min", "statement_timeout=5min"])
    }

    @Test("the owner runs the next migration, which changes no limit that an administrator has changed")
    func nextMigration() async throws {
        _ = try await tracker().migrate(request(Self.page))
        try await database.run("ALTER ROLE \(schema)_reader SET statement_timeout = '1h'")
        _ = try await tracker(as: schema + "_owner").migrate(request(Self.page, Self.sold))
        #expect(try await run(as: "reader", "SELECT count(*) FROM \(schema).item_sold") == ["0"])
        #expect(try await run(as: "reader", "SELECT count(*) FROM segment.tracks") == ["0"])
        let limits = try await database.run(
            "SELECT unnest(rolconfig) FROM pg_roles WHERE rolname = '\(schema)_reader' ORDER BY 1"
        )
        #expect(limits == ["idle_in_transaction_session_timeout=1min", "statement_timeout=1h"])
    }

    @Test("an administrator who is no superuser can make the roles, and migrate again")
    func administrator() async throws {
        let role = schema + "_dba"
        try await database.run("CREATE ROLE \(role) LOGIN CREATEROLE; ALTER DATABASE \(database.name) OWNER TO \(role)")
        _ = try await tracker(as: role).migrate(request(Self.page))
        _ = try await tracker(as: role).migrate(request(Self.page, Self.sold))
        #expect(try await run(as: "reader", "SELECT count(*) FROM \(schema).item_sold") == ["0"])
        #expect(try await run(as: "reader", "SELECT count(*) FROM segment.tracks") == ["0"])
    }

    @Test("the script grants what the migration grants")
    func script() async throws {
        let facts = """
            SELECT c.relname, c.relowner::regrole, c.relacl FROM pg_class c
            WHERE relnamespace::regnamespace::text IN ('\(schema)', '\(schema)_partitions', 'segment') AND relkind <> 'i'
            UNION ALL SELECT nspname, nspowner::regrole, nspacl FROM pg_namespace WHERE nspname LIKE '\(schema)%'
            ORDER BY 1
            """
        let statements = try await tracker().migrationStatements(request(Self.page, Self.sold))
        #expect(statements.summary.hasSuffix(", and roles to make; nothing was run"))
        try await database.run(statements.text)
        let byScript = try await database.run(facts)
        _ = try await tracker().migrate(request(Self.page, Self.sold))
        #expect(try await database.run(facts) == byScript)
        #expect(byScript.contains { $0.hasPrefix("item_sold|\(schema)_owner|") && $0.contains("_reader=r/") })
    }

    @Test("a schema whose name is too long for the names of roles is refused")
    func longSchema() async throws {
        let long = String(repeating: "s", count: 57)
        let tracker = PostgresTracker(
            PostgresConfiguration(connection: database.url, schema: long),
            logger: Logger(label: "test")
        )
        let error = await #expect(throws: TrackerError.self) { try await tracker.migrate(request(Self.page)) }
        #expect(error?.message.contains("--grant-to") == true)
    }
}
