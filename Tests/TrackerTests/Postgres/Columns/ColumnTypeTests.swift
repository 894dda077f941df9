import EventModel
import EventPipeline
import EventSchema
import EventValidation
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

/// Whatever type a column has, a value is stored as the server's own text input would store it, or the table accepts no rows.
@Suite("PostgreSQL: every type in every column", .timeLimit(.minutes(5)))
struct ColumnTypeTests {
    /// Events of the planned types, between events of two tables that nobody alters.
    ///
    /// The first one can be an event that is there already, which makes the tracker use staging tables.
    private func events(of planned: [ColumnCases.Planned], from number: inout Int, repeating: Bool = false) -> [String]
    {
        var events: [String] = []
        func add(_ name: String, _ value: String, _ number: Int) {
            events.append(#"{"id":"\#(id(number))","name":"\#(name)","payload":{"value":\#(value)}}"#)
        }
        number += 1
        add("Alpha", "1", repeating ? 0 : number)
        for planned in planned {
            for value in planned.values {
                number += 1
                add(planned.event, value, number)
            }
        }
        number += 1
        add("Zeta", "1", number)
        return events
    }

    private func fixture() async throws -> PostgresFixture {
        let fixture = try await PostgresFixture(ColumnCases.plan())
        try await fixture.database.run(ColumnCases.setup)
        return fixture
    }

    /// Checks that each stored value is what the server makes of its text, and that there are as many rows as were delivered.
    private func checkRows(
        of planned: ColumnCases.Planned,
        as column: String,
        in fixture: PostgresFixture
    ) async throws {
        let type = try #require(column.split(separator: " GENERATED").first)
        let texts = planned.values.map { "'\(ColumnCases.Planned.text($0, as: column))'::\(type)::text" }
        let stored = try await fixture.database.run(
            """
            SELECT count(*), count(DISTINCT value::text) FROM \(planned.table)
            WHERE value::text IN (\(texts.joined(separator: ", ")));
            SELECT count(*) FROM \(planned.table); TRUNCATE \(planned.table);
            """
        )
        let count = planned.values.count
        #expect(stored == ["\(count)|\(count)", "\(count)"], "\(planned.type) in \(column)")
    }

    @Test(
        "a column that is altered after a delivery stores each value exactly, or its table accepts no rows and is named with it",
        arguments: [false, true]
    )
    func altered(whileStaging: Bool) async throws {
        let fixture = try await fixture()
        let session = try fixture.database.server.openSession(fixture.database.name)
        var number = 0
        var deliveries = 0
        for column in whileStaging ? ColumnCases.plain : ColumnCases.columns {
            try session.run(ColumnCases.repairs + "SELECT 1;")
            // The tracker finds that the tables are as planned.
            let repaired = events(of: [], from: &number, repeating: whileStaging)
            #expect(await fixture.tracker.deliver(try fixture.delivery(repaired)).isDelivered)
            for planned in ColumnCases.planned {
                try session.run(ColumnCases.alteration(of: planned.table, to: column) + "SELECT 1;")
                let events = events(of: [planned], from: &number, repeating: whileStaging)
                let outcome = await fixture.tracker.deliver(try fixture.delivery(events))
                #expect(outcome.refusals == [], "\(planned.type) in \(column)")
                if planned.exact.contains(column) {
                    #expect(outcome.isDelivered, "\(planned.type) in \(column): \(outcome)")
                    try await checkRows(of: planned, as: column, in: fixture)
                } else {
                    #expect(outcome.retry?.positions == Array(1...planned.values.count), "\(planned.type) in \(column)")
                    let message = outcome.retry?.reason.message ?? ""
                    #expect(message.contains(#""value""#), "\(planned.type) in \(column): \(message)")
                }
            }
            deliveries += 1 + ColumnCases.planned.count
        }
        for planned in ColumnCases.planned { #expect(try await fixture.count(planned.table) == 0, "\(planned.type)") }
        try session.close()
        #expect(try await fixture.count("analytics.alpha") == (whileStaging ? 1 : deliveries))
        #expect(try await fixture.count("analytics.zeta") == deliveries)
        await fixture.tracker.stop()
    }

    @Test("a tracker that starts on tables with other types sends nothing to them and everything to the others")
    func restarted() async throws {
        let fixture = try await fixture()
        var number = 0
        for column in ColumnCases.columns {
            try await fixture.database.run(ColumnCases.alterations(to: column))
            let tracker = try await fixture.startedTracker()
            try await check(
                tracker,
                in: fixture,
                events: events(of: ColumnCases.planned, from: &number),
                ColumnCases.planned.map { ($0, $0.exact.contains(column)) }
            )
            await tracker.stop()
        }
        #expect(try await fixture.count("analytics.alpha") == ColumnCases.columns.count)
        #expect(try await fixture.count("analytics.zeta") == ColumnCases.columns.count)
    }

    @Test(
        "after a plan change that gives a property another type, nothing is sent to its table until the table is changed"
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
            try await check(
                fixture.tracker,
                in: changed,
                events: events(of: shifted, from: &number),
                zip(planned, shifted).map { before, after in (after, after.exact.contains(before.exact[0])) }
            )
        }
        #expect(try await fixture.count("analytics.alpha") == planned.count)
    }

    @Test("check and migrate report the same columns that the tracker does not use")
    func reports() async throws {
        let fixture = try await fixture()
        let migrator = PostgresMigrator(PostgresConfiguration(connection: fixture.database.url))
        for column in ColumnCases.columns {
            try await fixture.database.run(ColumnCases.alterations(to: column))
            let outline = PipelineOutline(catalog: fixture.catalog, hasJournal: true)
            let problems = await fixture.tracker.problems(in: outline).map(\.message)
            let error = await #expect(throws: TrackerError.self, "\(column)") {
                try await migrator.migrate(fixture.catalog.plan, applying: Migration.builtIn)
            }
            for planned in ColumnCases.planned {
                let isExact = planned.exact.contains(column)
                let name = planned.columnName
                #expect(problems.contains { $0.contains(name) } != isExact, "\(planned.type) in \(column): \(problems)")
                #expect(error?.message.contains(name) != isExact, "\(planned.type) in \(column)")
            }
        }
    }

    /// Delivers events of the planned types, and checks that exactly those of some tables are retried, which are not stored.
    private func check(
        _ tracker: PostgresTracker,
        in fixture: PostgresFixture,
        events: [String],
        _ expected: [(planned: ColumnCases.Planned, isExact: Bool)]
    ) async throws {
        let outcome = await tracker.deliver(try fixture.delivery(events))
        var broken: [Int] = []
        var position = 1
        for (planned, isExact) in expected {
            if !isExact { broken += position..<position + planned.values.count }
            position += planned.values.count
        }
        #expect(outcome.refusals == [])
        #expect((outcome.retry?.positions ?? []) == broken)
        if !broken.isEmpty { #expect(outcome.retry?.reason.message.contains(#""value""#) == true) }
        let counts = expected.map { "SELECT count(*) FROM \($0.planned.table); TRUNCATE \($0.planned.table);" }
        let rows = try await fixture.database.run(counts.joined())
        #expect(rows == expected.map { $0.isExact ? "\($0.planned.values.count)" : "0" })
    }
}
