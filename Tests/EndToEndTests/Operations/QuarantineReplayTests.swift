import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

@Suite("Trying quarantined events again while serve runs", .timeLimit(.minutes(5)))
struct QuarantineReplayTests {
    private struct Report: Decodable, Equatable {
        let sent: Int
        let stillInvalid: Int
        let isComplete: Bool
    }

    private static func sold(_ quantity: Int) -> String { #"{"name":"Sold","payload":{"quantity":\#(quantity)}}"# }

    /// A folder with five rejected events, of which four are valid for the plan in it.
    private static func prepare() async throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 5), to: "plan/shop.plist")
        let server = try await ServingSluice.start(in: folder, plan: "plan")
        let events = "[" + [0, 1, 2, 3, 4].map(sold).joined(separator: ",") + "]"
        #expect(try await server.post(events).status == 422)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        #expect(folder.quarantined().count == 5)
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        return folder
    }

    private static func report(_ answer: ServingSluice.Answer) throws -> Report {
        #expect(answer.status == 200, "\(answer.body)")
        return try JSONDecoder().decode(Report.self, from: Data(answer.body.utf8))
    }

    @Test(
        "delivers what is valid now, once, whoever asks, and keeps the rest; commands do not send it again either",
        .promise("quarantine-replay")
    )
    func replay() async throws {
        let folder = try await Self.prepare()
        let server = try await ServingSluice.start(in: folder, plan: "plan")
        let port = try await PrivatePort(of: server)
        let path = "/v1/quarantine/replay"
        let none = try await port.request(path + "?event=Other", "-X", "POST")
        #expect(try Self.report(none) == Report(sent: 0, stillInvalid: 0, isComplete: true))
        let unknown = try await port.request(path + "?code=nonsense", "-X", "POST")
        #expect(unknown.status == 400)
        #expect(unknown.body.contains("There is no code 'nonsense'"))
        let foreign = try await port.request(path, "-X", "POST", "-H", "Origin: http://evil.example")
        #expect(foreign.status == 403)

        let socket = folder.path("journal.sock")
        let asked = try await Command.run(
            "curl",
            [
                "-sS", "-X", "POST", "--unix-socket", socket, "-H", "Sluice-User: mia",
                "http://localhost\(path)?code=out-of-range&event=Sold",
            ]
        )
        let report = try JSONDecoder().decode(Report.self, from: Data(asked.output))
        #expect(report == Report(sent: 4, stillInvalid: 1, isComplete: true))
        try await server.process.output?.waitForLines(4)
        let line = try await server.process.errors.line(containing: "sent=4")
        #expect(line.contains("Quarantined events were tried again."))
        #expect(line.contains("through=socket") && line.contains("user=mia") && line.contains("code=out-of-range"))

        let again = try await port.request(path, "-X", "POST")
        #expect(try Self.report(again) == Report(sent: 0, stillInvalid: 1, isComplete: true))
        let command = try await Sluice.replay("quarantine", in: folder, plan: "plan")
        #expect(command.ending == .exit(2), "\(command.errors)")
        #expect(command.output.isEmpty)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        let quantities = (server.process.output?.lines ?? []).compactMap { $0.firstMatch(of: /"quantity":(\d)/)?.1 }
        #expect(quantities == ["1", "2", "3", "4"])
    }

    // MARK: Records of one tracker

    private static func plan(minimumQuantity minimum: Int) -> String {
        let console = "<string>console</string>"
        return Plans.shop(minimumQuantity: minimum).replacing(console, with: console + "<string>postgres</string>")
    }

    /// Starts a server whose events go to the console and to PostgreSQL, which has a table for them.
    private static func startWithPostgres(_ database: TestDatabase, in folder: TestFolder) async throws -> ServingSluice
    {
        try folder.write(plan(minimumQuantity: 1), to: "plan/shop.plist")
        let migrate = ["migrate", "--events", "plan", "--postgres", database.url]
        #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
        return try await ServingSluice.start(["--postgres", database.url], in: folder, plan: "plan")
    }

    @Test(
        "sends an event that a tracker refused to that tracker only, and only while the plan sends it there",
        .promise("quarantine-replay")
    )
    func refused() async throws {
        let (folder, database) = (try TestFolder(), try await PrivatePostgres.shared().makeDatabase())
        let server = try await Self.startWithPostgres(database, in: folder)
        try await database.run("alter table analytics.sold add constraint few check (quantity < 10)")
        #expect(try await server.post(Self.sold(20)).status == 200)
        try await folder.waitForQuarantined(1)
        #expect(folder.quarantined()[0].contains(#""source":"tracker:postgres","stage":"delivery""#))
        try await server.process.output?.waitForLines(1)
        try await database.run("alter table analytics.sold drop constraint few")

        let port = try await PrivatePort(of: server)
        for (plan, sent) in [(Plans.shop(minimumQuantity: 1), 0), (Self.plan(minimumQuantity: 1), 1)] {
            try folder.write(plan, to: "plan/shop.plist")
            #expect(try await Sluice.run("reload", in: folder).ending == .exit(0))
            let answer = try await port.request("/v1/quarantine/replay", "-X", "POST")
            #expect(try Self.report(answer) == Report(sent: sent, stillInvalid: 0, isComplete: true))
        }
        while try await database.run("select quantity from analytics.sold") != ["20"] { try await waitBriefly() }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        #expect(server.process.output?.lines.count == 1)
    }

    @Test(
        "an event that a new plan did not allow goes only to the tracker that had not delivered it, whoever replays it",
        .promise("plan-replacement"),
        arguments: [true, false]
    )
    func undelivered(isLive: Bool) async throws {
        let (folder, database) = (try TestFolder(), try await PrivatePostgres.shared().makeDatabase())
        let server = try await Self.startWithPostgres(database, in: folder)
        #expect(try await Sluice.run("pause", "postgres", in: folder).ending == .exit(0))
        for quantity in 1...2 { #expect(try await server.post(Self.sold(quantity)).status == 200) }
        try await server.process.output?.waitForLines(2)
        try folder.write(Self.plan(minimumQuantity: 5), to: "plan/shop.plist")
        #expect(try await Sluice.run("reload", in: folder).ending == .exit(0))
        #expect(try await Sluice.run("resume", "postgres", in: folder).ending == .exit(0))
        try await folder.waitForQuarantined(2)
        #expect(folder.quarantined().allSatisfy { $0.contains("tracker:postgres") && $0.contains("out-of-range") })
        try folder.write(Self.plan(minimumQuantity: 1), to: "plan/shop.plist")

        if isLive {
            #expect(try await Sluice.run("reload", in: folder).ending == .exit(0))
            let answer = try await PrivatePort(of: server).request("/v1/quarantine/replay", "-X", "POST")
            #expect(try Self.report(answer) == Report(sent: 2, stillInvalid: 0, isComplete: true))
        } else {
            let replay = ["quarantine", "--postgres", database.url]
            let command = try await Sluice.replay(replay, in: folder, plan: "plan")
            #expect(command.ending == .exit(0), "\(command.errors)")
            #expect(try command.report().delivered == ["console": 0, "postgres": 2])
        }
        let quantities = "select quantity from analytics.sold order by 1"
        while try await database.run(quantities) != ["1", "2"] { try await waitBriefly() }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        #expect(server.process.output?.lines.count == 2)
    }

    @Test(
        "is not possible without a journal, because a crash would lose what counts as sent",
        .promise("quarantine-replay")
    )
    func withoutJournal() async throws {
        let server = try await ServingSluice.start("--no-journal", in: try TestFolder())
        let port = try await PrivatePort(of: server)
        #expect(try await port.request("/v1/quarantine/replay", "-X", "POST").status == 404)
        #expect(try await port.request("/v1/dashboard").body.contains(#""canReplay":false"#))
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }
}
