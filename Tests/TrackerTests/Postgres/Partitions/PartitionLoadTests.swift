import EventModel
import EventValidation
import SluicePostgres
import SluiceTesting
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: loading partitions", .timeLimit(.minutes(5)))
struct PartitionLoadTests {
    @Test("rows and position are committed together, directly, through staging and among refused rows")
    func together() async throws {
        let fixture = try await PartitionFixture("ALTER TABLE analytics.bought ADD CHECK (number <> 25)")
        _ = try await fixture.claim()
        #expect(await fixture.tracker.load(try fixture.delivery(0..<10)).words == "committed 0")
        // The same events as records 10 to 14, which a node has relayed twice.
        let again = try fixture.base.delivery((5..<10).map { Self.line($0) })
        let delivery = fixture.delivery(of: again, offsets: (10..<15).map(Int64.init), 10..<15)
        #expect(await fixture.tracker.load(delivery).words == "committed 0")
        #expect(await fixture.tracker.load(try fixture.delivery(15..<20)).words == "committed 0")
        #expect(await fixture.tracker.load(try fixture.delivery(20..<30)).words == "committed 1")
        #expect(try await fixture.numbers() == Array(0..<10) + Array(15..<25) + Array(26..<30))
        #expect(try await fixture.refused() == ["25|refused"])
        #expect(try await fixture.stored() == ["30|1"])
    }

    @Test(
        "neither the rows nor the refused records nor the position are stored without the others",
        .promise("refused-record")
    )
    func allOrNothing() async throws {
        let fixture = try await PartitionFixture(
            "ALTER TABLE analytics._sluice_loader_offsets ADD CHECK (next_offset <> 20)"
        )
        _ = try await fixture.claim()
        #expect(await fixture.tracker.load(try fixture.delivery(0..<10)).words == "committed 0")
        #expect(await fixture.tracker.load(try fixture.delivery(10..<20, refusing: [11])).words == "failed")
        #expect(try await fixture.numbers() == Array(0..<10))
        #expect(try await fixture.refused() == [])
        #expect(try await fixture.stored() == ["10|1"])
        // The server has said so, so the claim need not be renewed.
        #expect(await fixture.tracker.load(try fixture.delivery(10..<21, refusing: [11])).words == "committed 1")
        #expect(try await fixture.stored() == ["21|1"])
    }

    @Test("a delivery without events moves the position, and keeps the stored note if it has no record")
    func withoutEvents() async throws {
        let fixture = try await PartitionFixture()
        _ = try await fixture.claim()
        #expect(await fixture.tracker.load(try fixture.delivery(0..<2, refusing: [0, 1])).words == "committed 2")
        #expect(await fixture.tracker.load(try fixture.delivery(2..<2, to: 9)).words == "committed 0")
        var position = StoredPosition(nextOffset: 9, lastRecord: PartitionFixture.note(1))
        #expect(try await fixture.tracker.renew(fixture.partition, epoch: 1)?.position == position)
        #expect(await fixture.tracker.load(try fixture.delivery(9..<12, to: 20)).words == "committed 0")
        position = StoredPosition(nextOffset: 20, lastRecord: PartitionFixture.note(11))
        #expect(try await fixture.tracker.renew(fixture.partition, epoch: 1)?.position == position)
        #expect(try await fixture.refused() == ["0|invalid", "1|invalid"])
        #expect(try await fixture.numbers() == [9, 10, 11])
    }

