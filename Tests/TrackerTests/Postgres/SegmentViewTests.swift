import EventSchema
import Logging
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: views in Segment's form", .timeLimit(.minutes(5)))
struct SegmentViewTests {
    /// The columns that dbt packages for Segment's pages read.
    private static let pageColumns = [
        "id", "anonymous_id", "user_id", "received_at", "sent_at", "timestamp", "url", "path", "title", "search",
        "referrer", "context_campaign_source", "context_campaign_medium", "context_campaign_name",
        "context_campaign_term", "context_campaign_content", "context_ip", "context_user_agent",
    ]

    private static func plan(_ page: [PropertyDefinition]) -> TrackingPlan {
        TrackingPlan(
            events: [
                event("Item Sold", [property("quantity", .integer)]), event("It's \"Seen\""),
                event("identify", [property("email", .string, required: false)], extra: true),
                event("page", page, extra: true), event("screen", [property("name", .string, required: false)]),
                event("group", [property("groupId", .string)], extra: true), event("alias", extra: true),
            ]
        )
    }

    private static func tracker(_ database: TestDatabase, schema: String = "analytics") -> PostgresTracker {
        PostgresTracker(
            PostgresConfiguration(connection: database.url, schema: schema, partitions: .month),
            logger: Logger(label: "test")
        )
    }

    private static func request(_ plan: TrackingPlan) -> MigrationRequest {
        MigrationRequest(plan: plan, migrations: nil, role: nil, makesSegmentViews: true)
    }

    private static func columns(_ view: String, of database: TestDatabase) async throws -> [String] {
        try await database.run(
            """
            SELECT column_name FROM information_schema.columns WHERE table_schema = 'segment' AND table_name = '\(view)'
            ORDER BY ordinal_position
            """
        )
    }

