import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// `serve` and a table that is partitioned by time and lacks a partition.
@Suite("sluice serve and missing partitions", .timeLimit(.minutes(5)))
struct MissingPartitionTests {
    private static let plan = Plans.shop(minimumQuantity: 1).replacing("console", with: "postgres")

    @Test(
        "events of a missing month are parked with the reason, all others are stored, and a replay stores them later",
        .promise("broken-table")
    )
    func missing() async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan, to: "plan/shop.plist")
        let database = try await PrivatePostgres.shared().makeDatabase()
        let month = ["SLUICE_POSTGRES_PARTITIONS": "month"]
        let migrate = ["migrate", "--events", "plan", "--postgres", database.url]
        #expect(try await Sluice.run(migrate, in: folder, environment: month).ending == .exit(0))
        // Nobody has run the maintenance for long.
        let now = try await database.run("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM')").joined()
        let bounds = try await database.run(
            "SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE relname = 'sold_\(now)'"
        ).joined()
        try await database.run("DROP TABLE analytics_partitions.sold_\(now)")
        let server = try await ServingSluice.start(
            ["--no-console", "--postgres", database.url],
            in: folder,
            plan: "plan",
            environment: ["SLUICE_DELIVERY_PARK_AFTER_SECONDS": "1"]
        )
        _ = try await server.process.errors.line(containing: "The tracker has started.")
        let metrics = try await PrivatePort(of: server).metrics(in: folder)
        let end = metrics["sluice_postgres_partitions_end_timestamp_seconds tracker=postgres"]
        #expect(try #require(end) <= Date.now.timeIntervalSince1970)
        let day = try await database.run("SELECT to_char(now() - interval '200 days', 'YYYY-MM-DD')").joined()
        // So many of the missing month, and none of another, that the table itself could be suspected.
        for quantity in 1...9 {
            let event = #"{"name":"Sold","payload":{"quantity":\#(quantity)}"#
            let time = quantity == 7 || quantity == 9 ? #","time":"\#(day)T00:00:00Z"}"# : "}"
            #expect(try await server.post(event + time).status == 200)
        }
        _ = try await server.process.errors.line(containing: "Events that cannot be delivered were parked")
        while try await database.run("SELECT quantity FROM analytics.sold ORDER BY 1") != ["7", "9"] {
            try await waitBriefly()
        }
        let list = try await Sluice.run("quarantine", "list", in: folder)
        #expect(list.output.contains { $0.contains("parked") }, "\(list)")
        let shown = try await Sluice.run("quarantine", "show", "refused/0-0", in: folder)
        #expect(shown.output.contains { $0.contains("has no partition for events of") }, "\(shown)")
        let check = try await Sluice.run("check", "--events", "plan", "--postgres", database.url, in: folder)
        #expect((check.output + check.errors).contains { $0.contains("`sluice maintain`") }, "\(check)")
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))

        try await database.run("CREATE TABLE analytics_partitions.again PARTITION OF analytics.sold \(bounds)")
        let replay = ["replay", "quarantine", "--code", "parked", "--events", "plan", "--postgres", database.url]
        #expect(try await Sluice.run(replay + ["--no-console"], in: folder).ending == .exit(0))
        #expect(try await database.run("SELECT quantity FROM analytics.sold ORDER BY 1") == (1...9).map { "\($0)" })
    }
    @Test("a replay of events without partitions loads none of them, and names the command that makes the partitions")
    func replayed() async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan, to: "plan/shop.plist")
        let database = try await PrivatePostgres.shared().makeDatabase()
        let migrate = ["migrate", "--events", "plan", "--postgres", database.url]
        let month = ["SLUICE_POSTGRES_PARTITIONS": "month"]
        #expect(try await Sluice.run(migrate, in: folder, environment: month).ending == .exit(0))
        let lines = (1...50).map { number in
            #"{"name":"Sold","time":"2010-12-01T08:\#(number + 9):00Z","payload":{"quantity":\#(number)}}"#
        }
        try folder.write(lines.joined(separator: "\n"), to: "events.ndjson")
        let replay = ["replay", "events.ndjson", "--events", "plan", "--postgres", database.url, "--no-console"]
        let stopped = try await Sluice.run(replay, in: folder)
        #expect(stopped.ending == .exit(1))
        #expect(stopped.output.contains { $0.contains("`sluice maintain --since 2010-12`") }, "\(stopped)")
        #expect(try await database.run("SELECT count(*) FROM analytics.sold") == ["0"])
        try await database.run(
            """
            CREATE TABLE analytics_partitions.sold_2010_12 PARTITION OF analytics.sold
                FOR VALUES FROM ('2010-12-01Z') TO ('2011-01-01Z')
            """
        )
        #expect(try await Sluice.run(replay, in: folder).ending == .exit(0))
        #expect(try await database.run("SELECT count(*) FROM analytics.sold") == ["50"])
    }
}
