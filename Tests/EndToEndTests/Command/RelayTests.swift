import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// `serve --relay`, with librdkafka's mock cluster as the shared log.
@Suite("sluice serve --relay", .timeLimit(.minutes(5)))
struct RelayTests {
    private static let plan = Sluice.plan + "/retail.plist"
    private static let brokers = ["SLUICE_RELAY_ACKNOWLEDGE": "brokers"]

    private func relay(_ cluster: MockKafkaCluster) -> String { "kafka://\(cluster.bootstrapServers)/shared" }

    @Test(
        "every event goes to the relay's topic, whatever trackers it names, with its plan's digest, and to no other tracker",
        .promise("relay-node-loss")
    )
    func everything() async throws {
        let folder = try TestFolder()
        let cluster = try MockKafkaCluster(brokers: 3)
        try folder.write(plan(sensitivity: nil), to: "plan.plist")
        let server = try await ServingSluice.start("--relay", relay(cluster), in: folder, plan: "plan.plist")
        let lines = #"{"name":"Printed","payload":{"text":"a"}}"# + "\n" + #"{"name":"Stored","payload":{"text":"b"}}"#
        #expect(try await server.post(lines, type: "application/x-ndjson").status == 200)
        var messages: [KafkaMessage] = []
        while messages.count < 2 {
            try await waitBriefly()
            messages = try await cluster.messages(in: "shared")
        }
        #expect(Set(messages.map { $0.header("ce_type") }) == ["Printed", "Stored"])
        let digests = Set(messages.map { $0.header("ce_sluiceplan") ?? "" })
        #expect(digests.count == 1)
        #expect(digests.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        // The console would print.
        #expect(server.process.output?.lines == [])
        #expect(server.process.errors.lines.contains { $0.contains("relay: 2 delivered") })
    }

