import CLibRDKafka
import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// `sluice check` before a deployment.
@Suite("sluice check", .timeLimit(.minutes(5)))
struct CheckTests {
    /// The output of `--json`.
    private struct Report: Decodable {
        struct Problem: Decodable {
            var code: String
            var sentence: String
        }

        struct Part: Decodable {
            var name: String
            var problems: [Problem]
        }

        var isOK: Bool
        var parts: [Part]

        func problems(of part: String) -> [String]? {
            parts.first { $0.name == part }?.problems.map { "\($0.sentence) [\($0.code)]" }
        }
    }

    private static let plan = Sluice.plan + "/retail.plist"

    private func check(_ arguments: [String], plan: String = plan, in folder: TestFolder) async throws -> Finished {
        // A destination that responds may take its time; the last occurrence of an option counts.
        try await Sluice.run(["check", "--events", plan, "--timeout", "60"] + arguments, in: folder)
    }

    private func report(_ run: Finished) throws -> Report {
        try JSONDecoder().decode(Report.self, from: Data(run.output.joined(separator: "\n").utf8))
    }

    @Test("if serve would find everything it needs, check exits with 0 and writes nothing")
    func healthy() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        let arguments = ["--events", Self.plan, "--postgres", database.url]
        #expect(try await Sluice.run(["migrate"] + arguments, in: folder).ending == .exit(0))
        let cluster = try MockKafkaCluster()
        try cluster.makeTopic("events", partitions: 1)
        let run = try await check(["--postgres", database.url, "--kafka", cluster.bootstrapServers], in: folder)
        #expect(run.ending == .exit(0), "\(run.output) \(run.errors)")
        #expect(
            run.output.map { String($0.prefix { $0 != "(" }) }
                == ["plan", "quarantine", "journal", "console", "postgres", "kafka"].map { "\($0): ok " }
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
        #expect(try await database.run("SELECT count(*) FROM analytics._sluice_checkpoints") == ["0"])
    }

    @Test("check reports all problems in one run, each with its fix, and creates nothing")
    func wrong() async throws {
        let folder = try TestFolder()
        try folder.write("a file", to: "journal")
        let database = try await PrivatePostgres.shared().makeDatabase()
        let cluster = try MockKafkaCluster()
        let arguments = ["--postgres", database.url, "--kafka", cluster.bootstrapServers]
        for _ in 0..<2 {
            let run = try await check(arguments + ["--json"], in: folder)
            #expect(run.ending == .exit(1))
            let report = try report(run)
            #expect(!report.isOK)
            #expect(report.problems(of: "plan") == [])
            #expect(report.problems(of: "journal")?.first?.contains("'journal' is not a folder") == true)
            let postgres = report.problems(of: "postgres") ?? []
            #expect(postgres.allSatisfy { $0.contains("run `sluice migrate`") && $0.hasSuffix("[not-prepared]") })
            #expect(postgres.count == 2)
            #expect(report.problems(of: "kafka")?.first?.contains("no topic 'events'") == true, "\(report)")
        }
        #expect(try await database.run("SELECT 1 FROM pg_namespace WHERE nspname = 'analytics'") == [])
    }

    @Test("a missing privilege is reported with the statement that grants it")
    func privilege() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        #expect(
            try await Sluice.run(["migrate", "--events", Self.plan, "--postgres", database.url], in: folder).ending
                == .exit(0)
        )
        try await database.run(
            """
            DO $$BEGIN CREATE ROLE checker LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN END$$;
            GRANT USAGE ON SCHEMA analytics TO checker;
            GRANT INSERT, SELECT (id) ON analytics.item_purchased TO checker
            """
        )
        let arguments = ["--postgres", database.url(role: "checker")]
        let run = try await check(arguments, in: folder)
        #expect(run.ending == .exit(1))
        let grants = run.output.compactMap { line in
            line.split(separator: "run: ").dropFirst().first.map { String($0.prefix { $0 != "[" }) }
        }
        #expect(grants.count == 2)
        try await database.run(grants.joined(separator: "\n"))
        #expect(try await check(arguments, in: folder).ending == .exit(0))
    }

    @Test(
        "with load.group, the tables and privileges of a loader are checked as well, even with a relay",
        arguments: [false, true]
    )
    func loader(hasRelay: Bool) async throws {
        let folder = try TestFolder()
        let scene = (database: try await PrivatePostgres.shared().makeDatabase(), cluster: try MockKafkaCluster())
        try scene.cluster.makeTopic("shared", partitions: 1)
        let arguments = ["--events", Self.plan, "--postgres", scene.database.url]
        #expect(try await Sluice.run(["migrate"] + arguments, in: folder).ending == .exit(0))
        try await scene.database.run("DROP TABLE analytics._sluice_refused")
        let topic = "kafka://\(scene.cluster.bootstrapServers)/shared"
        var environment = [hasRelay ? "SLUICE_RELAY_URL" : "SLUICE_LOAD_FROM": topic]
        let check = ["check", "--timeout", "60", "--json"] + arguments
        #expect(try report(try await Sluice.run(check, in: folder, environment: environment)).isOK)
        environment["SLUICE_LOAD_GROUP"] = "warehouse"
        let run = try await Sluice.run(check, in: folder, environment: environment)
        #expect(run.ending == .exit(1))
        let problems = try report(run).problems(of: "postgres") ?? []
        #expect(problems.count == 1 && problems[0].contains("_sluice_refused"), "\(problems)")
    }

    @Test("a destination that never responds is reported at the timeout, and the others are still checked")
    func silent() async throws {
        let folder = try TestFolder()
        // It accepts connections and never responds.
        let proxy = try SilentProxy(to: try await PrivatePostgres.shared().port)
        proxy.goMute()
        let connection = "postgres://postgres@127.0.0.1:\(proxy.port)/x?connect_timeout=0"
        let run = try await check(["--postgres", connection, "--timeout", "5", "--json"], in: folder)
        #expect(run.ending == .exit(1))
        let report = try report(run)
        #expect(report.problems(of: "postgres")?.first?.contains("did not answer within 5.0 seconds") == true)
        #expect(report.problems(of: "console") == [])
    }

    @Test("PostgreSQL's password and Kafka's properties may come from files")
    func secretFiles() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        try await database.run(
            """
            DO $$BEGIN CREATE ROLE guarded LOGIN PASSWORD 'right';
            EXCEPTION WHEN duplicate_object OR unique_violation THEN END$$
            """
        )
        try folder.write("right\n", to: "right.txt")
        try folder.write("wrong\n", to: "wrong.txt")
        try folder.write("# secret\nno.such.property=geheim\n", to: "kafka.properties")
        for (file, code) in [("wrong.txt", "[misconfigured]"), ("right.txt", "[not-prepared]")] {
            let run = try await Sluice.run(
                [
                    "check", "--events", Self.plan, "--timeout", "60", "--json", "--no-journal",
                    "--postgres", database.url(role: "guarded"),
                    "--kafka", "127.0.0.1:1", "--kafka-properties-file", "kafka.properties",
                ],
                in: folder,
                environment: ["SLUICE_POSTGRES_PASSWORD_FILE": file]
            )
            let report = try report(run)
            #expect(report.problems(of: "postgres")?.first?.hasSuffix(code) == true, "\(report)")
            #expect(report.problems(of: "kafka")?.first?.contains("'no.such.property'") == true, "\(report)")
            #expect(!run.output.joined().contains("geheim"))
        }
    }

    @Test("the timeouts of PostgreSQL and Kafka are settings")
    func timeouts() async throws {
        let folder = try TestFolder()
        let proxy = try SilentProxy(to: try await PrivatePostgres.shared().port)
        proxy.goMute()
        // Their defaults are longer than the check waits.
        let run = try await Sluice.run(
            [
                "check", "--events", Self.plan, "--timeout", "8", "--json",
                "--postgres", "postgres://postgres@127.0.0.1:\(proxy.port)/x", "--kafka", "127.0.0.1:1",
            ],
            in: folder,
            environment: [
                "SLUICE_POSTGRES_TIMEOUTS_CONNECT_SECONDS": "1", "SLUICE_KAFKA_TIMEOUTS_METADATA_SECONDS": "1",
            ]
        )
        let report = try report(run)
        for part in ["postgres", "kafka"] {
            let problems = report.problems(of: part) ?? []
            #expect(problems.count == 1 && !problems[0].contains("did not answer within"), "\(problems)")
        }
    }

    @Test("a plan with errors and invalid settings are reported, and the destinations are still checked")
    func brokenPlan() async throws {
        let folder = try TestFolder()
        try folder.write("no plist", to: "plan/broken.plist")
        let run = try await check(
            ["--postgres", "postgres://127.0.0.1:1/x", "--kafka", "localhost:nowhere", "--json"],
            plan: "plan",
            in: folder
        )
        #expect(run.ending == .exit(1))
        let report = try report(run)
        #expect(report.problems(of: "plan")?.first?.contains("broken.plist:1:") == true)
        #expect(report.problems(of: "postgres")?.first?.hasSuffix("[unavailable]") == true)
        #expect(report.problems(of: "kafka")?.first?.hasSuffix("[invalid-settings]") == true)
    }
}
