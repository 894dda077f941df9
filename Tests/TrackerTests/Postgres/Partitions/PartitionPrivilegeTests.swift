import Logging
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: privileges of a loader", .timeLimit(.minutes(5)))
struct PartitionPrivilegeTests {
    private let partition = LoadedPartition(loader: "shop", cluster: "cluster", topic: "events", number: 0)

    private func tracker(_ fixture: PostgresFixture) -> PostgresTracker {
        var configuration = PostgresConfiguration(connection: fixture.database.url(role: LoaderRole.name))
        configuration.claimTimeout = .milliseconds(200)
        return PostgresTracker(configuration, logger: Logger(label: "test"))
    }

    private func outline(_ fixture: PostgresFixture) -> PipelineOutline {
        PipelineOutline(catalog: fixture.catalog, hasJournal: false, loadsPartitions: true)
    }

    private func delivery(_ numbers: Range<Int>, _ fixture: PostgresFixture) throws -> PartitionDelivery {
        let lines = numbers.map { #"{"id":"\#(id($0))","name":"Bought","payload":{"number":\#($0)}}"# }
        return PartitionDelivery(
            partition: partition,
            epoch: 1,
            start: Int64(numbers.lowerBound),
            end: Int64(numbers.upperBound),
            lastRecord: PartitionFixture.note(numbers.upperBound - 1),
            events: try fixture.delivery(lines),
            refused: [],
            refusing: [],
            refuse: { position, _ in PartitionFixture.record(Int64(numbers.lowerBound + position), "{}") }
        )
    }

    @Test("the documented privileges suffice to load partitions, to keep refused records and to accept a loss")
    func enough() async throws {
        let fixture = try await LoaderRole.fixture(PartitionFixture.plan)
        try await fixture.database.run(LoaderRole.partitionGrants)
        try await fixture.database.run("ALTER TABLE analytics.bought ADD CHECK (number <> 25)")
        let tracker = tracker(fixture)
        #expect(await tracker.problems(in: outline(fixture)).map(\.message) == [])
        #expect(try await tracker.claim(partition, start: 0, owner: "a").epoch == 1)
        #expect(await tracker.load(try delivery(0..<10, fixture)).words == "committed 0")
        #expect(await tracker.load(try delivery(10..<30, fixture)).words == "committed 1")
        #expect(try await tracker.renew(partition, epoch: 1)?.position.nextOffset == 30)
        let loss = AcceptedLoss(first: 30, next: 40, reason: "retention")
        #expect(try await tracker.acceptLoss(loss, of: partition, epoch: 1))
        #expect(try await tracker.loadedPartitions(ofLoader: "shop").map(\.refused) == [1])
        let keys = try await tracker.refusedRecords(ofLoader: nil, after: nil, limit: 10).map(\.key)
        #expect(try await tracker.removeRefused(keys) == 1)
        await tracker.stop()
    }

    @Test("a missing privilege is reported with the GRANT, by a check and by a claim")
    func missing() async throws {
        let fixture = try await LoaderRole.fixture(PartitionFixture.plan)
        let tracker = tracker(fixture)
        let problems = await tracker.problems(in: outline(fixture))
        #expect(problems.map(\.code) == [.misconfigured, .misconfigured, .misconfigured])
        let error = await #expect(throws: TrackerError.self) {
            try await tracker.claim(partition, start: 0, owner: "a")
        }
        #expect(error?.code == .misconfigured)
        for message in problems.map(\.message) + [error?.message ?? ""] {
            let grant = try #require(message.split(separator: "run: ").last)
            try await fixture.database.run(String(grant))
        }
        #expect(await tracker.problems(in: outline(fixture)).map(\.message) == [])
        #expect(try await tracker.claim(partition, start: 0, owner: "a").epoch == 1)
        await tracker.stop()
    }

