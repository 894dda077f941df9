import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// All three trackers at once.
@Suite("sluice with three trackers", .timeLimit(.minutes(5)))
struct FanOutTests {
    @Test("a stalled PostgreSQL does not slow down the console and Kafka, and gets all events once it continues")
    func stalled() async throws {
        let folder = try TestFolder()
        let plan = Sluice.plan + "/retail.plist"
        let database = try await PrivatePostgres.shared().makeDatabase()
        _ = try await Sluice.run("migrate", "--events", plan, "--postgres", database.url, in: folder)
        let cluster = try MockKafkaCluster()
        try cluster.makeTopic("events", partitions: 12)
        let session = try database.server.openSession(database.name)
        try session.run("begin; lock table analytics.item_purchased, analytics.item_returned; select 1;")

        let process = try SluiceProcess(
            [
                "replay", RetailMonth.path, "--events", plan, "--format", "json", "--json", "--postgres", database.url,
                "--kafka", cluster.bootstrapServers,
            ],
            in: folder,
            environment: [
                "SLUICE_POSTGRES_TIMEOUTS_DELIVERY_SECONDS": "1200", "SLUICE_POSTGRES_TIMEOUTS_LOCK_SECONDS": "240",
            ]
        )
        try await process.output?.waitForLines(42_481)
        while try await cluster.messages(in: "events").count < 42_481 { try await waitBriefly() }
        try session.run("select count(*) from analytics.item_purchased;")
        try session.close()

        #expect(try await process.waitForEnd() == .exit(0))
        let run = Finished(ending: .exit(0), output: process.output?.lines ?? [], errors: process.errors.lines)
        #expect(try run.report().delivered == ["console": 42_481, "kafka": 42_481, "postgres": 42_481])
        #expect(try RetailMonth.facts(of: run.output) == RetailMonth.facts)
        let messages = try await cluster.messages(in: "events")
        #expect(try RetailMonth.facts(of: messages.map(\.value)) == RetailMonth.facts)
        let row = try await database.run(RetailMonth.Facts.sql).first ?? ""
        #expect(RetailMonth.Facts(row: row) == RetailMonth.facts)
    }
}
