import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

/// The three guards that make each record count once, each against a table without a primary key, which would hide duplicates.
///
/// Each of these tests fails if its guard is removed from the source.
@Suite("PostgreSQL: the guards of a partition", .timeLimit(.minutes(5)))
struct PartitionGuardTests {
    private func fixture() async throws -> PartitionFixture {
        try await PartitionFixture("ALTER TABLE analytics.bought DROP CONSTRAINT bought_pkey")
    }

    @Test(
        "the compare-and-set: after a restore under the same epoch, a loader that continues commits nothing",
        .promise("restored-database")
    )
    func compareAndSet() async throws {
        let fixture = try await fixture()
        _ = try await fixture.claim()
        #expect(await fixture.tracker.load(try fixture.delivery(0..<10)).words == "committed 0")
        #expect(await fixture.tracker.load(try fixture.delivery(10..<20)).words == "committed 0")
        // The database is restored to the first commit.
        try await fixture.database.run(
            """
            DELETE FROM analytics.bought WHERE number >= 10;
            UPDATE analytics._sluice_loader_offsets SET next_offset = 10;
            """
        )
        #expect(await fixture.tracker.load(try fixture.delivery(20..<30)).words == "superseded")
        #expect(try await fixture.numbers() == Array(0..<10))
        #expect(try await fixture.stored() == ["10|1"])
        let claim = try #require(try await fixture.tracker.renew(fixture.partition, epoch: 1))
        #expect(claim.position.nextOffset == 10)
        #expect(await fixture.tracker.load(try fixture.delivery(10..<30)).words == "committed 0")
        #expect(try await fixture.numbers() == Array(0..<30))
    }

    @Test(
        "the epoch: a loader whose partition was claimed by another one commits nothing",
        .promise("claimed-partition")
    )
    func epoch() async throws {
        let fixture = try await fixture()
        _ = try await fixture.claim()
        #expect(await fixture.tracker.load(try fixture.delivery(0..<10)).words == "committed 0")
        let second = fixture.makeTracker()
        #expect(try await fixture.claim(second, owner: "b").epoch == 2)
        // The position is still the expected one, so only the epoch differs.
        #expect(await fixture.tracker.load(try fixture.delivery(10..<20)).words == "superseded")
        #expect(try await fixture.numbers() == Array(0..<10))
        #expect(try await fixture.tracker.renew(fixture.partition, epoch: 1) == nil)
        #expect(await second.load(try fixture.delivery(10..<20, epoch: 2)).words == "committed 0")
        #expect(try await fixture.numbers() == Array(0..<20))
        await second.stop()
    }

    @Test(
        "the termination: a claim succeeds while the earlier owner is frozen in the middle of its COPY",
        .promise("claimed-partition")
    )
    func termination() async throws {
        let fixture = try await fixture()
        let proxy = try SilentProxy(to: fixture.database.server.port)
        let frozen = fixture.makeTracker(connection: fixture.database.url(port: proxy.port))
        _ = try await fixture.claim(frozen)
        proxy.goSilent(afterBytes: 20_000)
        let delivery = try fixture.delivery(0..<5000)
        let task = Task { await frozen.load(delivery) }
        await proxy.waitForSilence()
        try await fixture.database.waitForStuckCopy()
        let backend = try await fixture.database.run("SELECT backend_pid FROM analytics._sluice_loader_offsets")

        let next = fixture.makeTracker { $0.claimTimeout = .seconds(2) }
        let claim = try await fixture.claim(next, owner: "b")
        #expect(claim == PartitionClaim(epoch: 2, position: StoredPosition(nextOffset: 0, lastRecord: nil)))
        let pids = try await fixture.database.run("SELECT pid FROM pg_stat_activity")
        #expect(backend.count == 1 && !pids.contains(backend[0]))
        #expect(await next.load(try fixture.delivery(0..<5000, epoch: 2)).words == "committed 0")

        task.cancel()
        #expect(await task.value.words == "failed")
        #expect(try await fixture.numbers() == Array(0..<5000))
        await next.stop()
    }
}
