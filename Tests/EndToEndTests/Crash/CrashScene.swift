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
            try await waitUntilDelivered(by: server)
            server.process.send(SIGTERM)
            #expect(try await server.process.waitForEnd() == .exit(0))
            try await group.waitForAll()
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

    private func waitUntilDelivered(by server: ServingSluice) async throws {
        while let missing = try await firstMissing() {
            if Task.isCancelled { throw stalled(missing, server) }
        }
    }

    /// Which acknowledged events have not arrived; `nil` where all have.
    private func firstMissing() async throws -> String? {
        let stored = Set(try await database.run("select id from analytics.item_purchased"))
        let notStored = load.acknowledged.subtracting(stored)
        if let first = notStored.first { return "\(notStored.count) events are not in PostgreSQL, such as \(first)" }
        let sent = try await cluster.messages(in: "events").compactMap { $0.header("ce_id") }
        let notSent = load.acknowledged.subtracting(sent)
        return notSent.first.map { "\(notSent.count) events are not in Kafka, such as \($0)" }
    }

    private func check() async throws {
        #expect(try await firstMissing() == nil)
        let stored = try await database.run("select id from analytics.item_purchased order by id")
        // The primary key hides what is sent again; the log of what was sent does not.
        #expect(try await database.notedInserts() == stored)
        let messages = try await cluster.messages(in: "events").compactMap { $0.header("ce_id") }
        print(
            "\(load.acknowledged.count) events acknowledged, \(stored.count) in PostgreSQL, \(messages.count) messages",
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
