import EventJournal
import EventModel
import EventSchema
import EventValidation
import Logging
import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: through PgBouncer", .timeLimit(.minutes(5)))
struct PostgresPoolerTests {
    private static let plan = [event("Bought", [property("number", .integer)])]
    private let journal = JournalID()

    private func tracker(_ fixture: PostgresFixture, port: Int) -> PostgresTracker {
        PostgresTracker(
            PostgresConfiguration(
                connection: fixture.database.url(port: port),
                deliveryTimeout: .seconds(240),
                lockTimeout: .seconds(60)
            ),
            logger: Logger(label: "test")
        )
    }

    @Test(
        "with transaction or statement pooling the tracker does not start",
        .promise("unfit-database"),
        arguments: ["transaction", "statement"]
    )
    func rejected(mode: String) async throws {
        let fixture = try await PostgresFixture(Self.plan)
        let pooler = try await PrivatePgBouncer(before: fixture.database.server, mode: mode)
        let error = try await startError(fixture, port: pooler.port)
        #expect(error.code == .misconfigured)
        #expect(error.isRetryable == false)
        #expect(error.message.contains("pool_mode = session"), "\(error)")
    }

    /// The error with which a tracker fails to start.
    ///
    /// On a busy machine the tracker's second connection may time out, which proves nothing about the pooler; then another
    /// tracker is started.
    private func startError(_ fixture: PostgresFixture, port: Int) async throws -> TrackerError {
        for _ in 0..<10 {
            let tracker = tracker(fixture, port: port)
            do throws(TrackerError) {
                try await tracker.start(for: fixture.catalog)
                await tracker.stop()
            } catch {
                await tracker.stop()
                return error
            }
        }
        return try #require(nil, "it starts")
    }

    @Test(
        "with session pooling the tracker works, and waits for another process's session without terminating it",
        .promise("unfit-database")
    )
    func bySession() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        try await fixture.database.noteInserts(into: "analytics.bought")
        let pooler = try await PrivatePgBouncer(before: fixture.database.server, mode: "session")
        let tracker = tracker(fixture, port: pooler.port)
        try await tracker.start(for: fixture.catalog)
        #expect(try await tracker.checkpoint(ofJournal: journal) == nil)
        for (numbers, sequence) in [(0..<10, 10), (5..<20, 20)] as [(Range<Int>, UInt64)] {
            let events = numbers.map { #"{"id":"\#(id($0))","name":"Bought","payload":{"number":\#($0)}}"# }
            let checkpoint = Checkpoint(journal: journal, nextSequence: sequence)
            let delivery = Delivery([EventSlice(try fixture.batch(events))], checkpoint: checkpoint)
            #expect(await tracker.deliver(delivery).isDelivered)
        }
        #expect(try await fixture.count("analytics.bought") == 20)
        let recorded = "SELECT count(*) FROM analytics._sluice_checkpoints WHERE backend_start IS NULL"
        #expect(try await fixture.database.run(recorded) == ["1"])

        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run("BEGIN; LOCK TABLE analytics.bought; SELECT 1;")
        let events = [#"{"id":"\#(id(20))","name":"Bought","payload":{"number":20}}"#]
        let delivery = Delivery(
            [EventSlice(try fixture.batch(events))],
            checkpoint: Checkpoint(journal: journal, nextSequence: 21)
        )
        async let left = tracker.deliver(delivery)
        try await fixture.database.waitForSessions(1, waitingFor: "relation")
        let next = self.tracker(fixture, port: pooler.port)
        try await next.start(for: fixture.catalog)
        async let answer = next.checkpoint(ofJournal: journal)
        try await fixture.database.waitForSessions(1, waitingFor: "advisory")
        try session.close()
        #expect(await left.isDelivered)
        #expect(try await answer == 21)
        await tracker.stop()
        await next.stop()
    }
}
