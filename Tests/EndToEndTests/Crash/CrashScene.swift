import Foundation
import TestSupport
import Testing

/// What a crash is played in: a journal, a PostgreSQL and a Kafka cluster, and clients that note what was acknowledged.
struct CrashScene {
    /// The time limit of the test passed before something came to be.
    struct Stalled: Error, CustomStringConvertible {
        let description: String
    }

    let folder: TestFolder
    let database: TestDatabase
    let cluster: MockKafkaCluster
    let load = CrashLoad()
    /// What is between the server and PostgreSQL; `nil` for nothing.
    let proxy: SilentProxy?

    private static let plan = Sluice.plan + "/retail.plist"

    /// Makes a database in the cluster, migrated for the plan.
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

    /// Starts `sluice serve`, and sends the clients there.
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

    /// Lets clients send while `body` plays; it returns the server that is left, which then has to deliver everything.
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

    /// Waits until so many more events are acknowledged.
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

    /// Waits until the server takes every event of its journal for settled; whether it is right is for `check` to say.
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
            if Task.isCancelled { throw stalled("only \(settled) have no lag", server) }
        }
    }

    /// The ids of the events that are in PostgreSQL, in order.
    func stored() async throws -> [String] {
        try await database.run("SELECT id FROM analytics.item_purchased ORDER BY id")
    }

    /// What was acknowledged must be in both destinations, and nothing there that nobody sent.
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
        // The primary key hides what is sent again; the log of what was sent does not.
        #expect(try await database.notedInserts() == stored)
        print(
            "\(acknowledged.count) events acknowledged, \(stored.count) in PostgreSQL, \(messages.count) messages",
            "in Kafka, \(messages.count - Set(messages).count) of them repetitions"
        )
    }

    private func stalled(_ what: String, _ server: ServingSluice) -> Stalled {
        let stalled = Stalled(description: "\(what); the server said:\n\(server.process.errors.text)")
        // An error that is thrown after the time limit is not reported.
        print(stalled)
        return stalled
    }
}
