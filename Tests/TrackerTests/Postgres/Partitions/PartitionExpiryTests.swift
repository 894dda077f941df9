import PipelineTestSupport
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: expired refused records", .timeLimit(.minutes(5)))
struct PartitionExpiryTests {
    private static let count = "SELECT count(*) FROM analytics._sluice_refused"

    /// Stores expired records of another partition.
    private func expire(_ count: Int, in fixture: PartitionFixture) async throws {
        let partition = fixture.partition
        try await fixture.database.run(
            """
            INSERT INTO analytics._sluice_refused
                (loader, tracker, cluster, topic, partition, record_offset, value, headers, verdict, refused_at)
            SELECT '\(partition.loader)', 'postgres', '\(partition.cluster)', 'another topic', 0, number, '', '[]', '{}',
                now() - interval '91 days'
            FROM generate_series(1, \(count)) number
            """
        )
    }

    @Test("a claim removes at most 1,000, so that it ends in time, and the next claim removes the rest")
    func limited() async throws {
        let fixture = try await PartitionFixture()
        try await expire(1_001, in: fixture)
        _ = try await fixture.claim()
        #expect(try await fixture.database.run(Self.count) == ["1"])
        _ = try await fixture.claim()
        #expect(try await fixture.database.run(Self.count) == ["0"])
    }

    @Test("a delivery removes 1,000 more of its partition than it stores, and the rest does not count")
    func delivery() async throws {
        let fixture = try await PartitionFixture()
        let tracker = fixture.makeTracker { $0.maximumRefused = 2 }
        _ = try await fixture.claim(tracker, start: 2_000)
        try await expire(1_003, in: fixture)
        try await fixture.database.run(
            "UPDATE analytics._sluice_refused SET topic = 'it''s a topic', partition = \(fixture.partition.number)"
        )
        #expect(
            await tracker.load(try fixture.delivery(2_000..<2_005, refusing: [2_001, 2_002])).words == "committed 2"
        )
        #expect(try await fixture.database.run(Self.count) == ["3"])
        await tracker.stop()
    }

    @Test("a failure to remove them is logged, and the partition is claimed")
    func failure() async throws {
        let fixture = try await PartitionFixture(
            """
            CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN RAISE 'kept' USING ERRCODE = '55000'; END$$;
            CREATE TRIGGER fail BEFORE DELETE ON analytics._sluice_refused
                FOR EACH ROW EXECUTE FUNCTION public.fail();
            """
        )
        try await expire(1, in: fixture)
        let log = RecordingLog()
        let tracker = fixture.makeTracker(logger: log.logger)
        #expect(try await fixture.claim(tracker).epoch == 1)
        #expect(log.all.filter { $0.hasPrefix("Expired refused records were not removed;") }.count == 1, "\(log.all)")
        #expect(log.errors == [])
        await tracker.stop()
    }
}
