import EventJournal
import EventModel
import EventSchema
import EventValidation
import Logging
import SluicePostgres
import SluiceTesting
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: checkpoints")
struct PostgresCheckpointTests {
    private static let plan = [event("Bought", [property("number", .integer)])]
    private let journal = JournalID()

    private func events(_ numbers: some Sequence<Int>) -> [String] {
        numbers.map { #"{"id":"\#(id($0))","name":"Bought","payload":{"number":\#($0)}}"# }
    }

    private func fixture(in database: TestDatabase? = nil) async throws -> PostgresFixture {
        let fixture = try await PostgresFixture(Self.plan, in: database)
        try await fixture.database.noteInserts(into: "analytics.bought")
        return fixture
    }

    private func delivery(
        _ numbers: Range<Int>,
        to sequence: UInt64,
        _ fixture: PostgresFixture,
        of journal: JournalID? = nil
    ) throws -> Delivery {
        let checkpoint = Checkpoint(journal: journal ?? self.journal, nextSequence: sequence)
        return Delivery([EventSlice(try fixture.batch(events(numbers)))], checkpoint: checkpoint)
    }

    /// Starts a tracker whose checkpoint was requested, as the pipeline does.
    private func tracker(_ fixture: PostgresFixture, name: String = "postgres") async throws -> PostgresTracker {
        let tracker = try await fixture.startedTracker(name: name)
        _ = try await tracker.checkpoint(ofJournal: journal)
        return tracker
    }

    @Test("the checkpoint is committed with the rows, directly or through staging, and the next process reads it")
    func stored() async throws {
        let fixture = try await fixture()
        let tracker = fixture.tracker
        #expect(try await tracker.checkpoint(ofJournal: journal) == nil)
        #expect(await tracker.deliver(try delivery(0..<10, to: 10, fixture)).isDelivered)
        #expect(try await tracker.checkpoint(ofJournal: journal) == 10)
        // Duplicates are loaded through staging.
        #expect(await tracker.deliver(try delivery(5..<20, to: 20, fixture)).isDelivered)
        #expect(try await tracker.checkpoint(ofJournal: journal) == 20)
        #expect(await tracker.deliver(try delivery(20..<30, to: 30, fixture)).isDelivered)
        #expect(try await self.tracker(fixture).checkpoint(ofJournal: journal) == 30)
        #expect(try await fixture.count("analytics.bought") == 30)
    }

    @Test("a delivery's checkpoint replaces even a larger one, and a delivery without a checkpoint changes nothing")
    func replaced() async throws {
        let fixture = try await fixture()
        #expect(try await fixture.tracker.checkpoint(ofJournal: journal) == nil)
        for (round, sequence) in ([1, .max >> 1, 1 << 40, 7] as [UInt64]).enumerated() {
            #expect(await fixture.tracker.deliver(try delivery(round..<round + 1, to: sequence, fixture)).isDelivered)
            #expect(try await fixture.tracker.checkpoint(ofJournal: journal) == sequence)
        }
        #expect(await fixture.tracker.deliver(try fixture.delivery(events(10..<20))).isDelivered)
        #expect(try await fixture.tracker.checkpoint(ofJournal: journal) == 7)
    }

    @Test("each journal and each tracker has a checkpoint of its own, and tracker names are case-insensitive")
    func apart() async throws {
        let fixture = try await fixture()
        let other = JournalID()
        for each in [journal, other] { #expect(try await fixture.tracker.checkpoint(ofJournal: each) == nil) }
        #expect(await fixture.tracker.deliver(try delivery(0..<1, to: 11, fixture)).isDelivered)
        #expect(await fixture.tracker.deliver(try delivery(1..<2, to: 22, fixture, of: other)).isDelivered)
        let second = try await tracker(fixture, name: "It's another")
        #expect(await second.deliver(try delivery(2..<3, to: 33, fixture)).isDelivered)
        #expect(try await fixture.tracker.checkpoint(ofJournal: journal) == 11)
        #expect(try await fixture.tracker.checkpoint(ofJournal: other) == 22)
        #expect(try await tracker(fixture, name: "IT'S ANOTHER").checkpoint(ofJournal: journal) == 33)
        #expect(try await tracker(fixture, name: "Postgres").checkpoint(ofJournal: journal) == 11)
    }

    @Test("a delivery with refused rows stores no checkpoint, and the next delivery stores its own")
    func refused() async throws {
        let fixture = try await fixture()
        try await fixture.database.run("ALTER TABLE analytics.bought ADD CHECK (number <> 4)")
        #expect(try await fixture.tracker.checkpoint(ofJournal: journal) == nil)
        #expect(await fixture.tracker.deliver(try delivery(0..<3, to: 3, fixture)).isDelivered)
        #expect(await fixture.tracker.deliver(try delivery(3..<6, to: 6, fixture)).refusals.map(\.position) == [1])
        #expect(try await fixture.count("analytics.bought") == 5)
        #expect(try await fixture.tracker.checkpoint(ofJournal: journal) == 3)
        let broken = EventBatch.scripted(
            catalog: fixture.catalog,
            events: [
                ScriptedEvent("Bought", number: 8, payload: #"{"number":8}"#),
                ScriptedEvent("Bought", number: 9, payload: #"{"number":nonsense}"#),
            ]
        )
        let checkpoint = Checkpoint(journal: journal, nextSequence: 8)
        let outcome = await fixture.tracker.deliver(Delivery([EventSlice(broken)], checkpoint: checkpoint))
        #expect(outcome.refusals.map(\.position) == [1])
        #expect(try await fixture.tracker.checkpoint(ofJournal: journal) == 3)
        #expect(await fixture.tracker.deliver(try delivery(10..<11, to: 9, fixture)).isDelivered)
        #expect(try await fixture.tracker.checkpoint(ofJournal: journal) == 9)
    }

    @Test("neither the rows nor the checkpoint are stored without the other")
    func together() async throws {
        let fixture = try await fixture()
        try await fixture.database.run("ALTER TABLE analytics._sluice_checkpoints ADD CHECK (next_sequence <> 13)")
        #expect(try await fixture.tracker.checkpoint(ofJournal: journal) == nil)
        #expect(await fixture.tracker.deliver(try delivery(0..<10, to: 12, fixture)).isDelivered)
        let outcome = await fixture.tracker.deliver(try delivery(10..<20, to: 13, fixture))
        #expect(outcome.retry != nil && outcome.refusals == [])
        #expect(try await fixture.count("analytics.bought") == 10)
        try await fixture.database.run("ALTER TABLE analytics.bought ALTER number TYPE text")
        #expect(await fixture.tracker.deliver(try delivery(10..<20, to: 14, fixture)).retry != nil)
        #expect(try await fixture.tracker.checkpoint(ofJournal: journal) == 12)
    }

    @Test("without the checkpoint table the start fails, and the error names sluice migrate")
    func missing() async throws {
        let fixture = try await fixture()
        try await fixture.database.run("DROP TABLE analytics._sluice_checkpoints")
        let error = await #expect(throws: TrackerError.self) {
            try await fixture.tracker.checkpoint(ofJournal: journal)
        }
        #expect(error?.code == .notPrepared)
        #expect(error?.isRetryable == false)
        #expect(
            error?.message == #"The database lacks the table "analytics"."_sluice_checkpoints"; run `sluice migrate`."#
        )
        // A delivery without a journal does not need the table.
        #expect(await fixture.tracker.deliver(try fixture.delivery(events(0..<10))).isDelivered)
    }

    @Test("after a lost commit response, rows that were committed are not sent again", .timeLimit(.minutes(5)))
    func inDoubt() async throws {
        let server = try await PrivatePostgres()
        let fixture = try await fixture(in: try await server.makeDatabase())
        #expect(try await fixture.tracker.checkpoint(ofJournal: journal) == nil)
        #expect(await fixture.tracker.deliver(try delivery(0..<10, to: 10, fixture)).isDelivered)
        // With a standby that never responds, the server commits but does not report it.
        try await fixture.database.setStandby("nobody")
        let delivery = try delivery(10..<20, to: 20, fixture)
        async let first = fixture.tracker.deliver(delivery)
        try await fixture.database.waitForSessions(1, waitingFor: "SyncRep")
        try await fixture.database.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        )
        #expect(await first.retry != nil)
        try await fixture.database.setStandby("")
        #expect(await fixture.tracker.deliver(delivery).isDelivered)
        #expect(await fixture.tracker.deliver(try self.delivery(20..<30, to: 30, fixture)).isDelivered)
        #expect(try await fixture.database.notedInserts() == (0..<30).map(id))
        #expect(try await fixture.tracker.checkpoint(ofJournal: journal) == 30)
    }
}
