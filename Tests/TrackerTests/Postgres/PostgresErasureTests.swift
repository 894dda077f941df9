import EventModel
import EventValidation
import Logging
import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: erasing people", .timeLimit(.minutes(5)))
struct PostgresErasureTests {
    private static let receipt = "00000000-0000-4000-8000-000000000001"
    private static let columns = "id, occurred_at, received_at, user_id, anonymous_id"

    private let fixture: PostgresFixture
    private let request: Timestamp

    init() async throws {
        fixture = try await PostgresFixture([event("Bought"), event("Seen")])
        request = try #require(Timestamp("2026-11-05T12:00:00Z"))
        // A table with partitions, which no event of the plan has.
        try await fixture.database.run(
            """
            CREATE SCHEMA IF NOT EXISTS analytics_partitions;
            CREATE TABLE analytics.gone (LIKE analytics.seen, PRIMARY KEY (occurred_at, id)) PARTITION BY RANGE (occurred_at);
            CREATE TABLE analytics_partitions.gone_all PARTITION OF analytics.gone
                FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
            CREATE TABLE analytics.of_somebody (id uuid, user_id text);
            INSERT INTO analytics.of_somebody VALUES (gen_random_uuid(), 'ada');
            """
        )
    }

    /// Stores the same rows in all tables, received in the order of their numbers, from 11:00:01 on.
    private func insert(_ rows: [(user: String?, device: String?)], received: String = "2026-11-05 11:00:00+00")
        async throws
    {
        let values = rows.enumerated().map { number, row in
            let (user, device) = (row.user.map { "'\($0)'" } ?? "NULL", row.device.map { "'\($0)'" } ?? "NULL")
            return
                "(gen_random_uuid(), now(), '\(received)'::timestamptz + interval '\(number + 1) s', \(user), \(device))"
        }
        for table in ["bought", "seen", "gone"] {
            try await fixture.database.run(
                "INSERT INTO analytics.\(table) (\(Self.columns)) VALUES \(values.joined(separator: ", "))"
            )
        }
    }

    /// The users and the devices of a table's rows, in the order in which they were received.
    private func rows(_ table: String) async throws -> [String] {
        try await fixture.database.run(
            "SELECT coalesce(user_id, '-'), coalesce(anonymous_id, '-') FROM analytics.\(table) ORDER BY received_at"
        )
    }

    private func erasure(_ users: [String], _ devices: [String] = []) -> ErasureRequest {
        ErasureRequest(
            receipt: Self.receipt,
            users: users,
            anonymousIDs: devices,
            requestedAt: request,
            mode: .delete
        )
    }

