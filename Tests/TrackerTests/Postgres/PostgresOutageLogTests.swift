import EventPipeline
import EventQuarantine
import EventSchema
import PipelineTestSupport
import SluicePostgres
import SluiceTesting
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: the log of an outage")
struct PostgresOutageLogTests {
    private static let plan = [event("Bought", [property("number", .integer)])]

    @Test(
        "an outage is logged once, then once a minute with the number of attempts, and at its end with its duration",
        .timeLimit(.minutes(5))
    )
    func outage() async throws {
        let server = try await PrivatePostgres()
        let fixture = try await PostgresFixture(Self.plan, in: try await server.makeDatabase())
        let (log, clock) = (RecordingLog(), ManualClock())
        let configuration = PostgresConfiguration(connection: fixture.database.url)
        let pipeline = try Pipeline(
            catalog: fixture.catalog,
            trackers: [PostgresTracker(configuration, logger: log.logger)],
            configuration: .init(delivery: .init(linger: .zero)),
            quarantine: .discarding(logger: log.logger),
            logger: log.logger,
            clock: clock,
            jitter: { 1 }
        )
        let pauses = (1...19).map { RetryPolicy().pause(afterFailures: $0, jitter: 1) }
        try await withThrowingTaskGroup { group in
            group.addTask { try await pipeline.run() }
            func submit(_ number: Int) async throws {
                let text = #"{"id":"\#(id(number))","name":"Bought","payload":{"number":\#(number)}}"#
                try await pipeline.submit(fixture.batch([text]))
            }
            try await submit(0)
            await pipeline.flush()
            try await server.stopImmediately()
            try await submit(1)
            for pause in pauses.dropLast() {
                await clock.waitForSleeper(for: pause)
                clock.advance(by: pause)
            }
            await clock.waitForSleeper(for: pauses[18])
            try await server.start()
            clock.advance(by: pauses[18])
            await pipeline.flush()
            pipeline.shutdown()
            try await group.waitForAll()
        }
        let seconds = pauses.reduce(.zero, +) / .seconds(1)
        let failures = log.all.filter { $0.hasPrefix("A delivery failed and is tried again.") }
        #expect(failures.map { $0.contains("failures=1 ") && $0.contains("seconds=0.0 ") } == [true, false, false])
        #expect(failures.allSatisfy { $0.contains("[unavailable]") && $0.contains("tracker=postgres") })
        let over = log.all.filter { $0.hasPrefix("The tracker delivers again.") }
        #expect(over == ["The tracker delivers again. failures=19 seconds=\(seconds) tracker=postgres"])
        #expect(try await fixture.count("analytics.bought") == 2)
    }
}
