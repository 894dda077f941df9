import EventModel
import EventSchema
import EventValidation
import Logging
import ServerTestSupport
import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: anonymising people", .timeLimit(.minutes(5)))
struct PostgresAnonymisingTests {
    private static let receipt = "00000000-0000-4000-8000-000000000001"
    /// What must be left nowhere: it is part of each identifier, and of each value that is removed and can contain it.
    private static let canary = "CANARY"

    /// A property with the SQL of a value, and whether its column keeps it.
    private struct Case {
        let property: PropertyDefinition
        let value: String
        let isKept: Bool

        init(
            _ name: String,
            _ type: PropertyType,
            _ value: String,
            isKept: Bool,
            required: Bool = true,
            _ edit: (inout PropertyDefinition) -> Void = { _ in }
        ) {
            var edited = TrackerTests.property(name, type, required: required)
            edit(&edited)
            property = edited
            self.value = value
            self.isKept = isKept
        }
    }

    private static let size = property("size", .string)
    private static var secret: PropertyDefinition {
        var secret = property("secret", .string)
        secret.sensitivity = .hash
        return secret
    }
    private static var item: PropertyDefinition { property("", .string) }
    private static var open: PropertyDefinition { property("", .object) }

    /// A property of each kind.
    private static let cases = [
        Case("A Text", .string, "'kept'", isKept: true),
        Case("count", .integer, "7", isKept: true),
        Case("ratio", .number, "1.5", isKept: true),
        Case("price", .decimal, "2.50", isKept: true),
        Case("isGift", .boolean, "true", isKept: true, required: false),
        Case("at", .timestamp, "'2026-11-01 00:00:00+00'", isKept: true),
        Case("day", .date, "'2026-11-01'", isKept: true),
        Case("cart", .uuid, "'00000000-0000-4000-8000-0000000000cc'", isKept: true),
        Case("closed", .object, #"'{"size":"kept"}'"#, isKept: true) { $0.properties = [size] },
        Case("texts", .array, #"'["kept"]'"#, isKept: true) { $0.items = item },
        Case("hashed", .string, "'CANARY'", isKept: false) { $0.sensitivity = .hash },
        Case("born", .integer, "1815", isKept: false) { $0.sensitivity = .trackers(["postgres"]) },
        Case("mail", .string, "'CANARY'", isKept: false, required: false) { $0.sensitivity = .trackers(["postgres"]) },
        Case("anything", .any, #"'"CANARY"'"#, isKept: false),
        Case("open", .object, #"'{"name":"CANARY"}'"#, isKept: false),
        Case("list", .array, #"'["CANARY"]'"#, isKept: false, required: false),
        Case("partly", .object, #"'{"size":"kept","secret":"CANARY"}'"#, isKept: false) {
            $0.properties = [size, secret]
        },
        Case("openItems", .array, #"'[{"name":"CANARY"}]'"#, isKept: false) { $0.items = open },
    ]

    private let fixture: PostgresFixture
    private let request: Timestamp

    init() async throws {
        request = try #require(Timestamp("2026-11-05T12:00:00Z"))
        var dropped = property("dropped", .string)
        dropped.sensitivity = .drop
        var elsewhere = event("Elsewhere", [property("note", .string)])
        elsewhere.trackers = ["console"]
        let bought = event("Bought", Self.cases.map(\.property) + [dropped], extra: true)
        fixture = try await PostgresFixture(
            [bought, event("Seen", [property("remark", .string, required: false)]), elsewhere],
            partitions: .month
        )
        try await fixture.database.run(
            """
            ALTER TABLE analytics.bought ADD dropped text NOT NULL, ADD of_earlier_plan jsonb,
                ADD loaded_at timestamptz NOT NULL DEFAULT '2020-01-01 00:00:00+00',
                ADD computed text GENERATED ALWAYS AS (upper(user_id)) STORED;
            CREATE TABLE analytics.elsewhere (LIKE analytics.seen, note text, PRIMARY KEY (id));
            CREATE TABLE analytics.gone (LIKE analytics.seen, note text NOT NULL,
                number bigint GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (id));
            CREATE TABLE analytics.keyed (LIKE analytics.seen, PRIMARY KEY (occurred_at, id, user_id));
            """
        )
    }

    private func erasure(_ users: [String], _ devices: [String] = []) -> ErasureRequest {
        ErasureRequest(
            receipt: Self.receipt,
            users: users,
            anonymousIDs: devices,
            requestedAt: request,
            mode: .anonymise(fixture.catalog.plan)
        )
    }

    /// Stores a row, whose values are the same for all people but the identifiers.
    private func insert(
        _ table: String,
        user: String?,
        device: String,
        _ more: [(column: String, value: String)] = [],
        received: String = "2026-11-05 11:00:00+00"
    ) async throws {
        let columns = "id, occurred_at, received_at, user_id, anonymous_id, session_id, context"
        // A partition of a new table contains the present time.
        let user = user.map { "'\($0)'" } ?? "NULL"
        let session = "'s-\(device)', '{\"ip\":\"\(device)\"}'"
        let values = "gen_random_uuid(), now(), '\(received)', \(user), '\(device)', \(session)"
        let names = [columns] + more.map { "\"\($0.column)\"" }
        try await fixture.database.run(
            "INSERT INTO analytics.\(table) (\(names.joined(separator: ", "))) "
                + "VALUES (\(([values] + more.map(\.value)).joined(separator: ", ")))"
        )
    }

    /// The columns and values of a row of `bought` besides the envelope.
    private func values(of person: String) -> [(column: String, value: String)] {
        let ofPlan: [(column: String, value: String)] = Self.cases.map { one in
            (SQLName.snakeCase(one.property.name), one.value.replacing(Self.canary, with: person))
        }
        return ofPlan + [
            ("extra", "'{\"name\":\"\(person)\"}'"), ("dropped", "'\(person)'"),
            ("of_earlier_plan", "'[\"\(person)\"]'"), ("loaded_at", "'2026-11-05 11:00:00+00'"),
        ]
    }

    /// The columns of the rows without a user and a device that have a value, for each row.
    private func filled(_ table: String) async throws -> [Set<String>] {
        let rows = try await fixture.database.run(
            """
            SELECT string_agg(key, ' ') FROM analytics.\(table) r, jsonb_each(to_jsonb(r)) f
            WHERE f.value <> 'null' AND user_id IS NULL AND anonymous_id IS NULL GROUP BY r.id
            """
        )
        return rows.map { Set($0.split(separator: " ").map(String.init)) }
    }

    /// Stores a person's events in all tables, another user's event, and a refused record.
    private func insertEvents(of user: String, on device: String) async throws {
        for owner in [user, nil] {
            try await insert("bought", user: owner, device: device, values(of: Self.canary))
            try await insert("seen", user: owner, device: device, [("remark", #"'"\#(Self.canary)"'"#)])
            try await insert("elsewhere", user: owner, device: device, [("note", "'kept'")])
            try await insert("gone", user: owner, device: device, [("note", "'\(Self.canary)'")])
        }
        try await insert("keyed", user: user, device: device)
        try await insert("bought", user: "bob", device: "d2", values(of: "bob"))
        try await fixture.database.run(
            """
            INSERT INTO analytics._sluice_refused
                (loader, tracker, cluster, topic, partition, record_offset, key, value, headers, refused_at)
            VALUES ('l', 'postgres', 'c', 't', 0, 0, '\(user)', '{}', '[]', '2026-11-05 11:00:00+00')
            """
        )
    }

    @Test(
        "rows keep what the plan describes and does not mark, in all kinds of columns and tables, and no dump has the rest",
        .promise("erased-person")
    )
    func columns() async throws {
        // As if an earlier plan had let the property be anything.
        try await fixture.database.run("ALTER TABLE analytics.seen ALTER remark TYPE jsonb USING to_jsonb(remark)")
        let (user, device) = ("\(Self.canary)-ada", "\(Self.canary)-d1")
        try await insertEvents(of: user, on: device)
        let others = "SELECT r::text FROM analytics.bought r WHERE user_id = 'bob'"
        let before = try await fixture.database.run(others)

        let anonymised = ["bought", "elsewhere", "gone", "seen"].map {
            ErasedEvents(place: "analytics.\($0)", count: 2, isAnonymised: true)
        }
        let deleted = ["keyed", "_sluice_refused"].map { ErasedEvents(place: "analytics.\($0)", count: 1) }
        try await fixture.database.run("ANALYZE")
        // Tables that become empty keep their statistics.
        let statistics = """
            SELECT count(*) > 0 FROM pg_stats WHERE tablename NOT IN ('keyed', '_sluice_refused')
                AND concat(most_common_vals, histogram_bounds, most_common_elems) LIKE '%\(Self.canary)%'
            """
        #expect(try await fixture.database.run(statistics) == ["t"])
        let person = erasure([user], [device])
        #expect(Set(try await fixture.tracker.count(person)) == Set(anonymised + deleted))
        for now in [anonymised + deleted, []] {
            let counts = try await fixture.tracker.erase(person)
            #expect(Set(counts.total) == Set(anonymised + deleted))
            #expect(Set(counts.now) == Set(now))
        }
        #expect(try await fixture.tracker.count(person) == [])

        let envelope: Set = ["id", "occurred_at", "received_at"]
        let kept = Self.cases.filter(\.isKept).map { SQLName.snakeCase($0.property.name) }
        #expect(try await filled("bought") == Array(repeating: envelope.union(kept).union(["loaded_at"]), count: 2))
        #expect(try await filled("seen") == [envelope, envelope])
        #expect(try await filled("elsewhere") == Array(repeating: envelope.union(["note"]), count: 2))
        #expect(try await filled("gone") == Array(repeating: envelope.union(["number"]), count: 2))
        #expect(try await fixture.count("analytics.keyed") == 0)
        #expect(try await fixture.database.run(others) == before)
        let values = kept.map { "\"\($0)\"" }.joined(separator: ", ")
        #expect(try await fixture.database.run("SELECT count(*) FROM analytics.bought GROUP BY \(values)") == ["3"])
        let defaults = "SELECT count(*) FROM analytics.bought WHERE loaded_at = '2020-01-01 00:00:00+00'"
        #expect(try await fixture.database.run(defaults) == ["2"])

        let dump = try await Command.run("pg_dump", [fixture.database.url])
        try #require(dump.status == 0)
        #expect(dump.text.contains("bob"))
        #expect(!dump.text.contains(Self.canary))
        #expect(try await fixture.database.run(statistics) == ["f"])
        let vacuumed = "SELECT count(*) = count(vacuumed_at) FROM analytics._sluice_erased"
        #expect(try await fixture.database.run(vacuumed) == ["t"])
    }

    @Test("what was received after the request stays, and a column stays NOT NULL where no row has to be without it")
    func limits() async throws {
        let required = """
            SELECT count(*) FROM pg_attribute WHERE attname IN ('hashed', 'born', 'dropped') AND attnotnull
                AND attrelid IN (SELECT relid FROM pg_partition_tree('analytics.bought'))
            """
        let before = try await fixture.database.run(required)
        #expect(before != ["0"])
        try await insert("seen", user: "ada", device: "d1")
        try await insert("seen", user: "ada", device: "d1", received: "2026-11-05 12:00:00+00")
        let expected = [ErasedEvents(place: "analytics.seen", count: 1, isAnonymised: true)]
        #expect(try await fixture.tracker.erase(erasure(["ada"])).total == expected)
        #expect(try await filled("seen").count == 1)
        #expect(try await fixture.database.run("SELECT user_id FROM analytics.seen WHERE user_id <> ''") == ["ada"])
        #expect(try await fixture.database.run(required) == before)

        try await insert("bought", user: "eve", device: "d2", values(of: "eve"))
        _ = try await fixture.tracker.erase(erasure(["eve"]))
        #expect(try await filled("bought").count == 1)
        #expect(try await fixture.database.run(required) == ["0"])
        // The tracker does not need the constraints.
        var configuration = PostgresConfiguration(connection: fixture.database.url)
        configuration.requiresEveryTable = true
        let tracker = PostgresTracker(configuration, logger: Logger(label: "test"))
        try await tracker.start(for: fixture.catalog)
        await tracker.stop()
    }
}
