import EventModel
import EventValidation
import Logging
import ServerTestSupport
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
        for now in [expected, []] {
            let counts = try await fixture.tracker.erase(people)
            #expect(counts.total == expected)
            #expect(counts.now == now)
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
        let devices = try await fixture.tracker.devices(of: [ExactText("ada")])
            .sorted { $0.anonymousID < $1.anonymousID }
        #expect(devices.map(\.anonymousID.text) == ["both", "own"])
        #expect(devices.map(\.isShared) == [true, false])
        #expect(try await fixture.tracker.devices(of: [ExactText("nobody")]) == [])
        // People who are erased together do not share a device with somebody else.
        let together = try await fixture.tracker.devices(of: Set(["ada", "bob"].map(ExactText.init)))
        #expect(Set(together.map(\.anonymousID.text)) == ["both", "own"])
        #expect(together.map(\.isShared) == [false, false])
        try await insert([("abe", "both")])
        let alphabetical = try await fixture.tracker.devices(of: Set(["aaa", "ada", "bob"].map(ExactText.init)))
        #expect(alphabetical.filter(\.isShared).map(\.anonymousID.text) == ["both"])
    }

    /// Stores refused records, given as SQL: key, value and headers.
    private func insertRefused(_ records: [String]) async throws {
        let values = records.enumerated().map {
            "('l', 'postgres', 'c', 't', 0, \($0), \($1), '2026-11-05 11:00:00+00')"
        }
        try await fixture.database.run(
            """
            INSERT INTO analytics._sluice_refused (loader, tracker, cluster, topic, partition, record_offset, key, value,
                headers, refused_at) VALUES \(values.joined(separator: ", "))
            """
        )
    }

    private func eraseRefused(_ request: ErasureRequest) async throws -> [String] {
        let before = Set(try await fixture.database.run("SELECT record_offset FROM analytics._sluice_refused"))
        let counts = try await fixture.tracker.count(request)
        #expect(try await fixture.tracker.erase(request).now == counts)
        let after = Set(try await fixture.database.run("SELECT record_offset FROM analytics._sluice_refused"))
        #expect(counts.map(\.count) == [before.count - after.count])
        return before.subtracting(after).sorted { $0.count == $1.count ? $0 < $1 : $0.count < $1.count }
    }

    @Test("refused records are erased by their identifiers, however these are spelled, and by their key and headers")
    func refused() async throws {
        try await insertRefused([
            #"'ada'::bytea, '{}'::bytea, '[]'"#, #"'x', '{"userId":"ada","anonymousId":7}'::bytea, NULL"#,
            #"'x', '{'::bytea, '[{"name":"ce_subject","value":"ada"}]'"#, #"NULL, NULL, NULL"#,
            #"'x', '{"userId":"\\u0061da"}'::bytea, '[]'"#, #"'x', '[{"userId":"ada"}]'::bytea, '[]'"#,
            // What PostgreSQL does not take as JSON.
            #"'x', '{"userId":"ada","x":"\\u0000"}'::bytea, '[]'"#,
            #"'x', '{"userId":"ada","x":"'::bytea || '\xff'::bytea || '"}'::bytea, '[]'"#,
            #"'x', '{"userId":"ada", "x":1e999999}'::bytea, '[]'"#,
            #"'x', convert_to('{"userId":"ada","x":' || repeat('[', 100000), 'UTF8'), '[]'"#,
        ])
        let erased = try await eraseRefused(erasure(["ada"]))
        #expect(erased == ["0", "1", "2", "4", "5", "6", "7", "8", "9"])
    }

    @Test("a number is an identifier, and a refused record of somebody else stays whatever else is in it")
    func refusedOfOthers() async throws {
        try await insertRefused([
            #"'x', '{"userId":42}'::bytea, '[]'"#, #"'x', '{"userId":null,"anonymousId":"d1"}'::bytea, '[]'"#,
            #"'42'::bytea, '{"userId":"bob","payload":{"size":"42"}}'::bytea, '[{"name":"x","value":"42"}]'"#,
            #"'x', '{"payload":{"size":"42"}}'::bytea, '[{"name":"42","value":"x"}]'"#,
            #"'x', '[{"userId":42},{"userId":"bob"}]'::bytea, '[]'"#,
            #"'x', '{"userId":"bob","anonymousId":"d1"}'::bytea, '[]'"#,
            #"'x', '{"anonymousId":"d1","payload":{"userId":"bob"}}'::bytea, '[]'"#,
            #"'x', '{"size":"420","x":'::bytea, '[]'"#,
        ])
        #expect(try await eraseRefused(erasure(["42"], ["d1"])) == ["0", "1", "6"])
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
        #expect(Set(found) == [FoundIdentifier(.user, ExactText("ada")), FoundIdentifier(.anonymous, ExactText("d3"))])
        // No row of a table has these.
        try await insertRefused([
            #"'x', '{"userId":7,"anonymousId":"e1"}'::bytea, '[]'"#, #"'k'::bytea, NULL, NULL"#,
            #"'x', '{}'::bytea, '[{"name":"subject","value":"h"}]'"#, #"'x', '{"userId":"q",'::bytea, '[]'"#,
        ])
        let refused = ["7", "k", "h", "q"].map { tombstone($0, .user, request) }
        let all = Tombstones(refused + [tombstone("e1", .anonymous, request)], key: key)
        let users = ["7", "k", "h", "q"].map { FoundIdentifier(.user, ExactText($0)) }
        let device = FoundIdentifier(.anonymous, ExactText("e1"))
        #expect(Set(try await fixture.tracker.identifiers(of: all)) == Set(users + [device]))

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
            group.addTask { try await fixture.tracker.erase(erasure(["ada"])).total }
            try await fixture.database.waitForSessions(1, waitingFor: "PgSleep")
            // No loader waits behind it.
            try await fixture.database.run(
                """
                SET lock_timeout = '10ms'; INSERT INTO analytics.seen (\(Self.columns))
                VALUES (gen_random_uuid(), now(), '2026-11-05 11:00:01+00', 'bob', NULL)
                """
            )
            try session.run("COMMIT; SELECT 1;")
            return try await group.next() ?? []
        }
        try session.close()
        #expect(erased == [ErasedEvents(place: "analytics.seen", count: 1)])
        #expect(try await rows("seen") == ["bob|-"])
    }

    @Test("the rows of a partition whose detachment begins meanwhile are erased, too")
    func detached() async throws {
        try await insert([("ada", "d1"), ("bob", nil)])
        let session = try fixture.database.server.openSession(fixture.database.name)
        let detaching = try fixture.database.server.openSession(fixture.database.name)
        try session.run(
            """
            BEGIN; INSERT INTO analytics.gone (\(Self.columns))
            VALUES (gen_random_uuid(), now(), '2026-11-05 11:00:09+00', 'bob', 'late') RETURNING user_id;
            """
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await fixture.tracker.erase(erasure(["ada"])) }
            try await fixture.database.waitForSessions(1, waitingFor: "PgSleep")
            group.addTask {
                try await detaching.runLong(
                    "ALTER TABLE analytics.gone DETACH PARTITION analytics_partitions.gone_all CONCURRENTLY; SELECT 1;"
                )
            }
            let pending = "SELECT count(*) FROM pg_inherits WHERE inhdetachpending"
            while try await fixture.database.run(pending) != ["1"] { try await waitBriefly() }
            try session.run("COMMIT; SELECT 1;")
            try await group.waitForAll()
        }
        try session.close()
        try detaching.close()
        let left = "SELECT user_id FROM analytics_partitions.gone_all ORDER BY received_at"
        #expect(try await fixture.database.run(left) == ["bob", "bob"])
    }

    @Test("while a table is vacuumed its rows are erased, and the vacuum after the erasure waits for that one")
    func vacuum() async throws {
        try await insert([("ada", nil)])
        let configuration = PostgresConfiguration(
            connection: fixture.database.url,
            lockTimeout: .milliseconds(1)
        )
        let tracker = PostgresTracker(configuration, logger: Logger(label: "test"))
        let session = try fixture.database.server.openSession(fixture.database.name)
        // The lock that VACUUM takes.
        try session.run("BEGIN; LOCK TABLE analytics.seen IN SHARE UPDATE EXCLUSIVE MODE; SELECT 1;")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await tracker.erase(erasure(["ada"])) }
            try await fixture.database.waitForSessions(1, waitingFor: "relation")
            #expect(try await rows("seen") == [])
            try session.run("COMMIT; SELECT 1;")
            try await group.waitForAll()
        }
        try session.close()
        #expect(
            try await fixture.database.run("SELECT count(*) FROM analytics._sluice_erased WHERE vacuumed_at IS NULL")
                == ["0"]
        )
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
