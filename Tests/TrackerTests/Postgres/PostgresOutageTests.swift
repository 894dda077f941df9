import EventModel
import EventSchema
import Logging
import SluicePostgres
import Synchronization
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: outages and cancellation", .timeLimit(.minutes(5)))
struct PostgresOutageTests {
    private static let plan = [event("Bought", [property("number", .integer)])]

    private func events(_ numbers: some Sequence<Int>) -> [String] {
        numbers.map { #"{"id":"\#(id($0))","name":"Bought","payload":{"number":\#($0)}}"# }
    }

    @Test("if the server crashes and restarts, no row is lost or duplicated", .promise("interrupted-commit"))
    func crash() async throws {
        let server = try await PrivatePostgres()
        let fixture = try await PostgresFixture(Self.plan, in: try await server.makeDatabase())
        let deliveries = try (0..<20).map { try fixture.delivery(events($0 * 500..<($0 + 1) * 500)) }
        // Delivers all events repeatedly until the server is back.
        let isBack = Atomic<Bool>(false)
        async let failures = deliverAll(deliveries, with: fixture.tracker) {
            isBack.load(ordering: .acquiring)
        }
        try await server.stopImmediately()
        try await server.start()
        isBack.store(true, ordering: .releasing)
        #expect(await failures > 0)
        #expect(try await fixture.count("analytics.bought") == 10_000)
    }

    /// Delivers all events until once after `isEnough`; returns how often the tracker asked for a retry.
    private func deliverAll(
        _ deliveries: [Delivery],
        with tracker: PostgresTracker,
        until isEnough: @Sendable () -> Bool
    ) async -> Int {
        var failures = 0
        var isLastRound = false
        repeat {
            isLastRound = isEnough()
            for delivery in deliveries {
                while let retry = await tracker.deliver(delivery).retry {
                    #expect(retry.reason.isRetryable)
                    failures += 1
                }
            }
        } while !isLastRound
        return failures
    }

    @Test("a delivery whose session the server terminates is retried, and the next delivery opens a new session")
    func terminated() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        let delivery = try fixture.delivery(events(0..<10))
        try await fixture.database.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'sluice'
            """
        )
        #expect(await fixture.tracker.deliver(delivery).retry?.reason.code == .unavailable)
        #expect(await fixture.tracker.deliver(delivery).retry == nil)
        #expect(try await fixture.count("analytics.bought") == 10)
    }

    @Test("a delivery that waits for a lock can be cancelled, and the server cancels its statement")
    func cancellation() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run("BEGIN; LOCK TABLE analytics.bought; SELECT 1;")
        let delivery = try fixture.delivery(events(0..<10))
        // Otherwise the lock is waited for until the test's own limit.
        let tracker = try await fixture.startedTracker(deliveryTimeout: .seconds(3600), lockTimeout: .seconds(600))
        let task = Task { await tracker.deliver(delivery) }
        try await fixture.database.waitForSessions(1, waitingFor: "relation")
        task.cancel()
        let outcome = await task.value
        #expect(outcome.retry?.reason.code == .cancelled)
        try await fixture.database.waitForSessions(0, waitingFor: "relation")
        try session.close()
        #expect(await tracker.deliver(delivery).retry == nil)
        #expect(try await fixture.count("analytics.bought") == 10)
        await tracker.stop()
    }

    @Test("a delivery that exceeds its timeout is retried")
    func timeout() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        let tracker = PostgresTracker(
            PostgresConfiguration(connection: fixture.database.url, deliveryTimeout: .milliseconds(300)),
            logger: Logger(label: "test")
        )
        try await tracker.start(for: fixture.catalog)
        let session = try fixture.database.server.openSession(fixture.database.name)
        try session.run("BEGIN; LOCK TABLE analytics.bought; SELECT 1;")
        let delivery = try fixture.delivery(events(0..<10))
        #expect(await tracker.deliver(delivery).retry?.reason.code == .timeout)
        try session.close()
        await tracker.stop()
    }

    @Test("two trackers that load the same events in different orders both succeed")
    func twoLoaders() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        let other = PostgresTracker(
            PostgresConfiguration(connection: fixture.database.url),
            logger: Logger(label: "test")
        )
        try await other.start(for: fixture.catalog)
        let forward = try fixture.delivery(events(0..<2000))
        let backward = try fixture.delivery(events((0..<2000).reversed()))
        func deliver(_ delivery: Delivery, with tracker: PostgresTracker) async -> [DeliveryOutcome.Refusal] {
            while true {
                let outcome = await tracker.deliver(delivery)
                if outcome.retry == nil { return outcome.refusals }
            }
        }
        async let first = deliver(forward, with: fixture.tracker)
        async let second = deliver(backward, with: other)
        let refusals = await first + second
        #expect(refusals == [])
        #expect(try await fixture.count("analytics.bought") == 2000)
    }
}
