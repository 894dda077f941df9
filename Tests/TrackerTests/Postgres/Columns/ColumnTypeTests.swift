import EventModel
import EventPipeline
import EventSchema
import EventValidation
import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

/// Whatever type a column has, a value is stored as the server's own text input would store it, or the table accepts no rows.
@Suite("PostgreSQL: every type in every column", .timeLimit(.minutes(5)))
struct ColumnTypeTests {
    /// Events of the planned types, between events of two tables that nobody alters.
    private func events(of planned: [ColumnCases.Planned], from number: inout Int) -> [String] {
        let values = planned.flatMap { planned in planned.values.map { (planned.event, $0) } }
        return ([("Alpha", "1")] + values + [("Zeta", "1")]).map { name, value in
            number += 1
            return #"{"id":"\#(id(number))","name":"\#(name)","payload":{"value":\#(value)}}"#
        }
    }

    private func fixture() async throws -> PostgresFixture {
        let fixture = try await PostgresFixture(ColumnCases.plan())
        try await fixture.database.run(ColumnCases.setup)
        return fixture
    }

    @Test(
        "a column that is altered after a delivery stores each value exactly, or its table accepts no rows and is named with it",
        .promise("exact-columns")
    )
    func altered() async throws {
        let fixture = try await fixture()
        let session = try fixture.database.server.openSession(fixture.database.name)
        var number = 0
        for column in ColumnCases.columns {
            try session.run(ColumnCases.repairs + "SELECT 1;")
            // The tracker finds that the tables are as planned.
            let repaired = events(of: [], from: &number)
            #expect(await fixture.tracker.deliver(try fixture.delivery(repaired)).isDelivered)
            for planned in ColumnCases.planned {
                try session.run(ColumnCases.alteration(of: planned, to: column) + "SELECT 1;")
                let events = events(of: [planned], from: &number)
                let outcome = await fixture.tracker.deliver(try fixture.delivery(events))
                check(outcome, [(planned, planned.exact.contains(column))])
            }
            try await checkRows(as: column, in: fixture)
        }
        try session.close()
        let deliveries = ColumnCases.columns.count * (1 + ColumnCases.planned.count)
        #expect(try await fixture.count("analytics.alpha") == deliveries)
        #expect(try await fixture.count("analytics.zeta") == deliveries)
        await fixture.tracker.stop()
    }

    @Test(
        "a tracker that starts on tables with other types sends nothing to them, and check and migrate report them",
        .promise("exact-columns")
    )
    func restarted() async throws {
        let fixture = try await fixture()
        let migrator = PostgresMigrator(PostgresConfiguration(connection: fixture.database.url))
        var number = 0
        for column in ColumnCases.columns {
            try await fixture.database.run(ColumnCases.alterations(to: column))
            let outline = PipelineOutline(catalog: fixture.catalog, hasJournal: true)
            let problems = await fixture.tracker.problems(in: outline).map(\.message)
            let error = await #expect(throws: TrackerError.self, "\(column)") {
                try await migrator.migrate(fixture.catalog.plan, applying: Migration.builtIn)
            }
            for planned in ColumnCases.planned {
                let (isExact, name) = (planned.exact.contains(column), planned.columnName)
                #expect(problems.contains { $0.contains(name) } != isExact, "\(planned.type) in \(column): \(problems)")
                #expect(error?.message.contains(name) != isExact, "\(planned.type) in \(column)")
            }
            let tracker = try await fixture.startedTracker()
            let outcome = await tracker.deliver(try fixture.delivery(events(of: ColumnCases.planned, from: &number)))
            check(outcome, ColumnCases.planned.map { ($0, $0.exact.contains(column)) })
            try await checkRows(as: column, in: fixture)
            await tracker.stop()
        }
        #expect(try await fixture.count("analytics.alpha") == ColumnCases.columns.count)
        #expect(try await fixture.count("analytics.zeta") == ColumnCases.columns.count)
    }

    @Test(
        "after a plan change that gives a property another type, nothing is sent to its table until the table is changed",
        .promise("exact-columns")
    )
    func planChanged() async throws {
        let fixture = try await fixture()
        let planned = ColumnCases.planned
        var number = 0
        for shift in planned.indices {
            // The table of each event has the column of the type that the event had before.
            let shifted = planned.indices.map { index in
                ColumnCases.Planned(
                    type: planned[(index + shift) % planned.count].type,
                    values: planned[(index + shift) % planned.count].values,
                    exact: planned[(index + shift) % planned.count].exact,
                    event: planned[index].event
                )
            }
            let catalog = EventCatalog(plan: TrackingPlan(events: ColumnCases.plan(of: shifted)))
            let changed = PostgresFixture(fixture, with: catalog)
            try await fixture.tracker.start(for: catalog)
            let exact = zip(planned, shifted).map { before, after in (after, after.exact.contains(before.exact[0])) }
            // One table at a time, because one that rejects the bytes would hide that another one accepts them.
            for (planned, isExact) in exact {
                let events = events(of: [planned], from: &number)
                check(await fixture.tracker.deliver(try changed.delivery(events)), [(planned, isExact)])
            }
            let counts = exact.map { "SELECT count(*) FROM \($0.0.table); TRUNCATE \($0.0.table);" }
            let rows = try await fixture.database.run(counts.joined())
            #expect(rows == exact.map { $0.1 ? "\($0.0.values.count)" : "0" })
        }
        #expect(try await fixture.count("analytics.alpha") == planned.count * planned.count)
    }

    /// Checks that exactly the events of tables with an inexact column are retried, and that the column is the reason.
    private func check(_ outcome: DeliveryOutcome, _ expected: [(planned: ColumnCases.Planned, isExact: Bool)]) {
        var broken: [Int] = []
        var position = 1
        for (planned, isExact) in expected {
            if !isExact { broken += position..<position + planned.values.count }
            position += planned.values.count
        }
        let types = expected.map { "\($0.planned.type)" }
        #expect(outcome.refusals == [], "\(types)")
        #expect((outcome.retry?.positions ?? []) == broken, "\(types)")
        guard !broken.isEmpty else { return }
        let message = outcome.retry?.reason.message ?? ""
        #expect(expected.contains { !$0.isExact && message.contains($0.planned.columnName) }, "\(types): \(message)")
    }

    /// Checks that each stored value is what the server makes of its text, and that the other tables are empty.
    private func checkRows(as column: String, in fixture: PostgresFixture) async throws {
        let questions = ColumnCases.planned.map { planned in
            let type = ColumnCases.type(column, of: planned).split(separator: " GENERATED")[0]
            let texts = planned.values.map { "'\(ColumnCases.Planned.text($0, as: column))'::\(type)::text" }
            let values = planned.exact.contains(column) ? texts.joined(separator: ", ") : "NULL"
            return """
                SELECT count(*), count(DISTINCT value::text) FILTER (WHERE value::text IN (\(values)))
                FROM \(planned.table); TRUNCATE \(planned.table);
                """
        }
        let rows = try await fixture.database.run(questions.joined())
        let counts = ColumnCases.planned.map { $0.exact.contains(column) ? $0.values.count : 0 }
        #expect(rows == counts.map { "\($0)|\($0)" }, "\(column)")
    }
}