    @Test("a database whose encoding lacks characters is reported, by a check and by a claim")
    func encoding() async throws {
        let options = "ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        let fixture = try await PartitionFixture(in: PrivatePostgres.shared().makeDatabase(options))
        let outline = PipelineOutline(catalog: fixture.base.catalog, hasJournal: false, loadsPartitions: true)
        let message =
            "The encoding of the database is LATIN1, which cannot store every record; create one with ENCODING 'UTF8'."
        #expect(await fixture.tracker.problems(in: outline).map(\.message) == [message])
        let error = await #expect(throws: TrackerError.self) { try await fixture.claim() }
        #expect(error?.message == message)
        await fixture.tracker.stop()
    }

    @Test("reading and removing refused records and reading offsets need, and ask for, no more than they use")
    func missingForOneUse() async throws {
        let fixture = try await LoaderRole.fixture(PartitionFixture.plan)
        let tracker = tracker(fixture)
        let key = RefusedRecordKey(partition: partition, offset: 0)
        let uses: [(grants: String, use: () async throws -> Void)] = [
            (
                #"SELECT ON "analytics"."_sluice_refused" TO "loader""#,
                { _ = try await tracker.refusedRecords(ofLoader: nil, after: nil, limit: 1) }
            ),
            (
                #"SELECT ON "analytics"."_sluice_refused" TO "loader""#,
                { _ = try await tracker.refusedRecordOrigins(ofLoader: nil) }
            ),
            (
                #"SELECT, DELETE ON "analytics"."_sluice_refused" TO "loader""#,
                { _ = try await tracker.removeRefused([key]) }
            ),
            (
                #"SELECT ON "analytics"."_sluice_loader_offsets" TO "loader"; "#
                    + #"GRANT SELECT ON "analytics"."_sluice_refused" TO "loader""#,
                { _ = try await tracker.loadedPartitions(ofLoader: "shop") }
            ),
        ]
        for (grants, use) in uses {
            let error = await #expect(throws: TrackerError.self) { try await use() }
            #expect(error?.message.hasSuffix("run: GRANT \(grants);") == true, "\(String(describing: error))")
            try await fixture.database.run("GRANT \(grants)")
            try await use()
            try await fixture.database.run("REVOKE ALL ON ALL TABLES IN SCHEMA analytics FROM loader")
        }
        await tracker.stop()
    }

    @Test("the error names the table that is missing, whichever it is")
    func unpreparedTable() async throws {
        let fixture = try await PostgresFixture(PartitionFixture.plan)
        let tracker = fixture.tracker
        let key = RefusedRecordKey(partition: partition, offset: 0)
        let uses: [(table: String, use: () async throws -> Void)] = [
            ("_sluice_refused", { _ = try await tracker.refusedRecords(ofLoader: nil, after: nil, limit: 1) }),
            ("_sluice_refused", { _ = try await tracker.refusedRecordOrigins(ofLoader: nil) }),
            ("_sluice_refused", { _ = try await tracker.removeRefused([key]) }),
            ("_sluice_refused", { _ = try await tracker.loadedPartitions(ofLoader: "shop") }),
            ("_sluice_loader_offsets", { _ = try await tracker.claim(partition, start: 0, owner: "a") }),
        ]
        for (table, use) in uses {
            try await fixture.database.run("ALTER TABLE analytics.\(table) RENAME TO gone")
            let error = await #expect(throws: TrackerError.self) { try await use() }
            #expect(error?.code == .notPrepared)
            #expect(error?.message.contains(#""analytics"."\#(table)""#) == true, "\(String(describing: error))")
            try await fixture.database.run("ALTER TABLE analytics.gone RENAME TO \(table)")
        }
    }

