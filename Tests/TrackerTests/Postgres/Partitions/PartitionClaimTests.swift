import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: claims of partitions", .timeLimit(.minutes(5)))
struct PartitionClaimTests {
    @Test("the first claim starts at the given offset, and each later one raises the epoch")
    func epochs() async throws {
        let fixture = try await PartitionFixture()
        let first = try await fixture.claim(start: 7)
        #expect(first == PartitionClaim(epoch: 1, position: StoredPosition(nextOffset: 7, lastRecord: nil)))
        #expect(await fixture.tracker.load(try fixture.delivery(7..<10)).words == "committed 0")
        let position = StoredPosition(nextOffset: 10, lastRecord: PartitionFixture.note(9))
        #expect(try await fixture.claim(start: 0) == PartitionClaim(epoch: 2, position: position))
        let second = fixture.makeTracker()
        #expect(try await fixture.claim(second, owner: "b") == PartitionClaim(epoch: 3, position: position))
        #expect(
            try await fixture.database.run(
                """
                SELECT owner, count(*) FROM analytics._sluice_loader_offsets o
                JOIN pg_stat_activity a ON a.pid = o.backend_pid AND a.backend_start = o.backend_start GROUP BY owner
                """
            ) == ["b|1"]
        )
        await second.stop()
    }

    @Test("each loader, tracker, cluster, topic and partition has a position of its own")
    func apart() async throws {
        let fixture = try await PartitionFixture()
        let partition = fixture.partition
        func copy(_ loader: String? = nil, _ cluster: String? = nil, _ topic: String? = nil, _ number: Int32? = nil)
            -> LoadedPartition
        {
            LoadedPartition(
                loader: loader ?? partition.loader,
                cluster: cluster ?? partition.cluster,
                topic: topic ?? partition.topic,
                number: number ?? partition.number
            )
        }
        _ = try await fixture.claim()
        for (number, other) in [copy("x"), copy(nil, "x"), copy(nil, nil, "x"), copy(nil, nil, nil, 9)].enumerated() {
            let claim = try await fixture.tracker.claim(other, start: Int64(number + 1), owner: "a")
            #expect(claim.epoch == 1 && claim.position.nextOffset == Int64(number + 1))
        }
        let named = fixture.makeTracker { $0.name = "It's another" }
        #expect(try await fixture.claim(named, start: 50).position.nextOffset == 50)
        let upper = fixture.makeTracker { $0.name = "POSTGRES" }
        // The names of trackers are case-insensitive.
        let position = StoredPosition(nextOffset: 0, lastRecord: nil)
        #expect(try await fixture.claim(upper, start: 60) == PartitionClaim(epoch: 2, position: position))
        for tracker in [named, upper] { await tracker.stop() }
    }

    @Test("a record's note survives as it is, with an arbitrary id, and without one")
    func notes() async throws {
        let fixture = try await PartitionFixture()
        _ = try await fixture.claim()
        for (number, id) in ["it's \"$$\" \\ \u{1F600} a\0b", "", nil].enumerated() {
            let note = RecordNote(offset: Int64(number), id: id, timestamp: -1)
            let delivery = PartitionDelivery(
                partition: fixture.partition,
                epoch: 1,
                start: Int64(number),
                end: Int64(number) + 1,
                lastRecord: note,
                events: Delivery([]),
                refused: [],
                refusing: [],
                refuse: { _, _ in PartitionFixture.record(0, "{}") }
            )
            #expect(await fixture.tracker.load(delivery).words == "committed 0")
            #expect(try await fixture.tracker.renew(fixture.partition, epoch: 1)?.position.lastRecord == note)
        }
    }

    @Test("a renewal returns the position, or nothing once another owner has claimed the partition")
    func renewal() async throws {
        let fixture = try await PartitionFixture()
        #expect(try await fixture.tracker.renew(fixture.partition, epoch: 1) == nil)
        let claim = try await fixture.claim(start: 5)
        #expect(try await fixture.tracker.renew(fixture.partition, epoch: 1) == claim)
        let second = fixture.makeTracker()
        _ = try await fixture.claim(second, owner: "b")
        #expect(try await fixture.tracker.renew(fixture.partition, epoch: 1) == nil)
        #expect(try await second.renew(fixture.partition, epoch: 2)?.epoch == 2)
        #expect(try await fixture.database.run("SELECT owner FROM analytics._sluice_loader_offsets") == ["b"])
        await second.stop()
    }

    @Test("on a new connection nothing is loaded before the claim is renewed, which records the new session")
    func reconnected() async throws {
        let fixture = try await PartitionFixture()
        let other = fixture.makeTracker()
        #expect(await other.load(try fixture.delivery(0..<5)).words == "unknown")
        _ = try await fixture.claim()
        try await fixture.database.run(
            "SELECT pg_terminate_backend(backend_pid, 60000) FROM analytics._sluice_loader_offsets"
        )
        let lost = await fixture.tracker.load(try fixture.delivery(0..<5))
        #expect(lost.words == "failed")
        #expect(lost.error?.isRetryable == true)
        #expect(await fixture.tracker.load(try fixture.delivery(0..<5)).words == "unknown")
        #expect(try await fixture.tracker.renew(fixture.partition, epoch: 1)?.position.nextOffset == 0)
        #expect(
            try await fixture.database.run(
                """
                SELECT count(*) FROM analytics._sluice_loader_offsets o
                JOIN pg_stat_activity a ON a.pid = o.backend_pid AND a.backend_start = o.backend_start
                """
            ) == ["1"]
        )
        #expect(await fixture.tracker.load(try fixture.delivery(0..<5)).words == "committed 0")
        #expect(try await fixture.numbers() == Array(0..<5))
        await other.stop()
    }

    @Test(
        "after a lost connection, a partition whose claim is not renewed yet does not cost another one its renewed claim"
    )
    func severalReconnected() async throws {
        let fixture = try await PartitionFixture()
        let tracker = fixture.tracker
        let first = try fixture.delivery(0..<5)
        let second = PartitionDelivery(
            // The next one that has the same connection.
            partition: LoadedPartition(loader: "shop", cluster: "cluster", topic: "it's a topic", number: 5),
            epoch: 1,
            start: 0,
            end: 5,
            lastRecord: nil,
            events: try fixture.delivery(5..<10).events,
            refused: [],
            refusing: [],
            refuse: first.refuse
        )
        _ = try await fixture.claim()
        _ = try await tracker.claim(second.partition, start: 0, owner: "a")
        try await fixture.database.run(
            "SELECT pg_terminate_backend(min(backend_pid), 60000) FROM analytics._sluice_loader_offsets"
        )
        #expect(await tracker.load(first).words == "failed")
        #expect(await tracker.load(first).words == "unknown")
        _ = try await tracker.renew(first.partition, epoch: 1)
        #expect(await tracker.load(second).words == "unknown")
        #expect(await tracker.load(first).words == "committed 0")
        _ = try await tracker.renew(second.partition, epoch: 1)
        #expect(await tracker.load(second).words == "committed 0")
        #expect(try await fixture.numbers() == Array(0..<10))
    }

    @Test("a renewal terminates the process's own earlier session if its transaction does not end")
    func ownSession() async throws {
        let fixture = try await PartitionFixture()
        let proxy = try SilentProxy(to: fixture.database.server.port)
        let tracker = fixture.makeTracker(connection: fixture.database.url(port: proxy.port)) {
            $0.claimTimeout = .seconds(2)
        }
        _ = try await fixture.claim(tracker)
        proxy.goSilent(afterBytes: 20_000)
        let delivery = try fixture.delivery(0..<5000)
        let task = Task { await tracker.load(delivery) }
        await proxy.waitForSilence()
        try await fixture.database.waitForStuckCopy()
        task.cancel()
        #expect(await task.value.words == "failed")
        #expect(await tracker.load(delivery).words == "unknown")
        #expect(try await tracker.renew(fixture.partition, epoch: 1)?.position.nextOffset == 0)
        #expect(await tracker.load(delivery).words == "committed 0")
        #expect(try await fixture.numbers() == Array(0..<5000))
        await tracker.stop()
    }

    @Test("a session that is not recorded is waited for, not terminated, and the claim fails with a retryable error")
    func others() async throws {
        let fixture = try await PartitionFixture()
        _ = try await fixture.claim()
        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run("BEGIN; SELECT 1 FROM analytics._sluice_loader_offsets FOR UPDATE;")
        let second = fixture.makeTracker()
        let error = await #expect(throws: TrackerError.self) { try await fixture.claim(second, owner: "b") }
        #expect(error?.code == .timeout)
        #expect(error?.isRetryable == true)
        #expect(
            error?.message == """
                Another session holds the lock on partition \(fixture.partition) in _sluice_loader_offsets and could not be \
                identified (a pooler, or GRANT pg_read_all_stats is missing); find it in pg_locks. The loader will retry.
                """
        )
        try session.run("COMMIT; SELECT 1;")
        #expect(try await fixture.claim(second, owner: "b").epoch == 2)
        try session.close()
        await second.stop()
    }

    @Test("a partition whose transaction waits does not hold up its neighbour, which has another connection")
    func neighbour() async throws {
        let fixture = try await PartitionFixture()
        var neighbour = fixture
        neighbour.number = fixture.number + 1
        let tracker = fixture.makeTracker(Self.waitingLong)
        _ = try await fixture.claim(tracker)
        _ = try await neighbour.claim(tracker, start: 10)
        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run("BEGIN; SELECT 1 FROM analytics._sluice_loader_offsets WHERE partition = 3 FOR UPDATE;")
        async let waiting = tracker.load(try fixture.delivery(0..<3))
        try await fixture.database.waitForSessions(1, waitingFor: "transactionid")
        #expect(await tracker.load(try neighbour.delivery(10..<12)).words == "committed 0")
        #expect(try await fixture.numbers() == [10, 11])
        try session.run("COMMIT; SELECT 1;")
        #expect(try await waiting.words == "committed 0")
        #expect(try await fixture.numbers() == [0, 1, 2, 10, 11])
        try session.close()
        await tracker.stop()
    }

    /// A busy machine may need long until the lock is released that a delivery waits for.
    private static func waitingLong(_ configuration: inout PostgresConfiguration) {
        configuration.deliveryTimeout = .seconds(240)
        configuration.lockTimeout = .seconds(60)
    }

    @Test("a server older than PostgreSQL 14 is reported by a check, and by a claim that has to terminate a session")
    func outdatedServer() async throws {
        // PostgreSQL 13 has no such function.
        let fixture = try await PartitionFixture(
            "ALTER FUNCTION pg_catalog.pg_terminate_backend(integer, bigint) RENAME TO missing"
        )
        let first = fixture.makeTracker()
        _ = try await fixture.claim(first)
        var outline = PipelineOutline(catalog: fixture.base.catalog, hasJournal: false, loadsPartitions: true)
        #expect(await first.problems(in: outline).map(\.message) == [Self.outdated])
        outline.loadsPartitions = false
        #expect(await first.problems(in: outline).map(\.message) == [])

        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run("BEGIN; SELECT 1 FROM analytics._sluice_loader_offsets FOR UPDATE;")
        let error = await #expect(throws: TrackerError.self) { try await fixture.claim(owner: "b") }
        #expect(error?.message == Self.outdated)
        #expect(error?.code == .misconfigured)
        #expect(error?.isRetryable == true)
        try session.close()
        #expect(try await fixture.claim(owner: "b").epoch == 2)
        await first.stop()
    }

    private static let outdated = """
        The server is older than PostgreSQL 14, so a loader cannot terminate the session of a partition's earlier owner; upgrade \
        the server.
        """

    @Test("a renewal never terminates the session of another owner", .promise("claimed-partition"))
    func renewalTakesNothing() async throws {
        let fixture = try await PartitionFixture()
        _ = try await fixture.claim()
        let second = fixture.makeTracker(Self.waitingLong)
        _ = try await fixture.claim(second, owner: "b")
        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run("BEGIN; LOCK TABLE analytics.bought; SELECT 1;")
        let delivery = try fixture.delivery(0..<5, epoch: 2)
        async let outcome = second.load(delivery)
        try await fixture.database.waitForSessions(1, waitingFor: "relation")
        // The row is locked, but its epoch is already another one, so the update does not wait for it.
        let first = fixture.makeTracker()
        #expect(try await first.renew(fixture.partition, epoch: 1) == nil)
        try session.run("COMMIT; SELECT 1;")
        #expect(await outcome.words == "committed 0")
        try session.close()
        for tracker in [first, second] { await tracker.stop() }
    }

    @Test("an accepted loss moves the position and is recorded, unless another position or epoch is stored")
    func acceptedLoss() async throws {
        let fixture = try await PartitionFixture()
        _ = try await fixture.claim()
        #expect(await fixture.tracker.load(try fixture.delivery(0..<10)).words == "committed 0")
        let loss = AcceptedLoss(first: 10, next: 50, reason: "retention: it's gone")
        #expect(try await !fixture.tracker.acceptLoss(loss, of: fixture.partition, epoch: 2))
        let other = AcceptedLoss(first: 9, next: 50, reason: "")
        #expect(try await !fixture.tracker.acceptLoss(other, of: fixture.partition, epoch: 1))
        #expect(try await fixture.database.run("SELECT 1 FROM analytics._sluice_accepted_losses") == [])
        #expect(try await fixture.tracker.acceptLoss(loss, of: fixture.partition, epoch: 1))
        let position = StoredPosition(nextOffset: 50, lastRecord: nil)
        #expect(try await fixture.tracker.renew(fixture.partition, epoch: 1)?.position == position)
        #expect(
            try await fixture.database.run(
                """
                SELECT loader, tracker, cluster, topic, partition, first_offset, next_offset, reason
                FROM analytics._sluice_accepted_losses
                """
            ) == ["shop|postgres|cluster|it's a topic|3|10|50|retention: it's gone"]
        )
        #expect(await fixture.tracker.load(try fixture.delivery(50..<60)).words == "committed 0")
    }

    @Test("the partitions of a loader are listed with owner, claim and number of refused records")
    func listed() async throws {
        let fixture = try await PartitionFixture()
        #expect(try await fixture.tracker.loadedPartitions(ofLoader: "shop") == [])
        _ = try await fixture.claim()
        let before = LoadedPartition(loader: "shop", cluster: "cluster", topic: "it's a topic", number: 1)
        let first = try await fixture.tracker.claim(before, start: 4, owner: "b")
        let foreign = LoadedPartition(loader: "other", cluster: "cluster", topic: "it's a topic", number: 1)
        _ = try await fixture.tracker.claim(foreign, start: 0, owner: "c")
        #expect(await fixture.tracker.load(try fixture.delivery(0..<10, refusing: [3, 4])).words == "committed 2")
        let position = StoredPosition(nextOffset: 10, lastRecord: PartitionFixture.note(9))
        #expect(
            try await fixture.tracker.loadedPartitions(ofLoader: "shop") == [
                LoadedPartitionStatus(partition: before, claim: first, owner: "b", refused: 0),
                LoadedPartitionStatus(
                    partition: fixture.partition,
                    claim: PartitionClaim(epoch: 1, position: position),
                    owner: "a",
                    refused: 2
                ),
            ]
        )
    }

    @Test("behind a pooler in session mode no session is recorded")
    func pooled() async throws {
        let fixture = try await PartitionFixture()
        let pooler = try await PrivatePgBouncer(before: fixture.database.server, mode: "session")
        let tracker = fixture.makeTracker(connection: fixture.database.url(port: pooler.port))
        let claim = try await fixture.claim(tracker)
        #expect(try await tracker.renew(fixture.partition, epoch: 1) == claim)
        #expect(
            try await fixture.database.run(
                "SELECT backend_pid IS NULL, backend_start IS NULL FROM analytics._sluice_loader_offsets"
            ) == ["t|t"]
        )
        #expect(await tracker.load(try fixture.delivery(0..<5)).words == "committed 0")
        await tracker.stop()
    }
}
