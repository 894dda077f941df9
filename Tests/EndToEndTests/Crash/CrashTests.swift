import Foundation
import Synchronization
import TestSupport
import Testing

/// `sluice serve` with a journal, killed again and again while clients send.
///
/// `SLUICE_CRASHES` says how often; `make crash-test N=200` sets it.
@Suite("sluice serve is killed", .timeLimit(.minutes(30)))
struct CrashTests {
    private static let crashes = ProcessInfo.processInfo.environment["SLUICE_CRASHES"].flatMap(Int.init) ?? 20
    private static let plan = Sluice.plan + "/retail.plist"

    @Test("every acknowledged event is in PostgreSQL once, and in Kafka at least once")
    func killed() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        let cluster = try MockKafkaCluster(brokers: 1)
        try cluster.makeTopic("events", partitions: 12)
        let migrated = try await Sluice.run(
            "migrate",
            "--events",
            Self.plan,
            "--postgres",
            database.url,
            "--migrations",
            RepositoryFile.url("migrations").path,
            in: folder
        )
        #expect(migrated.ending == .exit(0))

        let load = CrashLoad()
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 { group.addTask { await load.send() } }
            for crash in 0...Self.crashes {
                let server = try await start(in: folder, database, cluster)
                load.begin(at: server.url)
                if crash == Self.crashes {
                    try await load.waitForAcknowledged(further: 50)
                    load.end()
                    try await waitUntilDelivered(load.acknowledged, in: database, cluster)
                    server.process.send(SIGTERM)
                    #expect(try await server.process.waitForEnd() == .exit(0))
                } else {
                    try await load.waitForAcknowledged(further: Int.random(in: 1...300))
                    server.process.send(SIGKILL)
                    #expect(try await server.process.waitForEnd() == .signal(SIGKILL))
                }
            }
            try await group.waitForAll()
        }

        let acknowledged = load.acknowledged
        let messages = try await cluster.messages(in: "events").compactMap { $0.header("ce_id") }
        #expect(acknowledged.subtracting(messages).isEmpty)
        let stored = Set(try await database.run("select id from analytics.item_purchased"))
        #expect(acknowledged.subtracting(stored).isEmpty)
        print(
            "\(Self.crashes) crashes: \(acknowledged.count) events acknowledged, \(stored.count) in PostgreSQL,",
            "\(messages.count) messages in Kafka, \(messages.count - Set(messages).count) of them repetitions"
        )
    }

    private func start(
        in folder: TestFolder,
        _ database: TestDatabase,
        _ cluster: MockKafkaCluster
    ) async throws -> ServingSluice {
        try await ServingSluice.start(
            "--no-console",
            "--journal",
            "journal",
            "--postgres",
            database.url,
            "--kafka",
            cluster.bootstrapServers,
            in: folder,
            plan: Self.plan
        )
    }

    private func waitUntilDelivered(
        _ acknowledged: Set<String>,
        in database: TestDatabase,
        _ cluster: MockKafkaCluster
    ) async throws {
        var isDelivered = false
        while !isDelivered {
            let stored = Set(try await database.run("select id from analytics.item_purchased"))
            let sent = try await cluster.messages(in: "events").compactMap { $0.header("ce_id") }
            isDelivered = acknowledged.isSubset(of: stored) && acknowledged.isSubset(of: sent)
            try Task.checkCancellation()
        }
    }
}
