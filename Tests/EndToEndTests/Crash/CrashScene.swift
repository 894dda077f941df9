import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// The parts of a crash test: a journal, PostgreSQL, a Kafka cluster, and clients that record the acknowledged events.
struct CrashScene {
    /// The test's time limit passed before an expected condition was met.
    struct Stalled: Error, CustomStringConvertible {
        let description: String
    }

    let folder: TestFolder
    let database: TestDatabase
    let cluster: MockKafkaCluster
    let load = CrashLoad()
    /// The proxy between the server and PostgreSQL; `nil` if they are connected directly.
    let proxy: SilentProxy?

    private static let plan = Sluice.plan + "/retail.plist"

    /// Creates a database in the cluster, and migrates it for the plan.
    init(_ postgres: PrivatePostgres, proxy: SilentProxy? = nil) async throws {
        self.proxy = proxy
        folder = try TestFolder()
        database = try await postgres.makeDatabase()
        cluster = try MockKafkaCluster(brokers: 1)
        try cluster.makeTopic("events", partitions: 12)
        let migrated = try await Sluice.run("migrate", "--events", Self.plan, "--postgres", database.url, in: folder)
        #expect(migrated.ending == .exit(0))
        try await database.noteInserts(into: "analytics.item_purchased")
    }

    /// Starts `sluice serve`, and directs the clients to it.
    func serve(environment: [String: String] = [:]) async throws -> ServingSluice {
        let server = try await ServingSluice.start(
            "--no-console",
            "--journal",
            "journal",
            "--postgres",
            database.url(port: proxy?.port),
            "--kafka",
            cluster.bootstrapServers,
            in: folder,
            plan: Self.plan,
            environment: environment
        )
        load.begin(at: server.url)
        return server
    }

    /// Lets clients send while `body` runs; the server that it returns must then deliver all events.
    func play(_ body: () async throws -> ServingSluice) async throws {
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 { group.addTask { [load] in await load.send() } }
            let server = try await body()
            load.end()
            try await group.waitForAll()
            try await waitUntilSettled(by: server)
            server.process.send(SIGTERM)
            #expect(try await server.process.waitForEnd() == .exit(0))
        }
        try await check()
    }

    /// Waits until `count` more events are acknowledged.
    func waitForAcknowledged(further count: Int, by server: ServingSluice) async throws {
        let before = load.acknowledged.count
        await withTaskGroup { group in
            group.addTask { [load] in await load.waitForAcknowledged(before + count) }
            // A server that ends by itself acknowledges nothing more.
            group.addTask { _ = try? await server.process.waitForEnd() }
            await group.next()
            group.cancelAll()
        }
        let after = load.acknowledged.count
        guard after < before + count else { return }
        throw stalled("\(after - before) of \(count) further events were acknowledged", server)
    }

    /// Waits until no tracker has a lag; `check` then compares the destinations.
    private func waitUntilSettled(by server: ServingSluice) async throws {
        struct Report: Decodable {
            struct Cursor: Decodable {
                var tracker: String
                var lag: UInt64
            }

            var cursors: [Cursor]
        }
        while true {
            let run = try await Sluice.run("journal", "inspect", "journal", "--json", in: folder)
            let report = try JSONDecoder().decode(Report.self, from: Data(run.output.joined(separator: "\n").utf8))
            let settled = report.cursors.filter { $0.lag == 0 }.map(\.tracker)
            if settled.sorted() == ["kafka", "postgres"] { return }
            do { try await waitBriefly() } catch { throw stalled("only \(settled) have no lag", server) }
        }
    }

    /// The ids of the events in PostgreSQL, in order.
    func stored() async throws -> [String] {
        try await database.run("SELECT id FROM analytics.item_purchased ORDER BY id")
    }

    /// Checks that both destinations have all acknowledged events, and no event that was not sent.
    private func check() async throws {
        let (acknowledged, sent, stored) = (load.acknowledged, load.sent, try await stored())
        let messages = try await cluster.messages(in: "events").map { $0.header("ce_id") ?? "a message without an id" }
        #expect(!acknowledged.isEmpty)
        for (destination, found) in [("PostgreSQL", Set(stored)), ("Kafka", Set(messages))] {
            let missing = acknowledged.subtracting(found)
            #expect(missing.isEmpty, "\(missing.count) of \(acknowledged.count) events are not in \(destination)")
            let strange = found.subtracting(sent)
            #expect(strange.isEmpty, "\(strange.count) events in \(destination) were never sent")
        }
        // The primary key hides repeated inserts; the log of the inserts does not.
        #expect(try await database.notedInserts() == stored)
        print(
            "\(acknowledged.count) events acknowledged, \(stored.count) in PostgreSQL, \(messages.count) messages",
            "in Kafka, \(messages.count - Set(messages).count) of them repetitions"
        )
    }

    private func stalled(_ what: String, _ server: ServingSluice) -> Stalled {
        let stalled = Stalled(description: "\(what); the server said:\n\(server.process.errors.text)")
        // The testing library does not report an error that is thrown after the time limit.
        print(stalled)
        return stalled
    }
}
