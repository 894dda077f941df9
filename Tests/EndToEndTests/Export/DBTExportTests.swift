import Foundation
import ServerTestSupport
import TestSupport
import Testing

@Suite("sluice export dbt", .timeLimit(.minutes(10)))
struct DBTExportTests {
    /// A database with the tables of a plan, and its export in the folder `dbt`.
    private static func prepare(
        _ folder: TestFolder,
        plan: String,
        _ options: String...
    ) async throws -> TestDatabase {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let migration = try await Sluice.run("migrate", "--events", plan, "--postgres", database.url, in: folder)
        #expect(migration.ending == .exit(0), "\(migration.errors)")
        let export = try await Sluice.run(["export", "dbt", "--events", plan, "-o", "dbt"] + options, in: folder)
        #expect(export.ending == .exit(0), "\(export.errors)")
        #expect(export.output == [])
        return database
    }

    @Test(
        "the models have the answers that a script computes, also after late and repeated events",
        arguments: [
            ("UTC", ["Item Purchased", "Item Returned"]),
            ("America/New_York", ["Item Purchased", "Item Purchased", "Item Returned"]),
        ]
    )
    func answers(zone: String, steps: [String]) async throws {
        let folder = try TestFolder()
        let recipes = try await Recipes(seed: steps.count, in: folder)
        let database = try await Self.prepare(folder, plan: Sluice.plan, "--funnel", "Item Purchased", "Item Returned")
        let funnel = steps.map { "\"\($0)\"" }.joined(separator: ", ")
        let variables = """
            {sluice_since: \(recipes.since), sluice_until: \(recipes.until), sluice_timezone: \(zone), \
            sluice_funnel: [\(funnel)], sluice_severity: error}
            """
        let builds = [["first.ndjson"], ["first.ndjson", "second.ndjson"]]
        var devices: [Set<String>] = []
        for files in builds {
            try await recipes.load(files, into: database)
            let build = try await DBT.run(
                ["--warn-error", "build", "--vars", variables],
                in: "dbt",
                of: folder,
                on: database
            )
            #expect(build.ending == .exit(0), "\(build.output.suffix(30))")
            for question in Recipes.Question.allCases {
                let rows = try await database.run("SELECT \(question.columns) FROM answers.sluice_\(question)")
                let expected = try await recipes.answer(
                    to: question,
                    after: files,
                    zone: zone,
                    steps: steps
                )
                #expect(expected.count > 1)
                #expect(rows.sorted() == expected, "\(question) after \(files)")
                if question == .users { devices.append(Set(rows.map { String($0.prefix { $0 != "|" }) })) }
            }
        }
        // The second file has a second user for some devices, which then belong to nobody.
        #expect(!devices[0].isSubset(of: devices[1]))
    }

    @Test("a query of a model opens only the partitions of the window, because its bounds are constants")
    func pruning() async throws {
        let folder = try TestFolder()
        let database = try await Self.prepare(folder, plan: Sluice.plan)
        let run = try await DBT.run(
            [
                "run", "--select", "+sluice_sessions", "--vars",
                "{sluice_since: 2031-02-01, sluice_until: 2031-03-01, sluice_timezone: Asia/Tokyo}",
            ],
            in: "dbt",
            of: folder,
            on: database
        )
        #expect(run.ending == .exit(0), "\(run.output.suffix(30))")
        try await database.run(
            """
            SET timezone = 'UTC';
            CREATE SCHEMA months;
            CREATE TABLE months.item_purchased (LIKE analytics.item_purchased) PARTITION BY RANGE (occurred_at);
            SELECT format('CREATE TABLE months.m%s PARTITION OF months.item_purchased FOR VALUES FROM (%L) TO (%L)',
                n, make_date(2031, n, 1), make_date(2031, n + 1, 1)) FROM generate_series(1, 11) n \\gexec
            """
        )
        for model in ["sluice_users", "sluice_sessions"] {
            let compiled = folder.lines(of: "dbt/target/compiled/sluice/models/\(model).sql")
            let sql = compiled.joined(separator: "\n").replacing(
                "\"analytics\".\"item_purchased\"",
                with: "months.item_purchased"
            )
            #expect(sql.contains("months.item_purchased"))
            let locked = try await database.run(
                """
                BEGIN;
                EXPLAIN (FORMAT json) \(sql) \\g /dev/null
                SELECT relation::regclass FROM pg_locks WHERE relation::regclass::text LIKE 'months.%';
                COMMIT;
                """
            )
            // February in Tokyo begins in January in UTC.
            #expect(locked.sorted() == ["months.item_purchased", "months.m1", "months.m2"], "\(model)")
        }
    }

