import EventModel
import ServerTestSupport
import TestSupport
import Testing

/// A plan of many events, whose tables have a partition for each of 36 months.
@Suite("Many tables of many months", .timeLimit(.minutes(10)))
struct ManyTablesTests {
    private static let tables = 100
    private static let events = 20_000
    private static let day = Int64(86_400_000_000)

    private static var plan: String {
        let events = (0..<tables).map { number in
            """
            <key>Kind \(number)</key>
            <dict>
              <key>registeredTrackers</key> <array><string>postgres</string></array>
              <key>payload</key> <dict><key>number</key> <string>integer</string></dict>
            </dict>
            """
        }
        return "<plist><dict><key>events</key><dict>\(events.joined())</dict></dict></plist>"
    }

    private static func time(daysAgo days: Int64) -> Timestamp {
        Timestamp(microseconds: Timestamp.now().microseconds - days * day)
    }

    /// What analysts ask while events are loaded: with literal bounds, of all tables and of one.
    private static func query(_ reader: Int) -> String {
        let (from, to) = (time(daysAgo: 20), time(daysAgo: 18))
        return switch reader % 3 {
        case 0: #"SELECT count(*) FROM segment.tracks WHERE "timestamp" >= '\#(from)' AND user_id = 'u\#(reader)'"#
        case 1: #"SELECT count(*) FROM segment.tracks WHERE "timestamp" >= '\#(from)' AND "timestamp" < '\#(to)'"#
        default: "SELECT count(*) FROM analytics.kind_\(reader % tables) WHERE occurred_at >= now() - interval '7 days'"
        }
    }

    @Test("ten readers get an answer to each query while the tables are loaded and maintained")
    func readers() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        try folder.write(Self.plan, to: "plan/plan.plist")
        let lines = (0..<Self.events).map { number in
            let time = Self.time(daysAgo: Int64(number % 380))
            let who = #""userId":"u\#(number % 50)""#
            return
                #"{"name":"Kind \#(number % Self.tables)","time":"\#(time)",\#(who),"payload":{"number":\#(number)}}"#
        }
        try folder.write(lines.joined(separator: "\n"), to: "events.ndjson")
        func sluice(_ arguments: String...) async throws -> Finished {
            try await Sluice.run(
                arguments + ["--events", "plan", "--postgres", database.url],
                in: folder,
                environment: ["SLUICE_POSTGRES_PARTITIONS": "month"]
            )
        }
        let migration = try await sluice("migrate", "--segment-views")
        #expect(migration.ending == .exit(0), "\(migration.errors)")
        let since = "\(Self.time(daysAgo: 36 * 30))".prefix(7)
        let maintenance = try await sluice("maintain", "--since", String(since))
        #expect(maintenance.ending == .exit(0), "\(maintenance.errors)")
        let partitions = "SELECT count(*) FROM pg_class WHERE relispartition AND relkind = 'r' AND relname LIKE 'kind%'"
        let count = try await Int(database.run(partitions).first ?? "") ?? 0
        #expect(count >= Self.tables * 36)

        let (isLoading, isLoaded) = (Flag(), Flag())
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for reader in 0..<10 {
                group.addTask {
                    var answers = 0
                    while !isLoaded.isSet {
                        let isCounted = isLoading.isSet
                        // It throws if the server reports an error.
                        let rows = try await database.run(Self.query(reader))
                        if isCounted, !isLoaded.isSet { answers += rows.count }
                        // Leaves processor time for the code under test.
                        try await waitBriefly()
                    }
                    return answers
                }
            }
            defer { isLoaded.set() }
            isLoading.set()
            let replay = try await sluice("replay", "events.ndjson")
            #expect(replay.ending == .exit(0), "\(replay.errors)")
            // The month before, of each table.
            let earlier = "\(Self.time(daysAgo: 38 * 30))".prefix(7)
            let again = try await sluice("maintain", "--since", String(earlier))
            #expect(again.ending == .exit(0), "\(again.errors)")
            isLoaded.set()
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        // Of each reader, while the tables were loaded and got further partitions.
        #expect(answers.count == 10 && answers.allSatisfy { $0 > 0 })
        #expect(try await database.run("SELECT count(*) FROM segment.tracks") == ["\(Self.events)"])
    }
}
