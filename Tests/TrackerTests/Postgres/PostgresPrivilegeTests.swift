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

@Suite("PostgreSQL: privileges", .timeLimit(.minutes(5)))
struct PostgresPrivilegeTests {
    private static let plan = ["Alpha", "Bought"].map { event($0, [property("number", .integer)]) }
    private let journal = JournalID()

    private func tracker(_ fixture: PostgresFixture) -> PostgresTracker {
        PostgresTracker(
            PostgresConfiguration(connection: fixture.database.url(role: LoaderRole.name)),
            logger: Logger(label: "test")
        )
    }

    private func delivery(_ numbers: Range<Int>, _ fixture: PostgresFixture, to sequence: UInt64) throws -> Delivery {
        let events = numbers.map {
            #"{"id":"\#(id($0))","name":"\#($0 % 2 == 0 ? "Alpha" : "Bought")","payload":{"number":\#($0)}}"#
        }
        return Delivery(
            [EventSlice(try fixture.batch(events))],
            checkpoint: Checkpoint(journal: journal, nextSequence: sequence)
        )
    }

    @Test(
        "the documented privileges suffice to load rows, also with duplicates and refused rows among them",
        .promise("unfit-database"),
        arguments: [TablePartitioning.none, .month]
    )
    func enough(partitions: TablePartitioning) async throws {
        let fixture = try await LoaderRole.fixture(Self.plan, partitions: partitions)
        let tracker = tracker(fixture)
        try await tracker.start(for: fixture.catalog)
        #expect(
            await tracker.problems(in: PipelineOutline(catalog: fixture.catalog, hasJournal: true)).map(\.message) == []
        )
        #expect(try await tracker.checkpoint(ofJournal: journal) == nil)
        // Both halves of the recent ids are used.
        try await fixture.database.run(
            "UPDATE analytics._sluice_recent_ids_current SET since = now() - interval '8 days'"
        )
        #expect(await tracker.deliver(try delivery(0..<10, fixture, to: 10)).isDelivered)
        let half = try await fixture.database.run("SELECT half FROM analytics._sluice_recent_ids_current")
        #expect(half == [partitions == .none ? "0" : "1"])
        #expect(await tracker.deliver(try delivery(5..<20, fixture, to: 20)).isDelivered)
        try await fixture.database.run("ALTER TABLE analytics.bought ADD CHECK (number <> 25)")
        #expect(await tracker.deliver(try delivery(20..<30, fixture, to: 30)).refusals.map(\.position) == [5])
        #expect(try await fixture.count("analytics.alpha") == 15)
        #expect(try await fixture.count("analytics.bought") == 14)
        #expect(try await tracker.checkpoint(ofJournal: journal) == 20)
        await tracker.stop()
    }

    @Test(
        "if a privilege that every row needs is missing, the start fails, and the error contains the GRANT",
        .promise("unfit-database"),
        arguments: [
            (
                "REVOKE USAGE ON SCHEMA analytics FROM loader",
                #"may not use the schema "analytics"; run: GRANT USAGE ON SCHEMA "analytics" TO "loader";"#
            ),
            ("REVOKE TEMPORARY ON DATABASE %% FROM loader", #"run: GRANT TEMPORARY ON DATABASE "%%" TO "loader";"#),
            (
                "REVOKE INSERT ON analytics.alpha, analytics.bought FROM loader",
                #"run: GRANT INSERT, SELECT ("id") ON "analytics"."alpha" TO "loader";"#
            ),
        ]
    )
    func missing(revokes: String, words: String) async throws {
        let fixture = try await LoaderRole.fixture(Self.plan)
        let revokes = revokes.replacing("%%", with: fixture.database.name)
        let words = words.replacing("%%", with: fixture.database.name)
        try await fixture.database.run(revokes)
        let tracker = tracker(fixture)
        let error = await #expect(throws: TrackerError.self) { try await tracker.start(for: fixture.catalog) }
        #expect(error?.code == .misconfigured)
        #expect(error?.isRetryable == false)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        // Running the statement fixes the problem.
        let grants = try await tracker.problems(in: PipelineOutline(catalog: fixture.catalog, hasJournal: true)).map {
            problem in
            let parts = problem.message.split(separator: "run: ")
            return String(try #require(parts.dropFirst().first, "\(problem)"))
        }
        #expect(!grants.isEmpty)
        try await fixture.database.run(grants.joined(separator: "\n"))
        try await tracker.start(for: fixture.catalog)
        #expect(
            await tracker.problems(in: PipelineOutline(catalog: fixture.catalog, hasJournal: true)).map(\.message) == []
        )
        await tracker.stop()
    }

    @Test("the tracker starts if privileges are missing on only one table", .promise("broken-table"))
    func oneTable() async throws {
        let fixture = try await LoaderRole.fixture(Self.plan)
        try await fixture.database.run("REVOKE INSERT ON analytics.bought FROM loader")
        let tracker = tracker(fixture)
        try await tracker.start(for: fixture.catalog)
        #expect(try await tracker.checkpoint(ofJournal: journal) == nil)
        #expect(await tracker.deliver(try delivery(0..<4, fixture, to: 4)).retry?.positions == [1, 3])
        #expect(await tracker.problems(in: PipelineOutline(catalog: fixture.catalog, hasJournal: true)).count == 1)
        await tracker.stop()
    }

    @Test("missing privileges on the checkpoint table are reported when the checkpoint is requested")
    func checkpointTable() async throws {
        for privilege in ["SELECT", "INSERT", "UPDATE"] {
            let fixture = try await LoaderRole.fixture(Self.plan)
            try await fixture.database.run("REVOKE \(privilege) ON analytics._sluice_checkpoints FROM loader")
            let tracker = tracker(fixture)
            try await tracker.start(for: fixture.catalog)
            let error = await #expect(throws: TrackerError.self) { try await tracker.checkpoint(ofJournal: journal) }
            #expect(error?.code == .misconfigured)
            let words =
                #"GRANT SELECT, INSERT, UPDATE ON "analytics"."_sluice_checkpoints" TO "loader";"#
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
            #expect(
                await tracker.problems(in: PipelineOutline(catalog: fixture.catalog, hasJournal: true)).map(\.message)
                    .count == 1
            )
            #expect(
                await tracker.problems(in: PipelineOutline(catalog: fixture.catalog, hasJournal: false)).map(\.message)
                    == []
            )
            await tracker.stop()
        }
    }

    @Test("if the checkpoint table is that of an earlier version, the error names sluice migrate")
    func outdated() async throws {
        let fixture = try await LoaderRole.fixture(Self.plan)
        try await fixture.database.run("ALTER TABLE analytics._sluice_checkpoints DROP COLUMN backend_start")
        let tracker = tracker(fixture)
        try await tracker.start(for: fixture.catalog)
        let error = await #expect(throws: TrackerError.self) { try await tracker.checkpoint(ofJournal: journal) }
        #expect(error?.code == .notPrepared)
        #expect(error?.message.contains("sluice migrate") == true)
        #expect(
            await tracker.problems(in: PipelineOutline(catalog: fixture.catalog, hasJournal: true)).map(\.code) == [
                .notPrepared
            ]
        )
        await tracker.stop()
    }
}
