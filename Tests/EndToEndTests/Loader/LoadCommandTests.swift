import CLibRDKafka
import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// `sluice load` with real processes, librdkafka's mock cluster and PostgreSQL.
@Suite("sluice load", .timeLimit(.minutes(5)))
struct LoadCommandTests {
    @Test("a topic is loaded from its beginning; a second run continues where the first ended; SIGTERM ends it with 0")
    func beginning() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 4))
        let first = try await scene.writePurchases(1000)
        var loader = try scene.load()
        try await scene.waitForStored(1000, loader: loader)
        #expect(try await scene.stop(loader) == "Stopped. postgres: 1000 loaded.")
        let second = try await scene.writePurchases(20)
        loader = try scene.load()
        try await scene.waitForStored(1020, loader: loader)
        #expect(try await scene.stop(loader) == "Stopped. postgres: 20 loaded.")
        #expect(try await scene.stored() == (first + second).sorted())
        #expect(try await scene.positions() == ["0=255", "1=255", "2=255", "3=255"])
        #expect(try await scene.refused() == [])
    }

    @Test(
        "records that cannot be loaded are kept with their verdicts, and the others are loaded",
        .promise("refused-record")
    )
    func refused() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        try await scene.keepEveryRow(refusing: ChaosProducer.refusedPrice)
        var drafts = [
            LoadScene.purchase(partition: 0, price: ChaosProducer.refusedPrice),
            LoadScene.purchase(partition: 0, quantity: 0),
            LoadScene.purchase(partition: 0, description: "A\\u0000B"),
            LoadScene.purchase(partition: 0), LoadScene.purchase(partition: 0), LoadScene.purchase(partition: 0),
        ]
        drafts[3].value = Array("{".utf8)
        drafts[4].value = nil
        try await scene.topic.writer().write(drafts)
        let loader = try scene.load()
        try await scene.waitForStored(1, loader: loader)
        #expect(try await scene.stop(loader) == "Stopped. postgres: 1 loaded, 5 refused.")
        let rows = try await scene.database.run(
            """
            SELECT record_offset, value IS NULL, convert_from(key, 'UTF8'), verdict->'errors'->0->>'code',
                jsonb_array_length(headers)
            FROM analytics._sluice_refused ORDER BY record_offset
            """
        )
        #expect(
            rows == [
                "0|f|17850|refused|6", "1|f|17850|out-of-range|6", "2|f|17850|malformed-json|6",
                "3|f|17850|malformed-json|6", "4|t|17850|malformed-json|6",
            ]
        )
    }

    @Test(
        "after a kill in the middle of a COPY, behind a network that went silent, each record is loaded once",
        .promise("loader-crash")
    )
    func killed() async throws {
        let postgres = try await PrivatePostgres.shared()
        let scene = try await LoadScene(SharedTopic(partitions: 4))
        try await scene.keepEveryRow(refusing: ChaosProducer.refusedPrice)
        let proxy = try SilentProxy(to: postgres.port)
        var ids: [String] = []
        for round in 1...3 {
            ids += try await scene.writePurchases(2000)
            // A static member, which the mock cluster does not know again.
            let loader = try scene.load(postgresPort: proxy.port, "--instance", "loader-0")
            // Enough for the claims and the beginning of a batch.
            proxy.goSilent(afterBytes: 20_000 * round)
            await proxy.waitForSilence()
            loader.send(SIGKILL)
            #expect(try await loader.waitForEnd() == .signal(SIGKILL))
        }
        let loader = try scene.load(postgresPort: proxy.port)
        try await scene.waitForStored(6000, loader: loader)
        try await scene.stop(loader)
        #expect(try await scene.stored("loaded_id") == ids.sorted())
    }

    @Test(
        "a loader that was frozen until its partitions belonged to another commits nothing of what it had read",
        .promise("claimed-partition")
    )
    func evicted() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 4))
        try await scene.keepEveryRow(refusing: ChaosProducer.refusedPrice)
        var ids = try await scene.writePurchases(100)
        let loader = try scene.load(environment: ["SLUICE_POSTGRES_TIMEOUTS_DELIVERY_SECONDS": "60"])
        try await scene.waitForStored(ids.count, loader: loader)
        // Frozen in the middle of a batch on each of its connections.
        let session = try scene.database.server.openSession(scene.database.name)
        try session.run("BEGIN; LOCK TABLE \(LoadScene.table); SELECT 1;")
        ids += try await scene.writePurchases(100)
        try await scene.database.waitForSessions(2, waitingFor: "relation")
        loader.send(SIGSTOP)
        try session.run("ROLLBACK; SELECT 1;")
        try session.close()
        let next = try scene.load()
        try await scene.waitForStored(ids.count, loader: next)
        loader.send(SIGCONT)
        ids += try await scene.writePurchases(100)
        try await scene.waitForStored(ids.count, loader: next)
        try await scene.stop(loader)
        try await scene.stop(next)
        #expect(try await scene.stored("loaded_id") == ids.sorted())
    }

    @Test(
        "a loader whose partition was claimed by another, without the group knowing, commits nothing and says so",
        .promise("claimed-partition")
    )
    func superseded() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        try await scene.writePurchases(10)
        let loader = try scene.load()
        try await scene.waitForStored(10, loader: loader)
        // What a claim does.
        try await scene.database.run("UPDATE analytics._sluice_loader_offsets SET epoch = epoch + 1")
        try await scene.writePurchases(10)
        _ = try await loader.errors.line(containing: "The stored epoch is another one")
        #expect(try await scene.stop(loader) == "Stopped. postgres: 10 loaded.")
        #expect(try await scene.stored().count == 10)
        #expect(try await scene.positions() == ["0=10"])
    }

    @Test(
        "a database that is restored while a loader runs gets the records again that it lost, and each of them once",
        .promise("restored-database")
    )
    func restored() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        try await scene.keepEveryRow(refusing: ChaosProducer.refusedPrice)
        var ids = try await scene.writePurchases(10)
        let loader = try scene.load()
        try await scene.waitForStored(10, loader: loader)
        try await scene.database.run(
            """
            BEGIN; DELETE FROM \(LoadScene.table);
            UPDATE analytics._sluice_loader_offsets SET next_offset = 0, last_record = NULL; COMMIT
            """
        )
        ids += try await scene.writePurchases(10)
        try await scene.wait(for: Self.position, toBe: ["20"], loader: loader)
        try await scene.stop(loader)
        #expect(try await scene.stored("loaded_id") == ids.sorted())
    }

    @Test("an event that a node has relayed twice counts once", .promise("repeated-event"))
    func relayedTwice() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        let event = LoadScene.purchase(partition: 0)
        try await scene.topic.writer().write([event, LoadScene.purchase(partition: 0)])
        let loader = try scene.load()
        try await scene.waitForStored(2, loader: loader)
        // Once in a later batch, and twice in the same one.
        try await scene.topic.writer().write([event, LoadScene.purchase(partition: 0)])
        let twice = LoadScene.purchase(partition: 0)
        try await scene.topic.writer().write([twice, twice])
        try await scene.wait(for: Self.position, toBe: ["6"], loader: loader)
        try await scene.stop(loader)
        #expect(try await scene.stored().count == 4)
        #expect(try await scene.refused() == [])
    }

    @Test(
        "the group of each tracker loads what serve has relayed; a tracker that is down is lag for itself only",
        .promise("slow-tracker")
    )
    func trackers() async throws {
        let postgres = try await PrivatePostgres()
        let scene = try await LoadScene(SharedTopic(partitions: 4), in: postgres)
        let server = try await ServingSluice.start("--relay", scene.topic.url, in: scene.folder, plan: LoadScene.plan)
        let lines = try await RetailMonth.dayLines(300).filter { $0.contains("Item Purchased") }
        try await postgres.stopImmediately()
        let loader = try scene.load(to: nil)
        #expect(try await server.post(lines.joined(separator: "\n"), type: "application/x-ndjson").status == 200)
        try await loader.output?.waitForLines(lines.count)
        _ = try await loader.errors.line(containing: "A tracker cannot start")
        try await postgres.start()
        try await scene.waitForStored(lines.count, loader: loader)
        #expect(try await scene.stored() == printedIDs(loader).sorted())
        try await scene.stop(loader)
        // A loader of another group begins at the first record, and one of the same group does not.
        let other = try scene.load(group: "other", to: "console")
        try await other.output?.waitForLines(lines.count)
        #expect(try await scene.stop(other) == "Stopped. console: \(lines.count) loaded.")
        try await expectContinuation(of: scene)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test("offsets that Kafka does not store are logged, and committed again until it does")
    func commitFailures() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        scene.topic.mock?.failCommits([RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED])
        try await scene.writePurchases(3)
        let loader = try scene.load(to: "console")
        let failure = try await loader.errors.line(containing: "Offsets could not be committed to Kafka")
        #expect(failure.contains("check the credentials and the ACLs"))
        _ = try await loader.errors.line(containing: "Offsets are committed to Kafka again.")
        try await scene.stop(loader)
        try await expectContinuation(of: scene)
    }

    /// Expects that another loader of the console's group loads only what is written now.
    private func expectContinuation(of scene: LoadScene) async throws {
        let ids = try await scene.writePurchases(Int(scene.topic.partitions))
        let again = try scene.load(to: "console")
        try await again.output?.waitForLines(ids.count)
        #expect(try await scene.stop(again) == "Stopped. console: \(ids.count) loaded.")
        #expect(printedIDs(again).sorted() == ids.sorted())
    }

    /// The ids of the events that a loader has printed.
    private func printedIDs(_ loader: SluiceProcess) -> [String] {
        (loader.output?.lines ?? []).map { String($0.dropFirst(#"{"id":""#.count).prefix(36)) }
    }

    @Test("SIGTERM commits the batch that is under way", .promise("orderly-shutdown"))
    func underWay() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        let ids = try await scene.writePurchases(100)
        let session = try scene.database.server.openSession(scene.database.name)
        try session.run("BEGIN; LOCK TABLE \(LoadScene.table); SELECT 1;")
        let time = [
            "SLUICE_POSTGRES_TIMEOUTS_DELIVERY_SECONDS": "240", "SLUICE_POSTGRES_TIMEOUTS_LOCK_SECONDS": "60",
        ]
        let loader = try scene.load(environment: time, "--log-level", "debug")
        try await scene.database.waitForSessions(1, waitingFor: "relation")
        loader.send(SIGTERM)
        _ = try await loader.errors.line(containing: "Signal caught")
        try session.run("ROLLBACK; SELECT 1;")
        try session.close()
        #expect(try await loader.waitForEnd() == .exit(0))
        // Usually all of them.
        let loaded = try await scene.stored()
        #expect(!loaded.isEmpty)
        #expect(loaded == ids.prefix(loaded.count).sorted())
        #expect(try await scene.positions() == ["0=\(loaded.count)"])
    }

    @Test("SIGTERM ends a loader whose brokers are unreachable", .promise("orderly-shutdown"))
    func brokersUnreachable() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        try await scene.writePurchases(100)
        let loader = try scene.load()
        try await scene.waitForStored(100, loader: loader)
        try scene.topic.mock?.goDown()
        try await scene.stop(loader)
    }

    @Test(
        "offsets without records, in the middle and at the end of a partition, are counted as loaded",
        .promise("missing-records")
    )
    func gaps() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1, brokerCount: 1))
        let (mock, topic) = (try #require(scene.topic.mock), scene.topic.name)
        try await scene.writePurchases(10)
        try await mock.writeControlRecord(to: topic, partition: 0)
        try await scene.writePurchases(10)
        try await mock.writeControlRecord(to: topic, partition: 0)
        var loader = try scene.load()
        try await scene.wait(for: Self.position, toBe: ["22"], loader: loader)
        #expect(try await scene.stored().count == 20)
        try await mock.writeControlRecord(to: topic, partition: 0)
        try await scene.wait(for: Self.position, toBe: ["23"], loader: loader)
        try await scene.stop(loader)
        // The last record is not directly before the position.
        loader = try scene.load()
        try await scene.writePurchases(10)
        try await scene.wait(for: Self.position, toBe: ["33"], loader: loader)
        try await scene.stop(loader)
        #expect(try await scene.stored().count == 30)
    }

    @Test("a tracker that events name and nobody has configured is a warning, unless --to names the trackers")
    func unconfigured() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        let arguments = ["load", "--events", LoadScene.plan, "--from", scene.topic.url, "--group", "loader"]
        let warning = "Events name a tracker that is not configured."
        for (options, isWarned) in [([], true), (["--to", "console"], false)] {
            let loader = try SluiceProcess(arguments + options, in: scene.folder)
            _ = try await loader.errors.line(containing: "The private port listens.")
            try await scene.stop(loader)
            #expect(loader.errors.lines.contains { $0.contains(warning) && $0.contains("postgres") } == isWarned)
        }
        let strict = try await Sluice.run(arguments, in: scene.folder, environment: ["SLUICE_TRACKERS_STRICT": "true"])
        #expect(strict.ending == .exit(1))
        #expect(strict.errors.contains { $0.contains("The tracker 'postgres' is not configured") }, "\(strict.errors)")
    }

    @Test("options that mean nothing to a loader are unknown to it", arguments: ["--relay", "--strict-trackers"])
    func foreignOptions(option: String) async throws {
        let help = try await Sluice.output(of: ["load", "--help"])
        #expect(help.contains("  --postgres") && !help.contains("  \(option)"))
        let run = try await Sluice.run("load", option, in: TestFolder())
        #expect(run.errors.contains { $0.contains("Unknown option '\(option)'") }, "\(run.errors)")
        #expect(run.ending == .exit(64))
    }

    static let position = "SELECT next_offset FROM analytics._sluice_loader_offsets"
}