    /// A plan whose names and values mean something to SQL, YAML and Jinja.
    private static let oddPlan = #"""
        <plist><dict>
        <key>events</key><dict>
        <key>It's "sold" {{ 1 }}</key><dict>
            <key>description</key><string>50 % {% off %}: "yes" # it's {# new</string>
            <key>registeredTrackers</key><array><string>postgres</string></array>
            <key>additionalProperties</key><true/>
            <key>payload</key><dict>
                <key>Größe</key><dict><key>type</key><string>string</string>
                    <key>description</key><string>{{ var('gone') }}</string>
                    <key>enum</key><array><string>it's</string><string>x'\#u{301}</string><string>{{ 1 }}</string><string>{{\#u{301} 2 }}</string><string>\"</string></array></dict>
                <key>order</key><dict><key>type</key><string>integer</string>
                    <key>minimum</key><integer>-3</integer><key>maximum</key><integer>5</integer></dict>
                <key>price</key><dict><key>type</key><string>decimal</string>
                    <key>minimum</key><string>0.10</string></dict>
                <key>note</key><dict><key>type</key><string>string</string><key>required</key><false/>
                    <key>minLength</key><integer>2</integer><key>maxLength</key><integer>3</integer></dict>
                <key>secret</key><dict><key>type</key><string>string</string><key>maxLength</key><integer>3</integer>
                    <key>sensitive</key><string>hash</string></dict>
                <key>gone</key><dict><key>type</key><string>string</string><key>sensitive</key><string>drop</string></dict>
            </dict>
        </dict></dict></dict></plist>
        """#

    @Test("each limit of the plan is a test, which fails for a row outside of it, whatever names and values look like")
    func tests() async throws {
        let folder = try TestFolder()
        try folder.write(Self.oddPlan, to: "plan/odd.plist")
        let database = try await Self.prepare(folder, plan: "plan")
        let tables =
            "SELECT relname FROM pg_class WHERE relnamespace = 'analytics'::regnamespace AND relkind IN ('r', 'p')"
        let table = try #require(try await database.run("\(tables) AND relname NOT LIKE '\\_%'").first)
        func insert(_ values: String) async throws {
            try await database.run(
                """
                ALTER TABLE analytics."\(table)" ALTER COLUMN "order" DROP NOT NULL;
                INSERT INTO analytics."\(table)" (id, occurred_at, received_at, "größe", "order", price, note, secret)
                VALUES (gen_random_uuid(), now(), now(), \(values))
                """
            )
        }
        func failures(_ options: String...) async throws -> (SluiceProcess.Ending, [Substring]) {
            let run = try await DBT.run(
                ["--warn-error-options", "{error: [Deprecations]}", "build"] + options,
                in: "dbt",
                of: folder,
                on: database
            )
            let found = run.output.compactMap { line in
                line.firstMatch(of: /(?:WARN|FAIL) (\d+) (?:source_)?(sluice_[a-z]+|not_null|accepted_values)_/)
            }
            return (run.ending, found.map { $0.output.2 + " " + $0.output.1 }.sorted())
        }
        try await insert(#"'it''s', -3, 0.1, 'ééé', repeat('h', 64)"#)
        try await insert(#"'{{ 1 }}', 5, 7, NULL, repeat('h', 64)"#)
        try await insert(#"'\"', 0, 1, 'ab', repeat('h', 64)"#)
        // A quotation mark and a brace, each followed by a combining accent.
        try await insert("'x''\u{301}', 1, 1, 'ab', repeat('h', 64)")
        try await insert("'{{\u{301} 2 }}', 1, 1, 'ab', repeat('h', 64)")
        let good = try await failures()
        #expect(good.0 == .exit(0))
        #expect(good.1 == [])
        try await insert(#"'{{', 6, 0.09, 'a', 'h'"#)
        try await insert(#"'its', NULL, 0.05, 'abcd', 'h'"#)
        let expected = ["accepted_values 2", "not_null 1", "sluice_between 1", "sluice_between 2", "sluice_length 2"]
        let warned = try await failures()
        #expect(warned.0 == .exit(0))
        #expect(warned.1.map(String.init) == expected)
        let failed = try await failures("--vars", "{sluice_severity: error}")
        #expect(failed.0 == .exit(1))
        #expect(failed.1.map(String.init) == expected)
        // The tests read only the window, which begins tomorrow.
        let tomorrow = Date().addingTimeInterval(86_400).formatted(.iso8601.year().month().day())
        let outside = try await failures("--select", "source:*", "--vars", "{sluice_since: \(tomorrow)}")
        #expect(outside.1 == [])
    }

    @Test("a funnel of events that the plan does not have is an error, and so is a plan without tables")
    func wrongNames() async throws {
        let folder = try TestFolder()
        let base = ["export", "dbt", "--events", Sluice.plan, "--output", "dbt"]
        let unknown = try await Sluice.run(base + ["--funnel", "Item Purchased", "Item Retuned"], in: folder)
        #expect(unknown.ending == .exit(64))
        #expect(
            unknown.errors.first
                == "Error: The plan has no event 'Item Retuned' with a table; did you mean 'Item Returned'?"
        )
        let one = try await Sluice.run(base + ["--funnel", "Item Purchased"], in: folder)
        #expect(one.ending == .exit(64))
        let without = try await Sluice.run(base + ["--tracker", "lake"], in: folder)
        #expect(without.ending == .exit(1))
        #expect(without.errors == ["error: No event of the plan names the tracker 'lake', so there are no tables."])
        #expect(!FileManager.default.fileExists(atPath: folder.path("dbt")))
        // The names are checked when dbt compiles, too.
        let database = try await Self.prepare(folder, plan: Sluice.plan)
        let build = try await DBT.run(
            ["build", "--vars", "{sluice_funnel: [Item Purchased, Item Lost]}"],
            in: "dbt",
            of: folder,
            on: database
        )
        #expect(build.ending == .exit(2))
        #expect(build.output.contains { $0.contains("The plan has no event 'Item Lost' with a table") })
    }

    @Test("the export has the same bytes in every run, and works as a package of another project")
    func package() async throws {
        let folder = try TestFolder()
        let database = try await Self.prepare(folder, plan: Sluice.plan)
        func files() throws -> [String: Data] {
            var files: [String: Data] = [:]
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path("dbt")) {
                files[path] = try? Data(contentsOf: folder.url.appending(path: "dbt/" + path))
            }
            return files
        }
        let first = try files()
        #expect(first.count == 13)
        let again = try await Sluice.run(["export", "dbt", "--events", Sluice.plan, "-o", "dbt"], in: folder)
        #expect(again.ending == .exit(0))
        #expect(try files() == first)
        try folder.write("packages: [{local: ../dbt}]", to: "mine/packages.yml")
        try folder.write(
            "{name: mine, profile: sluice, vars: {sluice_days: 9, sluice_funnel: [Item Purchased, Item Returned]}}",
            to: "mine/dbt_project.yml"
        )
        try folder.write(
            try String(contentsOfFile: folder.path("dbt/profiles.yml"), encoding: .utf8),
            to: "mine/profiles.yml"
        )
        try folder.write("select * from {{ ref('sluice_actives') }}", to: "mine/models/mine.sql")
        for command in ["deps", "build"] {
            let run = try await DBT.run([command], in: "mine", of: folder, on: database)
            #expect(run.ending == .exit(0), "\(run.output.suffix(30))")
        }
        #expect(try await database.run("SELECT count(*), max(daily) FROM answers.mine") == ["10|0"])
        #expect(try await database.run("SELECT count(*) FROM answers.sluice_funnel") == ["2"])
    }
}
