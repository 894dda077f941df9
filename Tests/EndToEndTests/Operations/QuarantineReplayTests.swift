import Foundation
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

    @Test("delivers what is valid now, once, whoever asks, and keeps the rest; commands do not send it again either")
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

    @Test("is not possible without a journal, because a crash would lose what counts as sent")
    func withoutJournal() async throws {
        let server = try await ServingSluice.start("--no-journal", in: try TestFolder())
        let port = try await PrivatePort(of: server)
        #expect(try await port.request("/v1/quarantine/replay", "-X", "POST").status == 404)
        #expect(try await port.request("/v1/dashboard").body.contains(#""canReplay":false"#))
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }
}
