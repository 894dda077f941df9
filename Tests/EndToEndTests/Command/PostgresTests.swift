import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// The retail data of one month in PostgreSQL.
@Suite("sluice and PostgreSQL", .timeLimit(.minutes(5)))
struct PostgresTests {
    private static let plan = Sluice.plan + "/retail.plist"

    private func migrate(
        _ database: TestDatabase,
        in folder: TestFolder,
        plan: String = plan,
        _ options: String...
    ) async throws -> Finished {
        let arguments = ["migrate", "--events", plan, "--postgres", database.url]
        return try await Sluice.run(arguments + options, in: folder)
    }

    private func facts(in database: TestDatabase) async throws -> RetailMonth.Facts? {
        try await database.run(RetailMonth.Facts.sql).first.flatMap { RetailMonth.Facts(row: $0) }
    }

    /// A digest of everything in both tables.
    private func digest(of database: TestDatabase) async throws -> [String] {
        try await database.run(
            "select md5(string_agg(t::text, ',' order by id)) from analytics.item_purchased t;"
                + "select md5(string_agg(t::text, ',' order by id)) from analytics.item_returned t"
        )
    }

    @Test("after a migration and a replay, the tables have exactly the month; another replay changes nothing")
    func month() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        let first = try await migrate(database, in: folder)
        #expect(first.ending == .exit(0))
        #expect(first.output.contains("created item_purchased"))
        let again = try await migrate(database, in: folder)
        #expect(again.ending == .exit(0))
        #expect(again.output == ["Nothing to do: the database matches the plan."])

        let arguments = ["--postgres", database.url, "--to", "postgres"]
        let run = try await Sluice.replay([RetailMonth.path] + arguments, in: folder, plan: Self.plan)
        #expect(run.ending == .exit(0))
        // The console prints nothing, so the report goes to standard output.
        #expect(run.output.count == 1)
        #expect(try run.report().delivered == ["postgres": 42_481])
        #expect(try await facts(in: database) == RetailMonth.facts)
        let content = try await digest(of: database)

