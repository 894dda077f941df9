import EventSchema
import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

/// The types of a table's columns are compared under the lock that the rows need.
@Suite("PostgreSQL: tables that are altered during a delivery", .timeLimit(.minutes(5)))
struct ColumnLockTests {
    private static let plan = ["Alpha", "Bought", "Other"].map { event($0, [property("number", .integer)]) }

    /// How the session loads the delivery.
    enum Way: CaseIterable {
        case directly, throughStaging, isolating
    }

    @Test(
        "an alteration that is committed while a delivery waits for the table's lock is noticed, and no value is stored as another",
        .promise("exact-columns"),
        arguments: Way.allCases
    )
    func altered(way: Way) async throws {
        let fixture = try await PostgresFixture(Self.plan)
        func deliver(_ first: Int) async throws -> DeliveryOutcome {
            let events = ["Alpha", "Bought", "Other"].enumerated().map { index, name in
                #"{"id":"\#(id(first + index))","name":"\#(name)","payload":{"number":3}}"#
            }
            return await fixture.tracker.deliver(try fixture.delivery(events))
        }
        #expect(try await deliver(10).isDelivered)
        if way == .throughStaging { #expect(try await deliver(10).isDelivered) }
        if way == .isolating {
            // The tracker knows that another table accepts no rows.
            try await fixture.database.run("ALTER TABLE analytics.other ALTER number TYPE text")
            #expect(try await deliver(20).retry?.positions == [2])
        }
        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run("BEGIN; ALTER TABLE analytics.bought ALTER number TYPE numeric; SELECT 1;")
        async let outcome = deliver(30)
        // In the server, because the wait of the delivery is short; with a limit, because nothing cancels it.
        try await session.runLong(
            """
            SET LOCAL statement_timeout = '2min';
            DO $$BEGIN
                WHILE NOT EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'analytics.bought'::regclass AND NOT granted) LOOP
                    PERFORM pg_sleep_for('2 ms');
                END LOOP;
            END$$;
            COMMIT; SELECT 1;
            """
        )
        let retry = try await outcome.retry
        #expect(retry?.positions == (way == .isolating ? [1, 2] : [1]))
        #expect(retry?.reason.message.contains(#""number""#) == true, "\(String(describing: retry))")
        #expect(try await fixture.rows("number", of: "analytics.bought").allSatisfy { $0 == "3" })
        #expect(try await fixture.count("analytics.alpha") == (way == .isolating ? 3 : 2))
        try await fixture.database.run("ALTER TABLE analytics.bought ALTER number TYPE bigint")
        #expect(try await deliver(40).retry?.positions == (way == .isolating ? [2] : nil))
        #expect(try await fixture.rows("number", of: "analytics.bought").last == "3")
        try session.close()
        await fixture.tracker.stop()
    }
}