    @Test("what was received before the request is erased from every table, and counted once over several runs")
    func tables() async throws {
        try await insert([("ada", "d1"), (nil, "d1"), ("bob", "d1"), ("bob", nil), (nil, "d2"), (#"o''"\x"#, nil)])
        try await insert([("ada", "d1"), (nil, "d1")], received: "2026-11-05 12:00:00+00")
        let people = erasure(["ada", #"o'"\x"#], ["d1"])
        let expected = ["analytics.bought", "analytics.gone", "analytics.seen"].map {
            ErasedEvents(place: $0, count: 3)
        }
        #expect(Set(try await fixture.tracker.count(people)) == Set(expected))
        for _ in 0..<2 {
            #expect(try await fixture.tracker.erase(people) == expected)
            for table in ["bought", "seen", "gone"] {
                #expect(try await rows(table) == ["bob|d1", "bob|-", "-|d2", "ada|d1", "-|d1"], "\(table)")
            }
        }
        #expect(try await fixture.tracker.count(people) == [])
        #expect(try await fixture.count("analytics.of_somebody") == 1)
        let parts =
            "SELECT count(*) > 2, count(*) = count(vacuumed_at), count(*) FILTER (WHERE table_name = 'gone_all')"
        #expect(try await fixture.database.run("\(parts) FROM analytics._sluice_erased") == ["t|t|1"])
    }

    @Test("a device of several users is shared, whichever tables they are in")
    func shared() async throws {
        try await insert([("ada", "own"), ("ada", "both"), (nil, "of nobody")])
        try await fixture.database.run(
            "INSERT INTO analytics.seen (\(Self.columns)) VALUES (gen_random_uuid(), now(), now(), 'bob', 'both')"
        )
        let devices = try await fixture.tracker.devices(of: ["ada"]).sorted { $0.anonymousID < $1.anonymousID }
        #expect(devices.map(\.anonymousID) == ["both", "own"])
        #expect(devices.map(\.isShared) == [true, false])
        #expect(try await fixture.tracker.devices(of: ["nobody"]) == [])
    }

    @Test("refused records are erased by their key, value or headers, and no others")
    func refused() async throws {
        let start =
            "INSERT INTO analytics._sluice_refused (loader, tracker, cluster, topic, partition, record_offset, key, value, headers, refused_at)"
        let records = [
            #"'ada'::bytea, '{}'::bytea, '[]'"#, #"'x', '{"user":"ada"}'::bytea, '[]'"#,
            #"'x', '{'::bytea, '[{"name":"ce_subject","value":"ada"}]'"#, #"NULL, NULL, NULL"#,
            #"'adam'::bytea, '{"user":"adam"}'::bytea, '[{"name":"ada","value":"x"}]'"#,
        ]
        let values = records.enumerated().map {
            "('l', 'postgres', 'c', 't', 0, \($0), \($1), '2026-11-05 11:00:00+00')"
        }
        try await fixture.database.run("\(start) VALUES \(values.joined(separator: ", "))")
        let expected = [ErasedEvents(place: "analytics._sluice_refused", count: 3)]
        #expect(try await fixture.tracker.count(erasure(["ada"])) == expected)
        #expect(try await fixture.tracker.erase(erasure(["ada"])) == expected)
        let left = try await fixture.database.run("SELECT record_offset FROM analytics._sluice_refused ORDER BY 1")
        #expect(left == ["3", "4"])
    }

    @Test("people are found by their tombstones, and stored tombstones keep the latest request")
    func tombstones() async throws {
        let key = try #require(HashKey(Array("0123456789abcdef".utf8)))
        func tombstone(_ id: String, _ subject: Tombstone.Subject, _ time: Timestamp) -> Tombstone {
            Tombstone(of: id, subject, requestedAt: time, key: key)
        }
        try await insert([("ada", "d1"), ("bob", "d2"), (nil, "d3"), (nil, "d4")])
        let people = [
            tombstone("ada", .user, request), tombstone("d2", .anonymous, request),
            tombstone("d3", .anonymous, request),
        ]
        let found = try await fixture.tracker.identifiers(of: Tombstones(people, key: key))
        #expect(Set(found) == [FoundIdentifier(.user, "ada"), FoundIdentifier(.anonymous, "d3")])

        #expect(try await fixture.tracker.storedTombstones() == [])
        let later = Timestamp(microseconds: request.microseconds + 1)
        try await fixture.tracker.store([tombstone("ada", .user, later)], ofReceipt: Self.receipt)
        try await fixture.tracker.store(people, ofReceipt: Self.receipt)
        let stored = try await fixture.tracker.storedTombstones()
        #expect(Set(stored.map(\.hash)) == Set(people.map(\.hash)))
        #expect(stored.first { $0.subject == .user }?.requestedAt.microseconds == later.microseconds)
    }

    @Test("rows of a transaction that is open when the erasure begins are erased, too")
    func openTransaction() async throws {
        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run(
            """
            BEGIN; INSERT INTO analytics.seen (\(Self.columns))
            VALUES (gen_random_uuid(), now(), '2026-11-05 11:00:00+00', 'ada', NULL) RETURNING user_id;
            """
        )
        let erased = try await withThrowingTaskGroup(of: [ErasedEvents].self) { group in
            group.addTask { try await fixture.tracker.erase(erasure(["ada"])) }
            try await fixture.database.waitForSessions(1, waitingFor: "relation")
            try session.run("COMMIT; SELECT 1;")
            return try await group.next() ?? []
        }
        try session.close()
        #expect(erased == [ErasedEvents(place: "analytics.seen", count: 1)])
        #expect(try await rows("seen") == [])
    }

    @Test("a database without the migrations has no tombstones, and nothing is erased from it")
    func notMigrated() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        try await database.run("CREATE SCHEMA analytics")
        let tracker = PostgresTracker(PostgresConfiguration(connection: database.url), logger: Logger(label: "test"))
        #expect(try await tracker.storedTombstones() == [])
        let error = await #expect(throws: TrackerError.self) { try await tracker.erase(erasure(["ada"])) }
        #expect(error?.code == .notPrepared)
    }
}