        let second = try await Sluice.replay([RetailMonth.path] + arguments, in: folder, plan: Self.plan)
        #expect(second.ending == .exit(0))
        #expect(try second.report().delivered == ["postgres": 42_481])
        #expect(try second.report().alreadyThere == ["postgres": 42_481])
        #expect(try await digest(of: database) == content)
    }

    @Test(
        "a file that was rotated, compressed or has grown adds only its new lines, and another day's file all of its own",
        .promise("derived-ids")
    )
    func rotated() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        #expect(try await migrate(database, in: folder).ending == .exit(0))
        let month = try await RetailMonth.dayLines(80)
        let (day, rest) = (month[..<50].map { $0 + "\n" }.joined(), month[50..<60].map { $0 + "\n" }.joined())
        func replay(_ file: String) async throws -> (delivered: Int?, alreadyThere: Int?, rows: String?) {
            let arguments = [file, "--postgres", database.url, "--to", "postgres"]
            let report = try await Sluice.replay(arguments, in: folder, plan: Self.plan).report()
            let count =
                "select (select count(*) from analytics.item_purchased)"
                + " + (select count(*) from analytics.item_returned)"
            let rows = try await database.run(count).first
            return (report.delivered["postgres"], report.alreadyThere["postgres"], rows)
        }
        try folder.write(day, to: "a.ndjson")
        #expect(try await replay("a.ndjson") == (50, 0, "50"))
        try folder.write(day, to: "a.ndjson.1")
        #expect(try await replay("a.ndjson.1") == (50, 50, "50"))
        try folder.write(Data(try await Requests.gzip(day)), to: "a.ndjson.2.gz")
        #expect(try await replay("a.ndjson.2.gz") == (50, 50, "50"))
        try folder.write(day + rest, to: "a.ndjson")
        #expect(try await replay("a.ndjson") == (60, 50, "60"))
        // Another day's file with the first one's name, of which ten lines are equal to lines at the same places.
        let other = month[60..<70] + month[10..<20] + month[70...]
        try folder.write(other.map { $0 + "\n" }.joined(), to: "a.ndjson")
        #expect(try await replay("a.ndjson") == (30, 0, "90"))
        // The report as a table says it, too.
        let arguments = ["replay", "a.ndjson", "--events", Self.plan, "--postgres", database.url, "--to", "postgres"]
        let table = try await Sluice.run(arguments, in: folder)
        #expect(table.output.contains { $0.contains("already there") && $0.hasSuffix("30") })
    }

    @Test(
        "migrate --plan-only prints the SQL and runs nothing; after psql has run it, migrate has nothing to do"
    )
    func planOnly() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        let printed = try await migrate(database, in: folder, "--plan-only")
        #expect(printed.ending == .exit(0))
        #expect(printed.errors == ["7 migrations to apply and 2 tables to make or extend; nothing was run"])
        #expect(try await database.run("SELECT 1 FROM pg_namespace WHERE nspname = 'analytics'") == [])
        _ = try await database.run(printed.output.joined(separator: "\n"))
        let nothing = try await migrate(database, in: folder, "--plan-only")
        #expect(nothing.ending == .exit(0))
        #expect(nothing.output == ["-- Nothing to do: the database matches the plan."])
        #expect(try await migrate(database, in: folder).output == ["Nothing to do: the database matches the plan."])

        let plan = try String(contentsOfFile: Self.plan, encoding: .utf8)
        let retyped = plan.replacingOccurrences(of: "<string>integer</string>", with: "<string>number</string>")
        let path = try folder.write(retyped, to: "plan/retail.plist")
        let refused = try await migrate(database, in: folder, plan: path, "--plan-only")
        #expect(refused.ending == .exit(1) && refused.output == [])
        let sentence = #""quantity" has type bigint, and the plan wants double precision."#
        #expect(refused.errors.joined().contains(sentence))
    }

    @Test(
        "a replay whose destination cannot start exits with 1 and the reason",
        .promise("bounded-attempts"),
        arguments: [true, false]
    )
    func unpreparedReplay(isReachable: Bool) async throws {
        let folder = try TestFolder()
        let url = isReachable ? try await PrivatePostgres.shared().makeDatabase().url : "postgres://127.0.0.1:1/none"
        let input = Pipe()
        let process = try SluiceProcess(
            ["replay", "--events", Self.plan, "--postgres", url],
            in: folder,
            // A replay that waits for input ends as well.
            input: .pipe(input)
        )
        #expect(try await process.waitForEnd() == .exit(1))
        let said = isReachable ? "sluice migrate" : "127.0.0.1"
        #expect(process.errors.lines.last?.contains(said) == true, "\(process.errors.lines)")
    }

    /// Writes a file with ten events for each of the plan's two tables, alternating.
    private func twoTables(in folder: TestFolder) async throws -> String {
        let lines = try await RetailMonth.dayLines()
        let (bought, returned) = ("Item Purchased", "Item Returned")
        let pairs = zip(lines.filter { $0.contains(bought) }, lines.filter { $0.contains(returned) }).prefix(10)
        let chosen = pairs.flatMap { [$0, $1] }
        #expect(chosen.count == 20)
        try folder.write(chosen.joined(separator: "\n"), to: "twenty.ndjson")
        return "twenty.ndjson"
    }

    @Test(
        "a replay to a missing table, even from the quarantine, exits with 1 and names the table",
        .promise("bounded-attempts")
    )
    func missingTable() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        #expect(try await migrate(database, in: folder).ending == .exit(0))
        try await database.run(Self.breaking(state: "55000"))
        let file = try await twoTables(in: folder)
        let options = ["--postgres", database.url, "--to", "postgres"]
        _ = try await Sluice.replay([file] + options, in: folder, plan: Self.plan, environment: Self.parkingAtOnce)
        #expect(folder.quarantined().count == 10)
        try await database.run("DROP TABLE analytics.item_returned")
        for arguments in [[file], ["quarantine", "--code", "parked"]] {
            let run = try await Sluice.replay(arguments + options, in: folder, plan: Self.plan)
            #expect(run.ending == .exit(1))
            #expect(run.errors.last?.contains("item_returned") == true, "\(run.errors)")
        }
        #expect(try await migrate(database, in: folder).ending == .exit(0))
        let repaired = try await Sluice.replay(["quarantine"] + options, in: folder, plan: Self.plan)
        #expect(repaired.ending == .exit(0))
        #expect(try await database.run("select count(*) from analytics.item_returned") == ["10"])
    }

    @Test(
        "a replay whose deliveries make no progress exits with 1 and the tracker's reason",
        .promise("bounded-attempts")
    )
    func brokenDeliveries() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        #expect(try await migrate(database, in: folder).ending == .exit(0))
        try await database.run(Self.breaking(state: "42P01"))
        let run = try await Sluice.replay(
            [try await twoTables(in: folder), "--postgres", database.url, "--to", "postgres"],
            in: folder,
            plan: Self.plan
        )
        #expect(run.ending == .exit(1))
        let report = try run.report()
        #expect(report.delivered == ["postgres": 10])
        #expect(report.undelivered == ["postgres": 10])
        #expect(report.failures.joined().contains("item_returned"), "\(report.failures)")
    }

    /// Splits the twenty events into two deliveries, so that the events of the other table show that this one is broken.
    private static let parkingAtOnce = [
        "SLUICE_DELIVERY_PARK_AFTER_SECONDS": "0", "SLUICE_DELIVERY_MAXIMUM_EVENTS": "10",
    ]

    /// Makes inserts into the table of returned items fail with a SQLSTATE, which is not noticed at the start.
    private static func breaking(state: String) -> String {
        """
        CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN RAISE EXCEPTION 'broken' USING ERRCODE = '\(state)'; END$$;
        CREATE TRIGGER fail BEFORE INSERT ON analytics.item_returned FOR EACH ROW EXECUTE FUNCTION public.fail()
        """
    }

    @Test("events that a replay parked are counted as parked, and the exit status is 1")
    func parked() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        #expect(try await migrate(database, in: folder).ending == .exit(0))
        try await database.run(Self.breaking(state: "55000"))
        let arguments = [try await twoTables(in: folder), "--postgres", database.url, "--to", "postgres"]
        let run = try await Sluice.replay(arguments, in: folder, plan: Self.plan, environment: Self.parkingAtOnce)
        #expect(run.ending == .exit(1))
        let report = try run.report()
        #expect(report.delivered == ["postgres": 10])
        #expect(report.undelivered == ["postgres": 0])
        #expect(report.parked == ["postgres": 10])
        let table = try await Sluice.run(
            ["replay", "--events", Self.plan] + arguments,
            in: folder,
            environment: Self.parkingAtOnce
        )
        #expect(table.output.contains { $0.wholeMatch(of: #/ *parked +10/#) != nil }, "\(table.output)")
    }

    @Test("with --strict-trackers, serve exits with 1 if a table is missing", .promise("bounded-attempts"))
    func strictTables() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        let plan = Plans.shop(minimumQuantity: 1).replacing("console", with: "postgres")
        try folder.write(plan, to: "plan/shop.plist")
        #expect(try await migrate(database, in: folder, plan: "plan").ending == .exit(0))
        try folder.write(plan.replacing("Sold", with: "Lost"), to: "plan/lost.plist")
        let run = try await Sluice.run(
            ["serve", "--listen", "127.0.0.1:0", "--events", "plan", "--postgres", database.url, "--strict-trackers"],
            in: folder
        )
        #expect(run.ending == .exit(1))
        #expect(Self.failure(of: run)?.contains("\"lost\"") == true, "\(run.errors)")
    }

    @Test(
        "with --strict-trackers, serve exits with 1 at the first failed start",
        .promise("bounded-attempts"),
        arguments: [true, false]
    )
    func strictTrackers(isReachable: Bool) async throws {
        let folder = try TestFolder()
        let url = isReachable ? try await PrivatePostgres.shared().makeDatabase().url : "postgres://127.0.0.1:1/none"
        // A plan without other trackers, which --strict-trackers would report.
        let plan = Plans.shop(minimumQuantity: 1).replacing("console", with: "postgres")
        try folder.write(plan, to: "plan/shop.plist")
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--events", "plan", "--postgres", url]
        let strict = try await Sluice.run(arguments + ["--strict-trackers"], in: folder)
        #expect(strict.ending == .exit(1))
        let said = isReachable ? "sluice migrate" : "127.0.0.1"
        #expect(Self.failure(of: strict)?.contains(said) == true, "\(strict.errors)")
    }

    /// The line that says why a command ends; servers that end meanwhile may log later.
    private static func failure(of run: Finished) -> String? { run.errors.last { $0.hasPrefix("Error: ") } }

    @Test(
        "a destination without tables does not prevent senders from sending, and gets everything once it has them",
        .promise("unavailable-at-start")
    )
    func unprepared() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        let server = try await ServingSluice.start(
            ["--no-console", "--postgres", database.url],
            in: folder,
            plan: Self.plan
        )
        _ = try await server.process.errors.line(containing: "The tracker is blocked")
        try await server.waitUntilReady()
        let lines = try await RetailMonth.dayLines(20).joined(separator: "\n")
        #expect(try await server.post(lines, type: "application/x-ndjson").status == 200)
        #expect(try await migrate(database, in: folder).ending == .exit(0))
        let count = "select count(*) from analytics.item_purchased"
        while try await database.run(count).first != "20" { try await waitBriefly() }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test("a crash of PostgreSQL is one line in the log of serve, and its recovery is another one with the duration")
    func outageLog() async throws {
        let folder = try TestFolder()
        let postgres = try await PrivatePostgres()
        let database = try await postgres.makeDatabase()
        #expect(try await migrate(database, in: folder).ending == .exit(0))
        let server = try await ServingSluice.start("--postgres", database.url, in: folder)
        // The console starts first; PostgreSQL has to have started too, or the failure is one of its start.
        let start = "tracker=postgres [EventPipeline] The tracker has started."
        _ = try await server.process.errors.line(containing: start)
        try await postgres.stopImmediately()
        let lines = try await RetailMonth.dayLines(20).joined(separator: "\n")
        #expect(try await server.post(lines, type: "application/x-ndjson").status == 200)
        let failure = try await server.process.errors.line(containing: "A delivery failed and is tried again.")
        #expect(failure.contains("failures=1 "))
        try await postgres.start()
        let recovery = try await server.process.errors.line(containing: "The tracker delivers again.")
        #expect(recovery.contains("seconds="))
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        let all = server.process.errors.lines
        #expect(all.count { $0.contains("A delivery failed") && $0.contains("failures=1 ") } == 1)
        #expect(all.count { $0.contains("The tracker delivers again.") } == 1)
        #expect(try await facts(in: database)?.ids == 20)
    }

    @Test("a replay during which PostgreSQL crashes and recovers loses no event and inserts none twice")
    func crash() async throws {
        let folder = try TestFolder()
        let server = try await PrivatePostgres()
        let database = try await server.makeDatabase()
        #expect(try await migrate(database, in: folder).ending == .exit(0))
        let feed = try RetailMonth.Feed(in: folder)
        let process = try SluiceProcess(
            ["replay", feed.path, "--events", Self.plan, "--postgres", database.url, "--to", "postgres", "--json"],
            in: folder
        )
        // After the first rows the server crashes, and the rest of the file follows.
        while try await facts(in: database)?.ids ?? 0 < 1_000 { try await waitBriefly() }
        try await server.stopImmediately()
        try await feed.goOn()
        _ = try await process.errors.line(containing: "A delivery failed and is tried again")
        try await server.start()
        #expect(try await process.waitForEnd() == .exit(0))
        #expect(try await facts(in: database) == RetailMonth.facts)
        #expect(folder.quarantined() == [])

        // The real file has the same events with the same ids.
        let content = try await digest(of: database)
        let again = try await Sluice.replay(
            [RetailMonth.path, "--postgres", database.url, "--to", "postgres"],
            in: folder,
            plan: Self.plan
        )
        #expect(again.ending == .exit(0))
        #expect(try await digest(of: database) == content)
    }

    @Test(
        "an event that PostgreSQL refuses is quarantined with its message, the others are inserted, and the exit status is 1"
    )
    func refused() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        #expect(try await migrate(database, in: folder).ending == .exit(0))
        try await database.run("alter table analytics.item_purchased add constraint few check (quantity < 10000)")
        var lines = try await RetailMonth.dayLines(100)
        lines[50] = lines[50].replacing(/"quantity":\d+/, with: #""quantity":20000"#)
        try folder.write(lines.joined(separator: "\n"), to: "hundred.ndjson")
        let run = try await Sluice.replay(
            ["hundred.ndjson", "--postgres", database.url, "--to", "postgres"],
            in: folder,
            plan: Self.plan
        )
        #expect(run.ending == .exit(1))
        let report = try run.report()
        #expect(report.delivered == ["postgres": 99])
        #expect(report.refused == ["postgres": 1])
        #expect(report.undelivered == ["postgres": 0])
        let kept = folder.quarantined()
        #expect(kept.count == 1)
        #expect(kept[0].contains(#""source":"tracker:postgres","stage":"delivery""#))
        #expect(kept[0].contains("few"))

        // Without the tracker that refused it, the event stays in the quarantine.
        let elsewhere = try await Sluice.replay("quarantine", in: folder, plan: Self.plan)
        #expect(elsewhere.ending == .exit(0))
        #expect(try elsewhere.report().skipped == 1)

        // The fix: drop the constraint, and replay the quarantine.
        try await database.run("alter table analytics.item_purchased drop constraint few")
        let retry = try await Sluice.replay(
            ["quarantine", "--postgres", database.url, "--to", "postgres"],
            in: folder,
            plan: Self.plan
        )
        #expect(retry.ending == .exit(0))
        #expect(try await facts(in: database)?.ids == 100)
    }

    @Test("an event accepted over HTTP is in its table once, however often it is sent")
    func serve() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        #expect(try await migrate(database, in: folder).ending == .exit(0))
        let server = try await ServingSluice.start("--postgres", database.url, in: folder, plan: Self.plan)
        let id = "0190a2b4-0000-7000-8000-000000000001"
        let line = try await RetailMonth.dayLines(1)[0].replacing(
            "{\"name\"",
            with: "{\"id\":\"\(id)\",\"name\"",
            maxReplacements: 1
        )
        for _ in 0..<2 { #expect(try await server.post(line).status == 200) }
        // A shutdown does not wait for a tracker that has not started.
        let checkpoint = "select next_sequence from analytics._sluice_checkpoints"
        while try await database.run(checkpoint) != ["2"] { try await waitBriefly() }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        #expect(try await database.run("select id, quantity from analytics.item_purchased") == ["\(id)|6"])
    }
}