    @Test("a refused record is stored as it was, but for what the server cannot store, and pages return it")
    func refusedRecord() async throws {
        let fixture = try await PartitionFixture()
        _ = try await fixture.claim()
        let record = SourceRecord(
            offset: 0,
            key: [0, 0xFF, 39],
            value: Array(0...255),
            headers: [
                .init(name: "ce_id", value: Array("it's \"1\"".utf8)), .init(name: "ce_id", value: [0, 0xFF, 65]),
                .init(name: "", value: []),
            ]
        )
        let verdict = #"{"code":"a\u0000b\\u0000\ud83d\ude00\ud800'","path":"$.x"}"#
        let bare = SourceRecord(offset: 1, key: nil, value: nil, headers: [])
        let refused = [
            RefusedRecord(record: record, verdict: verdict), RefusedRecord(record: bare, verdict: "{}"),
        ]
        let delivery = fixture.delivery(of: Delivery([]), offsets: [], 0..<2, refused: refused)
        #expect(await fixture.tracker.load(delivery).words == "committed 2")

        let stored = try await fixture.tracker.refusedRecords(ofLoader: "shop", after: nil, limit: 10)
        #expect(stored.map(\.key) == [0, 1].map { RefusedRecordKey(partition: fixture.partition, offset: $0) })
        let first = try #require(stored.first).refused
        #expect(first.record.key == record.key)
        #expect(first.record.value == record.value)
        #expect(
            first.record.headers == [
                record.headers[0], .init(name: "ce_id", value: Array("\u{FFFD}\u{FFFD}A".utf8)), record.headers[2],
            ]
        )
        #expect(first.verdict == "{\"code\": \"a\u{FFFD}b\\\\u0000\u{1F600}\u{FFFD}'\", \"path\": \"$.x\"}")
        #expect(stored.last?.refused.record == bare)
        #expect((stored.first?.time.microseconds ?? 0) > 1_700_000_000_000_000)
    }

    @Test("refused records are read in pages in the order of their keys, and can be removed")
    func pages() async throws {
        let fixture = try await PartitionFixture()
        _ = try await fixture.claim()
        #expect(await fixture.tracker.load(try fixture.delivery(0..<25, refusing: Set(5..<17))).words == "committed 12")
        var keys: [RefusedRecordKey] = []
        while true {
            let page = try await fixture.tracker.refusedRecords(ofLoader: nil, after: keys.last, limit: 5)
            if page.isEmpty { break }
            keys += page.map(\.key)
        }
        #expect(keys.map(\.offset) == Array(5..<17))
        #expect(try await fixture.tracker.refusedRecords(ofLoader: "other", after: nil, limit: 5).isEmpty)
        #expect(try await fixture.tracker.removeRefused(Array(keys.prefix(10))) == 10)
        #expect(try await fixture.tracker.removeRefused(keys) == 2)
        #expect(try await fixture.tracker.removeRefused([]) == 0)
        #expect(try await fixture.refused() == [])
    }

    @Test("events with invalid lines and events that the server refuses are refused in the same transaction")
    func invalidLines() async throws {
        let fixture = try await PartitionFixture("ALTER TABLE analytics.bought ADD CHECK (number <> 2)")
        _ = try await fixture.claim()
        let payloads = [#"{"number":1}"#, #"{"number":nonsense}"#, #"{"number":2}"#, #"{"number":3}"#]
        let batch = EventBatch.scripted(
            catalog: fixture.base.catalog,
            events: payloads.enumerated().map { ScriptedEvent("Bought", number: $0 + 1, payload: $1) }
        )
        // Record 2 does not follow the plan, so the events are the records 0, 1, 3 and 4.
        let delivery = fixture.delivery(
            of: Delivery([EventSlice(batch)]),
            offsets: [0, 1, 3, 4],
            0..<5,
            refused: [PartitionFixture.record(2, #"{"code":"invalid"}"#)]
        )
        #expect(await fixture.tracker.load(delivery).words == "committed 3")
        #expect(try await fixture.refused() == ["1|refused", "2|invalid", "3|refused"])
        #expect(try await fixture.numbers() == [1, 3])
    }

    @Test("a record that is stored as refused already does not fail a delivery after the position was set back")
    func refusedTwice() async throws {
        let fixture = try await PartitionFixture()
        _ = try await fixture.claim()
        #expect(await fixture.tracker.load(try fixture.delivery(0..<5, refusing: [2])).words == "committed 1")
        try await fixture.database.run("UPDATE analytics._sluice_loader_offsets SET next_offset = 0")
        #expect(await fixture.tracker.load(try fixture.delivery(0..<5, refusing: [2, 3])).words == "committed 2")
        #expect(try await fixture.refused() == ["2|invalid", "3|invalid"])
        #expect(try await fixture.numbers() == [0, 1, 2, 3, 4].filter { $0 != 2 })
    }

    @Test("a refused record replaces the one at the same offset, which may be another one if the topic was recreated")
    func replaced() async throws {
        let fixture = try await PartitionFixture()
        let tracker = fixture.makeTracker { $0.maximumRefused = 2 }
        _ = try await fixture.claim(tracker)
        #expect(await tracker.load(try fixture.delivery(0..<5, refusing: [2, 3])).words == "committed 2")
        try await fixture.database.run(
            """
            UPDATE analytics._sluice_loader_offsets SET next_offset = 0;
            UPDATE analytics._sluice_refused SET refused_at = now() - interval '1 day';
            """
        )
        let record = SourceRecord(offset: 2, key: nil, value: [1, 2], headers: [.init(name: "ce_id", value: [65])])
        let delivery = fixture.delivery(
            of: Delivery([]),
            offsets: [],
            0..<3,
            refused: [RefusedRecord(record: record, verdict: #"{"code": "other"}"#)]
        )
        // As many are kept as may be, and a replaced record does not count twice.
        #expect(await tracker.load(delivery).words == "committed 1")
        let stored = try await tracker.refusedRecords(ofLoader: "shop", after: nil, limit: 10)
        #expect(stored.map(\.key.offset) == [2, 3])
        #expect(stored.first?.refused.record == record)
        #expect(stored.first?.refused.verdict == #"{"code": "other"}"#)
        let kept = "SELECT record_offset FROM analytics._sluice_refused WHERE refused_at > now() - interval '1 hour'"
        #expect(try await fixture.database.run(kept) == ["2"])
        #expect(await tracker.load(try fixture.delivery(3..<5, refusing: [4])).words == "full 2")
        await tracker.stop()
    }

    @Test(
        "a partition keeps at most as many refused records as configured; beyond that nothing is committed",
        .promise("refused-record")
    )
    func bound() async throws {
        let fixture = try await PartitionFixture()
        let tracker = fixture.makeTracker { $0.maximumRefused = 3 }
        _ = try await fixture.claim(tracker)
        #expect(await tracker.load(try fixture.delivery(0..<5, refusing: [0, 1])).words == "committed 2")
        #expect(await tracker.load(try fixture.delivery(5..<10, refusing: [5, 6])).words == "full 3")
        #expect(try await fixture.refused().count == 2)
        #expect(try await fixture.stored() == ["5|1"])
        #expect(await tracker.load(try fixture.delivery(5..<10, refusing: [5])).words == "committed 1")
        #expect(await tracker.load(try fixture.delivery(10..<15, refusing: [10])).words == "full 3")
        // A delivery without refused records is still loaded.
        #expect(await tracker.load(try fixture.delivery(10..<15)).words == "committed 0")
        // Another partition has a bound of its own.
        try await fixture.database.run("UPDATE analytics._sluice_refused SET partition = 4 WHERE record_offset = 0")
        #expect(await tracker.load(try fixture.delivery(15..<20, refusing: [16])).words == "committed 1")
        #expect(try await fixture.numbers() == [2, 3, 4] + Array(6..<16) + Array(17..<20))
        await tracker.stop()
    }

    @Test("expired refused records are removed when another one of the partition is refused")
    func retention() async throws {
        let fixture = try await PartitionFixture()
        let tracker = fixture.makeTracker {
            $0.maximumRefused = 2
            $0.refusedRetention = .seconds(86_400)
        }
        _ = try await fixture.claim(tracker)
        #expect(await tracker.load(try fixture.delivery(0..<5, refusing: [0, 1])).words == "committed 2")
        try await fixture.database.run(
            "UPDATE analytics._sluice_refused SET refused_at = now() - interval '25 hours' WHERE record_offset = 0"
        )
        #expect(await tracker.load(try fixture.delivery(5..<10, refusing: [5])).words == "committed 1")
        #expect(try await fixture.refused() == ["1|invalid", "5|invalid"])
        await tracker.stop()
    }

    @Test(
        "a claim removes the expired refused records of all partitions of its loader, and waits for no other transaction"
    )
    func retentionAtClaim() async throws {
        let fixture = try await PartitionFixture()
        let tracker = fixture.makeTracker { $0.refusedRetention = .seconds(86_400) }
        _ = try await fixture.claim(tracker)
        let refusing: Set<Int> = [0, 1, 2, 3, 4]
        #expect(await tracker.load(try fixture.delivery(0..<5, refusing: refusing)).words == "committed 5")
        try await fixture.database.run(
            """
            UPDATE analytics._sluice_refused SET refused_at = now() - interval '25 hours' WHERE record_offset < 4;
            UPDATE analytics._sluice_refused SET partition = 9 WHERE record_offset = 1;
            UPDATE analytics._sluice_refused SET loader = 'other' WHERE record_offset = 2;
            """
        )
        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run("BEGIN; SELECT 1 FROM analytics._sluice_refused WHERE record_offset = 3 FOR UPDATE;")
        _ = try await fixture.claim(tracker)
        #expect(try await fixture.refused() == ["2|invalid", "3|invalid", "4|invalid"])
        try session.run("COMMIT; SELECT 1;")
        try session.close()
        _ = try await fixture.claim(tracker)
        #expect(try await fixture.refused() == ["2|invalid", "4|invalid"])
        await tracker.stop()
    }

    @Test("if there is not enough time to find all refused rows, nothing is committed")
    func tooLarge() async throws {
        // Each refusal takes so long that 300 of them exceed the time, and a few do not.
        let fixture = try await PartitionFixture(
            """
            CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS
                $$DECLARE start timestamptz := clock_timestamp();
                BEGIN
                    WHILE clock_timestamp() < start + interval '20 milliseconds' LOOP END LOOP;
                    RAISE 'refused' USING ERRCODE = 'check_violation';
                END$$;
            CREATE TRIGGER refuse BEFORE INSERT ON analytics.bought FOR EACH ROW WHEN (NEW.number % 2 = 1)
                EXECUTE FUNCTION public.refuse()
            """
        )
        let tracker = fixture.makeTracker { $0.deliveryTimeout = .seconds(4) }
        _ = try await fixture.claim(tracker)
        #expect(await tracker.load(try fixture.delivery(0..<600)).words == "too large")
        #expect(try await fixture.numbers() == [])
        #expect(try await fixture.stored() == ["0|1"])
        #expect(await tracker.load(try fixture.delivery(0..<10)).words == "committed 5")
        await tracker.stop()
    }

    @Test(
        "after a lost commit response the outcome is unknown, and the renewal finds the position",
        .promise("loader-crash")
    )
    func inDoubt() async throws {
        let server = try await PrivatePostgres()
        let fixture = try await PartitionFixture(in: try await server.makeDatabase())
        _ = try await fixture.claim()
        // With a standby that never responds, the server commits but does not report it.
        try await fixture.database.setStandby("nobody")
        let delivery = try fixture.delivery(0..<10)
        async let outcome = fixture.tracker.load(delivery)
        try await fixture.database.waitForSessions(1, waitingFor: "SyncRep")
        try await fixture.database.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        )
        #expect(await outcome.words == "unknown")
        try await fixture.database.setStandby("")
        #expect(try await fixture.tracker.renew(fixture.partition, epoch: 1)?.position.nextOffset == 10)
        #expect(await fixture.tracker.load(delivery).words == "superseded")
        #expect(await fixture.tracker.load(try fixture.delivery(10..<20)).words == "committed 0")
        #expect(try await fixture.numbers() == Array(0..<20))
    }

    @Test("a connection that is lost before the commit has committed nothing")
    func lostBefore() async throws {
        let fixture = try await PartitionFixture()
        let tracker = fixture.makeTracker {
            $0.deliveryTimeout = .seconds(240)
            $0.lockTimeout = .seconds(60)
        }
        _ = try await fixture.claim(tracker)
        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run("BEGIN; LOCK TABLE analytics.bought; SELECT 1;")
        let delivery = try fixture.delivery(0..<10)
        async let outcome = tracker.load(delivery)
        try await fixture.database.waitForSessions(1, waitingFor: "relation")
        try await fixture.database.run(
            "SELECT pg_terminate_backend(backend_pid, 60000) FROM analytics._sluice_loader_offsets"
        )
        #expect(await outcome.words == "failed")
        try session.run("COMMIT; SELECT 1;")
        try session.close()
        #expect(try await fixture.stored() == ["0|1"])
        #expect(try await tracker.renew(fixture.partition, epoch: 1)?.position.nextOffset == 0)
        #expect(await tracker.load(delivery).words == "committed 0")
    }

    @Test("a deadlock or a conflict of transactions can be retried on the same session", arguments: ["40P01", "40001"])
    func conflict(sqlState: String) async throws {
        let fixture = try await PartitionFixture(
            """
            CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN RAISE 'conflict' USING ERRCODE = '\(sqlState)'; END$$;
            CREATE TRIGGER fail BEFORE INSERT ON analytics.bought FOR EACH ROW EXECUTE FUNCTION fail();
            """
        )
        _ = try await fixture.claim()
        let outcome = await fixture.tracker.load(try fixture.delivery(0..<10))
        #expect(outcome.words == "failed")
        #expect(outcome.error?.isRetryable == true)
        try await fixture.database.run("DROP TRIGGER fail ON analytics.bought")
        #expect(await fixture.tracker.load(try fixture.delivery(0..<10)).words == "committed 0")
        #expect(try await fixture.numbers() == Array(0..<10))
    }

    @Test("two loaders that load the same events in opposite orders both finish")
    func deadlock() async throws {
        let fixture = try await PartitionFixture()
        let second = fixture.makeTracker()
        let other = LoadedPartition(loader: "shop", cluster: "cluster", topic: "it's a topic", number: 4)
        _ = try await fixture.claim()
        _ = try await second.claim(other, start: 0, owner: "b")
        let events = try fixture.base.delivery((0..<2000).map { Self.line($0) })
        let reversed = try fixture.base.delivery((0..<2000).reversed().map { Self.line($0) })
        let one = fixture.delivery(of: events, offsets: (0..<2000).map(Int64.init), 0..<2000)
        let two = PartitionDelivery(
            partition: other,
            epoch: 1,
            start: 0,
            end: 2000,
            lastRecord: nil,
            events: reversed,
            refused: [],
            refusing: [],
            refuse: { position, _ in PartitionFixture.record(Int64(position), "{}") }
        )
        async let first = Self.load(one, by: fixture.tracker)
        async let last = Self.load(two, by: second)
        #expect(await [first, last] == ["committed 0", "committed 0"])
        #expect(try await fixture.numbers() == Array(0..<2000))
        await second.stop()
    }

    /// Loads a delivery, again while it fails.
    private static func load(_ delivery: PartitionDelivery, by tracker: PostgresTracker) async -> String {
        for _ in 0..<20 {
            let words = await tracker.load(delivery).words
            if words != "failed" { return words }
        }
        return "failed"
    }

    private static func line(_ number: Int, _ name: String = "Bought") -> String {
        #"{"id":"\#(id(number))","name":"\#(name)","payload":{"number":\#(number)}}"#
    }
}