    @Test(
        "with 'brokers', an event is in the topic once it is acknowledged, and while the brokers are away nothing is accepted",
        .promise("relay-node-loss", "relay-outage")
    )
    func refused() async throws {
        let folder = try TestFolder()
        let cluster = try MockKafkaCluster(brokers: 3)
        let server = try await start(cluster, in: folder, environment: Self.brokers)
        let line = try await RetailMonth.dayLines(1)[0]
        let first = try await server.post(line, type: "application/x-ndjson", "-i")
        #expect(first.status == 200)
        #expect(first.body.lowercased().contains("sluice-acknowledged: delivered"))
        #expect(try await cluster.messages(in: "shared").count == 1)
        try cluster.goDown()
        // The request that notices it waits, and its outcome is unknown; those after it are refused.
        #expect(try await server.post(line, type: "application/x-ndjson").status == 504)
        var answer = try await server.post(line, type: "application/x-ndjson", "-i")
        while answer.status == 504 { answer = try await server.post(line, type: "application/x-ndjson", "-i") }
        #expect(answer.status == 503)
        #expect(answer.body.contains(#""code":"destination-unavailable""#))
        #expect(answer.body.lowercased().contains("retry-after: "))
        try cluster.comeUp()
        while try await server.post(line, type: "application/x-ndjson").status != 200 { try await waitBriefly() }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test(
        "with the journal as a fallback, events are accepted while the brokers are away, and the answer says so",
        .promise("relay-outage")
    )
    func fallback() async throws {
        let folder = try TestFolder()
        let cluster = try MockKafkaCluster(brokers: 3)
        let environment = Self.brokers.merging(["SLUICE_RELAY_WHEN_UNAVAILABLE": "journal"]) { $1 }
        let server = try await start(cluster, in: folder, environment: environment)
        let lines = try await RetailMonth.dayLines(3)
        #expect(try await server.post(lines[0], type: "application/x-ndjson").status == 200)
        try cluster.goDown()
        for line in lines[1...] {
            let answer = try await server.post(line, type: "application/x-ndjson", "-i")
            #expect(answer.status == 200)
            #expect(answer.body.lowercased().contains("sluice-acknowledged: stored"))
        }
        try cluster.comeUp()
        while Set(try await cluster.messages(in: "shared").map(\.value)).count < 3 { try await waitBriefly() }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test("a topic with one replica cannot be a relay that the brokers acknowledge")
    func oneReplica() async throws {
        let folder = try TestFolder()
        let cluster = try MockKafkaCluster(brokers: 1)
        let process = try SluiceProcess(
            [
                "serve", "--listen", "127.0.0.1:0", "--events", Self.plan, "--relay", relay(cluster),
                "--strict-trackers",
            ],
            in: folder,
            environment: Self.brokers
        )
        _ = try await process.errors.line(containing: "a partition has 1 replica")
        #expect(try await process.waitForEnd() == .exit(1))
    }

    @Test(
        "a relay that cannot work is an invalid setting",
        .promise("unsafe-relay"),
        arguments: [
            ("kafka://127.0.0.1:9092/{event}", "one topic gets all events"),
            ("kafka://127.0.0.1:9092", "expected kafka://host:port,host:port/topic"),
            ("http://127.0.0.1:9092/a", "expected kafka://host:port,host:port/topic"),
            ("kafka:///a", "the address names no broker"),
            ("kafka://127.0.0.1:9092/a b", "is not a valid topic name"),
        ]
    )
    func invalid(relay: String, sentence: String) async throws {
        let folder = try TestFolder()
        let run = try await Sluice.run("serve", "--events", Self.plan, "--relay", relay, in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.errors.contains { $0.contains(sentence) }, "\(run.errors)")
    }

    @Test("settings with which the brokers' acknowledgement would mean less are refused", .promise("unsafe-relay"))
    func contradictions() async throws {
        let folder = try TestFolder()
        let cases: [(options: [String], environment: [String: String], sentence: String)] = [
            (["--kafka-property", "acks=1"], [:], "'acks' cannot be set here"),
            (["--kafka-property", "enable.idempotence=false"], [:], "'enable.idempotence' cannot be set here"),
            ([], ["SLUICE_QUEUE_POLICY": "dropOldest"], "a queue that drops events cannot be combined with"),
            (["--no-journal"], ["SLUICE_RELAY_WHEN_UNAVAILABLE": "journal"], "'journal' needs a journal"),
        ]
        for (options, environment, sentence) in cases {
            let process = try SluiceProcess(
                ["serve", "--events", Self.plan, "--relay", "kafka://127.0.0.1:1/shared"] + options,
                in: folder,
                environment: Self.brokers.merging(environment) { $1 }
            )
            _ = try await process.errors.line(containing: sentence)
            #expect(try await process.waitForEnd() != .exit(0))
        }
    }

    @Test(
        "a plan with a value that only some trackers may see cannot be relayed, unless the value is dropped or hashed",
        .promise("unsafe-relay")
    )
    func restricted() async throws {
        let folder = try TestFolder()
        let cluster = try MockKafkaCluster(brokers: 3)
        try cluster.makeTopic("shared", partitions: 1)
        let restricted = "<dict><key>trackers</key><array><string>postgres</string></array></dict>"
        try folder.write(plan(sensitivity: restricted), to: "plan.plist")
        let problem = "Only some trackers may see text of 'Stored'"
        let arguments = ["--events", "plan.plist", "--relay", relay(cluster)]
        for command in ["serve", "check"] {
            let run = try await Sluice.run([command] + arguments, in: folder)
            #expect(run.ending == .exit(1))
            #expect((run.errors + run.output).contains { $0.contains(problem) }, "\(run.errors)")
        }
        for harmless in ["drop", "hash"] {
            try folder.write(plan(sensitivity: "<string>\(harmless)</string>"), to: "plan.plist")
            let key = ["SLUICE_PRIVACY_HASH_KEY": String(repeating: "k", count: 32)]
            let run = try await Sluice.run(["check", "--timeout", "60"] + arguments, in: folder, environment: key)
            #expect(run.ending == .exit(0), "\(run.output) \(run.errors)")
        }
    }

    @Test(
        "with 'brokers', a topic that could lose acknowledged events is refused, by check and by the relay, with every reason",
        .promise("unsafe-relay"),
        arguments: [
            (1, ["min.insync.replicas=1"], ["a partition has 1 replica", "min.insync.replicas is 1"]),
            (3, ["min.insync.replicas=1"], ["min.insync.replicas is 1"]),
            (3, ["min.insync.replicas=2", "cleanup.policy=compact"], ["cleanup.policy is 'compact'"]),
            (
                3, ["min.insync.replicas=2", "unclean.leader.election.enable=true"],
                ["unclean.leader.election.enable is true"]
            ),
        ]
    )
    func unsafeTopic(replicas: Int, settings: [String], reasons: [String]) async throws {
        let folder = try TestFolder()
        let broker = try await broker(replicas: replicas, settings, in: folder)
        // It ends with its last reference.
        defer { broker.process.send(SIGKILL) }
        let run = try await Sluice.run(
            ["check", "--events", Self.plan, "--timeout", "60", "--relay", broker.relay],
            in: folder,
            environment: Self.brokers
        )
        #expect(run.ending == .exit(1))
        #expect(reasons.allSatisfy { reason in run.output.contains { $0.contains(reason) } }, "\(run.output)")
        let server = try await ServingSluice.start(
            ["--relay", broker.relay],
            in: folder,
            plan: Self.plan,
            environment: Self.brokers
        )
        let blocked = try await server.process.errors.line(containing: "The tracker is blocked")
        #expect(reasons.allSatisfy { blocked.contains($0) })
        let line = try await RetailMonth.dayLines(1)[0]
        #expect(try await server.post(line, type: "application/x-ndjson").status == 503)
    }

    @Test(
        "a topic that promises enough is accepted; what the brokers do not say is a warning",
        .promise("unsafe-relay")
    )
    func safeTopic() async throws {
        let folder = try TestFolder()
        let safe = ["min.insync.replicas=2", "cleanup.policy=delete", "unclean.leader.election.enable=false"]
        for (settings, warns) in [(safe, false), (["denied"], true)] {
            let broker = try await broker(replicas: 3, settings, in: folder)
            defer { broker.process.send(SIGKILL) }
            let run = try await Sluice.run(
                ["check", "--events", Self.plan, "--timeout", "60", "--relay", broker.relay],
                in: folder,
                environment: Self.brokers
            )
            #expect(run.ending == .exit(0), "\(run.output)")
            let server = try await ServingSluice.start(
                ["--relay", broker.relay],
                in: folder,
                plan: Self.plan,
                environment: Self.brokers
            )
            _ = try await server.process.errors.line(containing: "The tracker has started.")
            let warning = "The brokers do not say what the settings of a topic are"
            let said = server.process.errors.lines.first { $0.contains(warning) }
            #expect((said != nil) == warns)
            #expect(said?.contains("cleanup.policy, min.insync.replicas, unclean.leader.election.enable") != false)
            server.process.send(SIGTERM)
            #expect(try await server.process.waitForEnd() == .exit(0))
        }
    }

    @Test("librdkafka's properties apply to the relay, and config check shows its settings")
    func properties() async throws {
        let folder = try TestFolder()
        let relay = "kafka://127.0.0.1:1/shared"
        try folder.write(
            """
            relay:
              url: \(relay)
              acknowledge: brokers
            kafka:
              properties: ["security.protocol=ssl", "ssl.ca.location=/no/such/file"]
            """,
            to: "sluice.yaml"
        )
        let config = ["--config", "sluice.yaml"]
        let shown = try await Sluice.run(["config", "show"] + config, in: folder)
        #expect(shown.ending == .exit(0), "\(shown.errors)")
        #expect(shown.output.contains { $0.contains("relay.url") && $0.contains(relay) }, "\(shown.output)")
        let run = try await Sluice.run(["check", "--events", Self.plan, "--timeout", "60"] + config, in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.output.contains { $0.contains("ssl.ca.location") }, "\(run.output)")
        try folder.write("relay: {url: \(relay), acknowledge: everybody}", to: "sluice.yaml")
        let wrong = try await Sluice.run(["config", "check"] + config, in: folder)
        #expect(wrong.ending == .exit(1))
        #expect((wrong.output + wrong.errors).contains { $0.contains("relay.acknowledge") }, "\(wrong.errors)")
    }

    @Test("drain relays everything that is undelivered, and ends with 0", .promise("drained-node"))
    func drain() async throws {
        let folder = try TestFolder()
        let cluster = try MockKafkaCluster(brokers: 3)
        let server = try await start(cluster, in: folder)
        try cluster.goDown()
        let lines = try await RetailMonth.dayLines(50)
        #expect(try await server.post(lines.joined(separator: "\n"), type: "application/x-ndjson").status == 200)
        try cluster.comeUp()
        let drained = try await Sluice.run("drain", in: folder)
        #expect(drained.ending == .exit(0), "\(drained.errors)")
        #expect(Set(try await cluster.messages(in: "shared").compactMap { $0.header("ce_id") }).count == 50)
        #expect(try await server.post(lines[0], type: "application/x-ndjson").status == 503)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test(
        "the journal of a lost node is handed over to the relay by another, with the same ids",
        .promise("relay-node-loss")
    )
    func leftBehind() async throws {
        let folder = try TestFolder()
        let cluster = try MockKafkaCluster(brokers: 3)
        let server = try await start(cluster, in: folder)
        try cluster.goDown()
        let lines = try await RetailMonth.dayLines(20)
        #expect(try await server.post(lines.joined(separator: "\n"), type: "application/x-ndjson").status == 200)
        server.process.send(SIGKILL)
        _ = try await server.process.waitForEnd()
        try cluster.comeUp()
        let run = try await Sluice.replay(
            ["journal://journal", "--relay", relay(cluster)],
            in: folder,
            plan: Self.plan
        )
        #expect(run.ending == .exit(0))
        let messages = try await cluster.messages(in: "shared")
        let journal = try await Sluice.run("journal", "cat", "journal", in: folder)
        #expect(journal.output.count == 20)
        #expect(Set(messages.compactMap { $0.header("ce_id") }) == Set(EndToEndTests.ids(of: journal.output)))
    }

    private func start(
        _ cluster: MockKafkaCluster,
        in folder: TestFolder,
        environment: [String: String] = [:]
    ) async throws -> ServingSluice {
        let server = try await ServingSluice.start(
            [
                "--relay", relay(cluster), "--max-wait", "10",
                // Short, so that an outage is noticed soon.
                "--kafka-property", "message.timeout.ms=1000",
            ],
            in: folder,
            plan: Self.plan,
            environment: environment
        )
        _ = try await server.process.errors.line(containing: "tracker=relay [EventPipeline] The tracker has started.")
        return server
    }

    private struct Broker {
        let process: SluiceProcess
        let relay: String
    }

    /// A broker that only describes the topic `shared`, which has these settings; `denied` instead of settings hides them.
    private func broker(replicas: Int, _ settings: [String], in folder: TestFolder) async throws -> Broker {
        let process = try ClientScript.start("kafka_settings", ["shared", "\(replicas)"] + settings, in: folder)
        let address = try await #require(process.output).line(containing: "127.0.0.1:")
        return Broker(process: process, relay: "kafka://\(address)/shared")
    }

    /// A plan with an event for the console and one for PostgreSQL, whose text has this `sensitive`.
    private func plan(sensitivity: String?) -> String {
        let event = { (name: String, tracker: String, rest: String) in
            """
            <key>\(name)</key><dict><key>registeredTrackers</key><array><string>\(tracker)</string></array>
            <key>payload</key><dict><key>text</key><dict><key>type</key><string>string</string>\(rest)</dict></dict></dict>
            """
        }
        let sensitive = sensitivity.map { "<key>sensitive</key>\($0)" } ?? ""
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>events</key><dict>
            \(event("Printed", "console", ""))\(event("Stored", "postgres", sensitive))
            </dict></dict></plist>
            """
    }
}