    @Test("each view has its rows and Segment's columns, from the table's columns, extra and the context")
    func rows() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let plan = Self.plan([property("name", .string, required: false), property("url", .string, required: false)])
        let changes = try await Self.tracker(database).migrate(Self.request(plan))
        #expect(
            changes.suffix(5) == [
                "made the view segment.tracks", "made the view segment.identifies", "made the view segment.pages",
                "made the view segment.screens", "made the view segment.groups",
            ]
        )
        #expect(try await Self.tracker(database).migrate(Self.request(plan)) == [])
        let pages = Self.pageColumns + ["name"]
        #expect(try await Self.columns("pages", of: database) == pages)
        #expect(try await Self.columns("groups", of: database).last == "group_id")
        #expect(try await Self.columns("identifies", of: database).last == "email")

        let head = "(id, occurred_at, received_at, user_id, anonymous_id, context"
        let values = "(gen_random_uuid(), date_trunc('day', now()), now(), 'u', 'a'"
        try await database.run(
            """
            INSERT INTO analytics.page \(head), name, url, extra) VALUES
                \(values), '{"ip": "192.0.2.1", "userAgent": "Firefox", "campaign": {"source": "mail", "content": "top"},
                    "page": {"url": "of context", "path": "/c", "search": "?c"}}',
                    'Home', 'of column', '{"url": "of extra", "path": "/e", "title": "T"}'),
                \(values), NULL, NULL, NULL, '{"url": "of extra"}');
            INSERT INTO analytics.item_sold \(head), quantity) VALUES \(values), '{"ip": "192.0.2.2"}', 3);
            INSERT INTO analytics.it_s_seen \(head)) VALUES \(values), NULL);
            INSERT INTO analytics.identify \(head), email) VALUES \(values), NULL, 'e');
            INSERT INTO analytics.screen \(head), name) VALUES \(values), NULL, 'Main');
            INSERT INTO analytics."group" \(head), group_id) VALUES \(values), NULL, 'g');
            INSERT INTO analytics.alias \(head)) VALUES \(values), NULL)
            """
        )
        let page = try await database.run(
            """
            SELECT url, path, title, search, referrer, context_campaign_source, context_campaign_content, context_ip,
                context_user_agent, name, timestamp = date_trunc('day', now()), pg_typeof(id)
            FROM segment.pages ORDER BY url
            """
        )
        #expect(
            page == [
                "of column|/e|T|?c||mail|top|192.0.2.1|Firefox|Home|t|text", "of extra||||||||||t|text",
            ]
        )
        let tracks = try await database.run(
            "SELECT event, event_text, user_id, anonymous_id, context_ip FROM segment.tracks ORDER BY 1"
        )
        #expect(tracks == ["it_s_seen|It's \"Seen\"|u|a|", "item_sold|Item Sold|u|a|192.0.2.2"])
        let others = try await database.run(
            """
            SELECT email FROM segment.identifies UNION ALL SELECT name FROM segment.screens
            UNION ALL SELECT group_id FROM segment.groups
            """
        )
        #expect(others == ["e", "Main", "g"])
    }

    @Test("a view only gains columns at its end, so that views that depend on it stay, whatever becomes of the plan")
    func growth() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let tracker = Self.tracker(database)
        let name = property("name", .string, required: false)
        _ = try await tracker.migrate(Self.request(Self.plan([name])))
        try await database.run("CREATE VIEW own AS SELECT * FROM segment.pages")
        let first = property("aFirst", .integer, required: false)
        let url = property("url", .string, required: false)
        let grown = Self.plan([first, url, name])
        #expect(try await tracker.migrate(Self.request(grown)) == ["extended page", "made the view segment.pages"])
        #expect(try await Self.columns("pages", of: database) == Self.pageColumns + ["name", "a_first"])
        #expect(try await tracker.migrate(Self.request(grown)) == [])
        // The plan does not name the property any more, but the table has it, and so has the view.
        _ = try await tracker.migrate(Self.request(Self.plan([url])))
        #expect(try await Self.columns("pages", of: database) == Self.pageColumns + ["name", "a_first"])
        let last = property("last", .date, required: false)
        _ = try await tracker.migrate(Self.request(Self.plan([last])))
        #expect(try await Self.columns("pages", of: database) == Self.pageColumns + ["name", "a_first", "last"])
        #expect(try await database.run("SELECT count(*) FROM own") == ["0"])
    }

    @Test("the script makes the same views, and afterwards there is nothing to do")
    func script() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let tracker = Self.tracker(database)
        let request = Self.request(Self.plan([]))
        let statements = try await tracker.migrationStatements(request)
        #expect(statements.summary.hasSuffix(", and 5 views to make or extend; nothing was run"))
        try await database.run(statements.text)
        #expect(try await tracker.migrate(request) == [])
        #expect(try await tracker.migrationStatements(request).text.hasPrefix("-- Nothing to do"))
    }

    @Test(
        "something else with the name of a view is left as it is",
        arguments: ["TABLE segment.pages (a int)", "VIEW segment.pages AS SELECT 1 AS a"]
    )
    func foreign(relation: String) async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        try await database.run("CREATE SCHEMA segment; CREATE \(relation)")
        let error = await #expect(throws: TrackerError.self) {
            try await Self.tracker(database).migrate(Self.request(Self.plan([])))
        }
        #expect(error?.message.hasPrefix(#""segment"."pages" exists, and was not made by"#) == true)
        #expect(try await Self.columns("pages", of: database) == ["a"])
    }

    @Test("a property that is called extra is a column like any other")
    func extra() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let plan = TrackingPlan(events: [event("page", [property("extra", .string)])])
        #expect(try await Self.tracker(database).migrate(Self.request(plan)).last == "made the view segment.pages")
        #expect(try await Self.columns("pages", of: database) == Self.pageColumns + ["extra"])
    }

    @Test("the views of another schema are not replaced")
    func otherSchema() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        _ = try await Self.tracker(database).migrate(Self.request(Self.plan([])))
        await #expect(throws: TrackerError.self) {
            try await Self.tracker(database, schema: "other").migrate(Self.request(Self.plan([])))
        }
    }

    @Test("a query with constant bounds opens only the partitions within them")
    func pruning() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        _ = try await Self.tracker(database).migrate(Self.request(Self.plan([])))
        let locked = try await database.run(
            """
            BEGIN;
            SELECT format('EXPLAIN SELECT event FROM segment.tracks WHERE timestamp >= %L AND timestamp < %L',
                date_trunc('month', now(), 'UTC'), date_trunc('month', now(), 'UTC') + interval '1 day') \\gexec
            SELECT '=' || count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
                WHERE c.relnamespace = 'analytics_partitions'::regnamespace AND c.relkind = 'r';
            COMMIT
            """
        )
        #expect(locked.last == "=2")
    }
}
