import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// The trackers of the section `trackers` in the configuration file.
@Suite("sluice with named trackers", .timeLimit(.minutes(5)))
struct NamedTrackerTests {
    private static let plan = """
        <plist version="1.0"><dict>
        <key>postgresTrackers</key><array><string>warehouse</string><string>copy</string></array>
        <key>events</key><dict><key>Sold</key><dict>
        <key>registeredTrackers</key>
        <array><string>warehouse</string><string>copy</string><string>audit</string></array>
        <key>payload</key><dict><key>quantity</key><dict><key>type</key><string>integer</string></dict></dict>
        </dict></dict></dict></plist>
        """

    /// A plan and a configuration with two PostgreSQL trackers on one schema, and a Kafka tracker.
    private static func folder(_ database: TestDatabase, _ cluster: MockKafkaCluster) throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(plan, to: "events/shop.plist")
        try folder.write(database.url + "\n", to: "url.txt")
        try folder.write(
            """
            trackers:
              warehouse: { type: postgres, url: "\(database.url)", delivery: { maximumEvents: 1 } }
              copy: { type: postgres, urlFile: url.txt, timeouts: { deliverySeconds: 20 } }
              Audit: { type: kafka, brokers: "\(cluster.bootstrapServers)", topic: sold }

            """,
            to: "sluice.yaml"
        )
        return folder
    }

    @Test("each tracker gets the events that name it, and keeps a checkpoint of its own in a shared schema")
    func delivery() async throws {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let cluster = try MockKafkaCluster()
        try cluster.makeTopic("sold", partitions: 1)
        let folder = try Self.folder(database, cluster)
        let config = ["--config", "sluice.yaml"]

        let ambiguous = try await Sluice.run(["migrate"] + config, in: folder)
        #expect(ambiguous.ending == .exit(64))
        let sentence = "There are several trackers with tables; name one with --tracker: warehouse, copy."
        #expect(ambiguous.errors.first == "Error: \(sentence)")
        let migration = try await Sluice.run(["migrate", "--tracker", "Copy"] + config, in: folder)
        #expect(migration.ending == .exit(0), "\(migration.errors)")
        #expect(migration.output.contains("created sold"))
        let check = try await Sluice.run(["check", "--timeout", "60"] + config, in: folder)
        #expect(check.ending == .exit(0), "\(check.output)")
        #expect(
            ["console", "warehouse", "copy", "Audit"].allSatisfy { name in
                check.output.contains { $0.hasPrefix("\(name): ok") }
            }
        )

        let server = try await ServingSluice.start(config, in: folder, plan: "events")
        let body = (0..<5).map { #"{"name":"Sold","payload":{"quantity":\#($0)}}"# }.joined(separator: "\n")
        #expect(try await server.post(body, type: "application/x-ndjson").status == 200)
        // A tracker that has not started when the server is stopped delivers after the next start.
        let checkpoints = "SELECT tracker, next_sequence FROM analytics._sluice_checkpoints ORDER BY tracker"
        while try await database.run(checkpoints) != ["copy|5", "warehouse|5"] { try await waitBriefly() }
        while try await cluster.messages(in: "sold").count < 5 { try await waitBriefly() }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        let summary = try #require(server.process.errors.lines.last { $0.hasPrefix("Stopped.") })
        for name in ["warehouse", "copy", "Audit"] { #expect(summary.contains("\(name): 5 delivered"), "\(summary)") }
        #expect(try await database.run("SELECT count(*) FROM analytics.sold") == ["5"])
        #expect(try await database.run(checkpoints) == ["copy|5", "warehouse|5"])
        #expect(try await cluster.messages(in: "sold").count == 5)

        let replay = try await Sluice.replay(
            ["journal://journal", "--to", "audit"] + config,
            in: folder,
            plan: "events"
        )
        #expect(replay.ending == .exit(0), "\(replay.errors)")
        #expect(try replay.report().delivered == ["Audit": 5])
        let unknown = try await Sluice.run(["replay", "--to", "other"] + config, in: folder)
        let known = "audit, console, copy, warehouse"
        #expect(unknown.errors.first == "Error: No tracker 'other' is configured; there are: \(known).")
    }

    @Test("export sql writes the tables of one tracker in its schema")
    func export() async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan, to: "events/shop.plist")
        try folder.write("trackers: { Copy: { type: postgres, schema: copies } }", to: "sluice.yaml")
        func tables(_ options: String...) async throws -> [String] {
            let run = try await Sluice.run(["export", "sql"] + options, in: folder)
            #expect(run.ending == .exit(0), "\(run.errors)")
            return run.output.filter { $0.hasPrefix("CREATE TABLE") && $0.contains("sold") }
        }
        #expect(try await tables() == [])
        let copies = try await tables("--tracker", "copy", "--config", "sluice.yaml")
        #expect(copies.count == 1 && copies[0].contains("copies"), "\(copies)")
        let other = try await tables("--tracker", "copy", "--config", "sluice.yaml", "--schema", "other")
        #expect(other.count == 1 && other[0].contains("other"), "\(other)")
    }

    @Test("the section of a tracker that a type has by itself means the same as the short keys")
    func ownTrackers() async throws {
        let folder = try TestFolder()
        try folder.write(
            """
            trackers:
              strict: true
              postgres: { url: "postgres://a/b", queue: { policy: wait } }
              Kafka: { brokers: "a:1" }
            kafka: { topic: sold }

            """,
            to: "sluice.yaml"
        )
        let shown = try await Sluice.run("config", "show", "--config", "sluice.yaml", in: folder)
        let rows = shown.output.map { $0.split(separator: " ").map(String.init) }
        for row in [
            ["postgres.url", "host=a", "dbname=b", "sluice.yaml:3"], ["kafka.brokers", "a:1", "sluice.yaml:4"],
            ["kafka.topic", "sold", "sluice.yaml:5"], ["trackers.strict", "true", "sluice.yaml:2"],
            ["trackers.postgres.queue.policy", "wait", "sluice.yaml:3"],
        ] {
            #expect(rows.contains(row), "\(row)")
        }
    }

    @Test("environment variables have the tracker's name in them")
    func environment() async throws {
        let folder = try TestFolder()
        try folder.write("trackers: { eu-warehouse: { type: postgres } }", to: "sluice.yaml")
        let arguments = ["config", "check", "--config", "sluice.yaml"]
        let missing = try await Sluice.run(arguments, in: folder)
        #expect(
            missing.output == [
                "sluice.yaml:1:13: error: the tracker 'eu-warehouse' needs trackers.eu-warehouse.url or"
                    + " trackers.eu-warehouse.urlFile [missing-setting]"
            ]
        )
        let environment = [
            "SLUICE_TRACKERS_EU_WAREHOUSE_URL": "postgres://a/b",
            "SLUICE_TRACKERS_EU_WAREHOUSE_DELIVERY_MAXIMUM_EVENTS": "0",
        ]
        let stated = try await Sluice.run(arguments, in: folder, environment: environment)
        #expect(
            stated.output == [
                "error: SLUICE_TRACKERS_EU_WAREHOUSE_DELIVERY_MAXIMUM_EVENTS: expected a whole number of at least 1,"
                    + " found 0 [invalid-value]"
            ]
        )
    }

    @Test("a tracker that a section states needs its destination, also if it has the name of its type")
    func missing() async throws {
        let folder = try TestFolder()
        let valid = ["sluice.yaml: no problems"]
        for (trackers, environment, output) in [
            (
                "Postgres: { type: postgres }", [:],
                [
                    "sluice.yaml:1:13: error: the tracker 'Postgres' needs postgres.url or postgres.urlFile"
                        + " [missing-setting]"
                ]
            ),
            (
                "kafka: { type: kafka }", [:],
                ["sluice.yaml:1:13: error: the tracker 'kafka' needs kafka.brokers [missing-setting]"]
            ),
            ("postgres: { type: postgres }", ["DATABASE_URL": "postgres://a/b"], valid),
            ("postgres: { queue: { policy: wait } }", [:], valid),
            ("console: { type: console }", ["SLUICE_CONSOLE_ENABLED": "false"], valid),
        ] {
            try folder.write("trackers: { \(trackers) }", to: "sluice.yaml")
            let arguments = ["config", "check", "--config", "sluice.yaml"]
            #expect(try await Sluice.run(arguments, in: folder, environment: environment).output == output)
        }
    }

    @Test("trackers without a type, with the same name, or with keys of another type are errors")
    func problems() async throws {
        let folder = try TestFolder()
        try folder.write(
            """
            trackers:
              a: { url: "postgres://a/b" }
              b: { type: postgre }
              c: { type: kafka, url: a, brokers: "a:1", timeouts: { lockSeconds: 1 } }
              C: { type: console }
              d_1: { type: console, formt: json }
              D-1: { type: console }
              e: console
              f: { type: postgres, url: 5 }
              postgres: { type: kafka, url: "postgres://a/b" }
            postgres: { url: "postgres://a/c" }

            """,
            to: "sluice.yaml"
        )
        let run = try await Sluice.run("config", "check", "--config", "sluice.yaml", in: folder)
        #expect(
            run.output
                == [
                    "2:3: error: the tracker 'a' has no type; types are console, postgres, kafka, exec, file,"
                        + " webhook, sluice, socket [missing-setting]",
                    "3:14: error: trackers.b.type: unknown type 'postgre'; did you mean 'postgres'? [invalid-value]",
                    "4:21: error: there is no setting 'trackers.c.url'; 'sluice config example' shows all settings [unknown-key]",
                    "4:57: error: there is no setting 'trackers.c.timeouts.lockSeconds'; 'sluice config example' shows all"
                        + " settings [unknown-key]",
                    "5:3: error: the trackers 'c' and 'C' must differ in more than case and punctuation [duplicate-key]",
                    "6:25: error: there is no setting 'trackers.d_1.formt'; did you mean 'trackers.d_1.format'? [unknown-key]",
                    "7:3: error: the trackers 'd_1' and 'D-1' must differ in more than case and punctuation [duplicate-key]",
                    "8:6: error: trackers.e: expected a section with the tracker's type and settings, found a text"
                        + " [wrong-type]",
                    "9:29: error: trackers.f.url: expected a text, found a number; put it in quotation marks [wrong-type]",
                    "10:21: error: the tracker 'postgres' always has the type postgres; give one of another type another name"
                        + " [invalid-value]",
                    "11:18: error: postgres.url has a value already, in line 10 [duplicate-key]",
                ].map { "sluice.yaml:" + $0 }
        )
    }
}
