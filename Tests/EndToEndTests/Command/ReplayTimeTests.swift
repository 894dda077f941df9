import EventModel
import EventQuarantine
import EventValidation
import Foundation
import Logging
import PlanReading
import ServerTestSupport
import Synchronization
import TestPromises
import TestSupport
import Testing
import TrackerKit

/// An event that states no time happened when it arrived, and not when somebody replays it.
@Suite("The times of replayed events", .timeLimit(.minutes(5)))
struct ReplayTimeTests {
    /// What an event is replayed from.
    enum Way: String, CaseIterable {
        case command, live, file, input
    }

    private struct Event: Decodable, Equatable, Comparable {
        let time: String
        let receivedAt: String

        static func < (left: Event, right: Event) -> Bool { left.receivedAt < right.receivedAt }
    }

    /// When the events arrived, long before they are replayed.
    private static let arrivals = ["2025-03-01T12:06:01.000001Z", "2025-03-01T12:06:02.000002Z"]
    private static let stated = "2025-02-28T08:00:00Z"

    /// A folder with a quarantine that has rejected and undelivered events; all are valid for the plan in it.
    private static func folder() async throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 0), to: "plan/shop.plist")
        try folder.write(Plans.shop(minimumQuantity: 5), to: "earlier/shop.plist")
        let (plan, earlier) = (try catalog("plan", in: folder), try catalog("earlier", in: folder))
        let now = Mutex(Timestamp(microseconds: 0))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let quarantine = try Quarantine(folder: folder.path("quarantine"), logger: logger) { now.withLock { $0 } }
        for arrival in arrivals {
            let time = try #require(Timestamp(arrival))
            now.withLock { $0 = time }
            let rejected = try check(#"{"name":"Sold","payload":{"quantity":1}}"#, earlier, at: time)
            quarantine.keep(rejected.rejections, source: "http", planVersion: nil)
            await quarantine.drain()
        }
        let timed = try check(#"{"name":"Sold","time":"\#(stated)","payload":{"quantity":2}}"#, earlier, at: .now())
        quarantine.keep(timed.rejections, source: "http", planVersion: nil)
        await quarantine.drain()
        // An event that was accepted states when it arrived, and is refused later.
        let accepted = try check(
            #"{"name":"Sold","payload":{"quantity":9}}"#,
            plan,
            at: try #require(Timestamp(stated))
        )
        let event = TrackedEvent(batch: try #require(accepted.batch), index: 0)
        try await quarantine.keep([(event, "no table")], refusedBy: "console")
        return folder
    }

    private static func catalog(_ name: String, in folder: TestFolder) throws -> EventCatalog {
        EventCatalog(plan: try #require(PlanReader().read(paths: [folder.path(name)]).plan))
    }

    private static func check(_ text: String, _ catalog: EventCatalog, at time: Timestamp) throws -> CheckedBody {
        let validator = EventValidator(catalog: catalog, now: { time })
        return try Array(text.utf8).withUnsafeBytes { try validator.check($0, as: .lines) }
    }

    private static func events(_ lines: [String]) throws -> [Event] {
        try lines.filter { $0.hasPrefix(#"{"id":"#) }
            .map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }.sorted()
    }

    @Test(
        "an event has the time of its arrival, however it is replayed",
        .promise("quarantine-replay"),
        arguments: Way.allCases
    )
    func arrival(way: Way) async throws {
        let folder = try await Self.folder()
        let events: [Event]
        switch way {
        case .live:
            let server = try await ServingSluice.start(in: folder, plan: "plan")
            let answer = try await PrivatePort(of: server).request("/v1/quarantine/replay", "-X", "POST")
            #expect(answer.body.contains(#""sent":4"#), "\(answer.body)")
            try await server.process.output?.waitForLines(4)
            server.process.send(SIGTERM)
            #expect(try await server.process.waitForEnd() == .exit(0))
            events = try Self.events(server.process.output?.lines ?? [])
        case .command, .file, .input:
            let exported = try await Sluice.run("quarantine", "export", in: folder).output.joined(separator: "\n")
            try folder.write(exported, to: "exported.ndjson")
            let path = way == .command ? "quarantine" : way == .file ? "exported.ndjson" : "-"
            let input =
                way == .input
                ? SluiceProcess.Input.file(URL(fileURLWithPath: folder.path("exported.ndjson"))) : .nothing
            let run = try await Sluice.replay(path, in: folder, plan: "plan", input: input)
            #expect(run.ending == .exit(0), "\(run.errors)")
            events = try Self.events(run.output)
        }
        let timed = events.filter { $0.time == Self.stated && $0.receivedAt != Self.stated }
        #expect(timed.count == 1)
        let untimed = (Self.arrivals + [Self.stated]).map { Event(time: $0, receivedAt: $0) }.sorted()
        #expect(events.filter { !timed.contains($0) } == untimed)
    }
}
