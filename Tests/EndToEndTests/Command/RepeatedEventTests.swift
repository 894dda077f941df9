import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// The events of a real day, each sent twice, into tables whose key contains the time.
@Suite("Events that are sent again", .timeLimit(.minutes(5)))
struct RepeatedEventTests {
    /// The defaults, which tests with old events change.
    private static let environment = [
        "SLUICE_POSTGRES_PARTITIONS": "month", "SLUICE_EVENTS_MAXIMUM_AGE_DAYS": "400",
        "SLUICE_EVENTS_MAXIMUM_LEAD_DAYS": "2",
    ]
    private static let plan = Sluice.plan + "/retail.plist"

    private let yesterday = Date.now.addingTimeInterval(-86_400)

    /// An id of a version, with the time of yesterday if it has one.
    private func id(version: Int) -> String {
        let random = UUID().uuidString.lowercased()
        guard version == 7 else { return random.prefix(14) + "\(version)" + random.dropFirst(15) }
        let hex = String(Int64(yesterday.timeIntervalSince1970 * 1000), radix: 16)
        let time = String(repeating: "0", count: 12 - hex.count) + hex
        return time.prefix(8) + "-" + time.suffix(4) + "-7" + random.dropFirst(15)
    }

    /// The events of the day, but yesterday, with ids of the versions 4, 7 and 8; every second group of three has no time.
    private func events(_ count: Int) async throws -> [String] {
        let date = yesterday.formatted(.iso8601.year().month().day())
        return try await RetailMonth.dayLines(count).enumerated().map { number, line in
            let event = #"{"id":"\#(id(version: [4, 7, 8][number % 3]))","# + line.dropFirst()
            return number / 3 % 2 == 0
                ? event.replacing("2010-12-01T", with: date + "T", maxReplacements: 1)
                : event.replacing(/"time":"[^"]*",/, with: "", maxReplacements: 1)
        }
    }

    /// Sends all events, and then all of them again, each time in another order.
    private func sendTwice(_ events: [String], to server: ServingSluice, _ folder: TestFolder) async throws {
        for _ in 0..<2 {
            var rest = events.shuffled()[...]
            while !rest.isEmpty {
                try folder.write(rest.prefix(500).joined(separator: "\n"), to: "body.ndjson")
                #expect(try await server.post(file: folder.path("body.ndjson")).status == 200)
                rest = rest.dropFirst(500)
            }
        }
    }

    private func stop(_ server: ServingSluice) async throws {
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    private func rows(_ database: TestDatabase) async throws -> [String] {
        try await database.run(
            """
            SELECT count(*), count(DISTINCT id) FROM
                (SELECT id FROM analytics.item_purchased UNION ALL SELECT id FROM analytics.item_returned) e
            """
        )
    }

    private func database(_ folder: TestFolder) async throws -> TestDatabase {
        let database = try await PrivatePostgres.shared().makeDatabase()
        let migrate = ["migrate", "--events", Self.plan, "--postgres", database.url]
        #expect(try await Sluice.run(migrate, in: folder, environment: Self.environment).ending == .exit(0))
        return database
    }

    private func serve(_ options: String..., in folder: TestFolder) async throws -> ServingSluice {
        try await ServingSluice.start(
            ["--no-console"] + options,
            in: folder,
            plan: Self.plan,
            environment: Self.environment
        )
    }

    @Test(
        "over HTTP have one row each, whatever the version of their ids, with and without a time",
        .promise("repeated-time")
    )
    func http() async throws {
        let folder = try TestFolder()
        let database = try await database(folder)
        let events = try await events(3_108)
        let server = try await serve("--postgres", database.url, in: folder)
        try await sendTwice(events, to: server, folder)
        try await stop(server)
        #expect(try await rows(database) == ["\(events.count)|\(events.count)"])
    }

    @Test("by a relay and two loaders at once have one row each", .promise("repeated-time"))
    func loaders() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 4), environment: Self.environment)
        let events = try await events(3_108)
        let server = try await serve("--relay", scene.topic.url, in: scene.folder)
        try await sendTwice(events, to: server, scene.folder)
        try await stop(server)
        let loaders = try (0..<2).map { _ in try scene.load(environment: Self.environment) }
        let loaded = "SELECT sum(next_offset) FROM analytics._sluice_loader_offsets"
        try await scene.wait(for: loaded, toBe: ["\(2 * events.count)"])
        for loader in loaders { try await scene.stop(loader) }
        #expect(try await rows(scene.database) == ["\(events.count)|\(events.count)"])
    }

    /// The differences of the client's clock in two attempts, in seconds, and whether the event then has one row.
    private static let clocks: [(first: Double, second: Double, isOneRow: Bool)] = [
        (0, 5, true), (12, 40, true), (-25, -35, true), (40, 4000, true), (-40, 40, true), (0, 4000, false),
    ]

    @Test(
        "by Segment's clients, with another time of sending in each attempt, have one row each if their clocks are nearly right or wrong in both",
        .promise("repeated-time")
    )
    func segment() async throws {
        let folder = try TestFolder()
        let database = try await database(folder)
        let lines = try await RetailMonth.dayLines(600)
        let messages: [String] = lines.map { line in
            let event = line.replacing(#""name":"#, with: #""event":"#).replacing(
                #""payload":"#,
                with: #""properties":"#
            )
            let date = yesterday.formatted(.iso8601.year().month().day())
            let time = event.replacing(#""time":"2010-12-01T"#, with: #""timestamp":"\#(date)T"#)
            return #"{"type":"track","messageId":"\#(id(version: 4))","# + time.dropFirst()
        }
        let server = try await serve("--postgres", database.url, in: folder)
        for attempt in 0..<2 {
            for (number, clock) in Self.clocks.enumerated() {
                let own = stride(from: number, to: messages.count, by: Self.clocks.count).map { messages[$0] }
                let difference = attempt == 0 ? clock.first : clock.second
                let sentAt = Date.now.addingTimeInterval(-difference).formatted(.iso8601)
                try folder.write(#"{"batch":[\#(own.joined(separator: ","))],"sentAt":"\#(sentAt)"}"#, to: "batch.json")
                let options = [
                    "-H", "Content-Type: application/json", "--data-binary", "@\(folder.path("batch.json"))",
                ]
                let answer = try await server.request("/v1/batch", options)
                #expect(answer.status == 200 && answer.body.contains(#""rejected":[]"#), "\(answer.body)")
            }
        }
        try await stop(server)
        let twice = Self.clocks.count { !$0.isOneRow } * messages.count / Self.clocks.count
        #expect(try await rows(database) == ["\(messages.count + twice)|\(messages.count)"])
    }
}