    @Test("missing tables and columns are reported with sluice migrate, and only if partitions are loaded")
    func unprepared() async throws {
        let fixture = try await PostgresFixture(PartitionFixture.plan)
        try await fixture.database.run(
            """
            DROP TABLE analytics._sluice_loader_offsets;
            ALTER TABLE analytics._sluice_refused DROP COLUMN verdict;
            """
        )
        let problems = await fixture.tracker.problems(in: outline(fixture))
        #expect(problems.map(\.code) == [.notPrepared, .notPrepared])
        #expect(problems.allSatisfy { $0.message.contains("sluice migrate") })
        let journal = PipelineOutline(catalog: fixture.catalog, hasJournal: true)
        #expect(await fixture.tracker.problems(in: journal).map(\.message) == [])
        let error = await #expect(throws: TrackerError.self) {
            try await fixture.tracker.claim(partition, start: 0, owner: "a")
        }
        #expect(error?.code == .notPrepared)
        #expect(error?.message.contains("_sluice_loader_offsets") == true)
    }

    @Test("a role that may not terminate the session of an owner with another role gets an error with the GRANT")
    func otherRole() async throws {
        let fixture = try await LoaderRole.fixture(PartitionFixture.plan)
        try await fixture.database.run(LoaderRole.partitionGrants + "GRANT pg_read_all_stats TO loader")
        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run(
            """
            INSERT INTO analytics._sluice_loader_offsets SELECT 'shop', 'postgres', 'cluster', 'events', 0, 0, 1, NULL,
                'a', pid, backend_start, now() FROM pg_stat_activity WHERE pid = pg_backend_pid();
            BEGIN; SELECT 1 FROM analytics._sluice_loader_offsets FOR UPDATE;
            """
        )
        let tracker = tracker(fixture)
        let error = await #expect(throws: TrackerError.self) {
            try await tracker.claim(partition, start: 0, owner: "b")
        }
        #expect(error?.code == .misconfigured)
        #expect(error?.message.contains(#"GRANT pg_signal_backend, pg_read_all_stats TO "loader";"#) == true)
        try session.close()
        #expect(try await tracker.claim(partition, start: 0, owner: "b").epoch == 2)
        try await fixture.database.run("REVOKE pg_read_all_stats FROM loader")
        await tracker.stop()
    }

    @Test("a check reports sessions of owners with another role that the role may not terminate, with the GRANT")
    func ownersBeyondReach() async throws {
        let fixture = try await LoaderRole.fixture(PartitionFixture.plan)
        try await fixture.database.run(
            """
            DO $$BEGIN CREATE ROLE successor LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN END$$;
            GRANT CONNECT, TEMPORARY ON DATABASE \(fixture.database.name) TO successor;
            GRANT USAGE ON SCHEMA analytics TO successor;
            GRANT ALL ON ALL TABLES IN SCHEMA analytics TO successor;
            """
        )
        try await fixture.database.run(LoaderRole.partitionGrants)
        let owner = tracker(fixture)
        _ = try await owner.claim(partition, start: 0, owner: "a")
        let configuration = PostgresConfiguration(connection: fixture.database.url(role: "successor"))
        let tracker = PostgresTracker(configuration, logger: Logger(label: "test"))
        let problems = await tracker.problems(in: outline(fixture))
        #expect(problems.map(\.code) == [.misconfigured])
        let grant = "GRANT pg_signal_backend, pg_read_all_stats TO \"successor\";"
        #expect(problems.first?.message.hasSuffix("run: \(grant)") == true, "\(problems)")
        // One of the two does not suffice.
        try await fixture.database.run("GRANT pg_signal_backend TO successor")
        #expect(await tracker.problems(in: outline(fixture)).count == 1)
        try await fixture.database.run(grant)
        #expect(await tracker.problems(in: outline(fixture)).map(\.message) == [])
        try await fixture.database.run("REVOKE pg_signal_backend, pg_read_all_stats FROM successor")
        #expect(await tracker.problems(in: outline(fixture)).count == 1)
        // The sessions of the own role, of its members' roles, and those that have ended need no privilege.
        #expect(await owner.problems(in: outline(fixture)).map(\.message) == [])
        try await fixture.database.run("GRANT loader TO successor")
        #expect(await tracker.problems(in: outline(fixture)).map(\.message) == [])
        try await fixture.database.run("REVOKE loader FROM successor")
        try await fixture.database.run(
            "SELECT pg_terminate_backend(backend_pid, 60000) FROM analytics._sluice_loader_offsets"
        )
        #expect(await tracker.problems(in: outline(fixture)).map(\.message) == [])
        for tracker in [owner, tracker] { await tracker.stop() }
    }
}
