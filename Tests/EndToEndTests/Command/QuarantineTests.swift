import Foundation
import Testing

/// The tools for what was rejected.
@Suite("sluice quarantine", .timeLimit(.minutes(2)))
struct QuarantineTests {
    private static let lines = [
        #"{"name":"Sold","payload":{"quantity":0}}"#,
        #"{"name":"Lost","payload":{"é":1}}"#,
        #"{"name":"Sold","payload":{"quantity":"3"}}"#,
        #"{broken"#,
    ]

    /// A folder with a quarantine of four events.
    private func folder() async throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        try folder.write(Self.lines.joined(separator: "\n"), to: "sales.ndjson")
        let run = try await Sluice.replay("sales.ndjson", in: folder, plan: "plan")
        #expect(run.ending == .exit(2))
        return folder
    }

    private func rows(_ run: Finished) -> [[String]] {
        run.output.map { $0.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) } }
    }

    @Test("list has a line an event, with its id, name, codes, source and state")
    func list() async throws {
        let folder = try await folder()
        let list = rows(try await Sluice.run("quarantine", "list", in: folder))
        #expect(
            list.map { [$0[0]] + $0[2...] } == [
                ["id", "event", "codes", "source", "state"],
                ["0-0", "Sold", "out-of-range", "sales.ndjson", "kept"],
                ["0-1", "Lost", "unknown-event", "sales.ndjson", "kept"],
                ["0-2", "Sold", "wrong-type", "sales.ndjson", "kept"],
                ["0-3", "-", "malformed-json", "sales.ndjson", "kept"],
            ]
        )
        let last = try await Sluice.run("quarantine", "list", "--limit", "1", "--json", in: folder)
        #expect(last.output.count == 1)
        #expect(last.output[0].contains(#""codes":["malformed-json"],"id":"0-3","isSent":false"#))
    }

    @Test(
        "filters choose by code, event and time, for list, export and replay alike",
        arguments: [
            (["--code", "out-of-range"], 1), (["--code", "out-of-range", "--code", "wrong-type"], 2),
            (["--event", "Sold"], 2), (["--event", "Lost"], 1), (["--event", "Nothing"], 0),
            (["--event", "Sold", "--code", "unknown-event"], 0), (["--since", "2000-01-01T00:00:00Z"], 4),
            (["--since", "2100-01-01T00:00:00Z"], 0), (["--until", "2000-01-01T00:00:00Z"], 0),
        ]
    )
    func filters(options: [String], count: Int) async throws {
        let folder = try await folder()
        let list = try await Sluice.run(["quarantine", "list"] + options, in: folder)
        #expect(list.output.count == 1 + count)
        #expect(try await Sluice.run(["quarantine", "export"] + options, in: folder).output.count == count)
        let replay = try await Sluice.replay(["quarantine", "--dry-run"] + options, in: folder, plan: "plan")
        #expect(try replay.report().rejected == count)
    }

    @Test("show has the verdict with its place in the plan, and the event byte for byte")
    func show() async throws {
        let folder = try await folder()
        let shown = try await Sluice.run("quarantine", "show", "0-1", in: folder)
        #expect(shown.output.last == Self.lines[1])
        #expect(shown.output.contains { $0.contains(#""code" : "unknown-event""#) })
        let original = try await Sluice.run("quarantine", "show", "0-3", "--original", in: folder)
        #expect(original.output == ["{broken"])
        let missing = try await Sluice.run("quarantine", "show", "0-9", in: folder)
        #expect(missing.ending == .exit(1))
        #expect(missing.errors == ["error: There is no '0-9' in the quarantine."])
    }

    @Test("stats count by code, event and source, and what was sent on")
    func stats() async throws {
        let folder = try await folder()
        try folder.write(Plans.shop(minimumQuantity: 0), to: "plan/shop.plist")
        #expect(try await Sluice.replay("quarantine", in: folder, plan: "plan").ending == .exit(2))
        let stats = rows(try await Sluice.run("quarantine", "stats", in: folder)).dropFirst().dropLast()
        #expect(
            Array(stats) == [
                ["all", "4"], ["sent on", "1"], ["code malformed-json", "1"], ["code out-of-range", "1"],
                ["code unknown-event", "1"], ["code wrong-type", "1"], ["event Sold", "2"], ["event -", "1"],
                ["event Lost", "1"], ["source sales.ndjson", "4"],
            ]
        )
        let sent = rows(try await Sluice.run("quarantine", "list", in: folder)).filter { $0.last == "sent" }
        #expect(sent.map(\.first) == ["0-0"])
    }

    @Test("an event without an id has the same one however often it is sent on from the quarantine")
    func stableIDs() async throws {
        let folder = try await folder()
        try folder.write(Plans.shop(minimumQuantity: 0), to: "plan/shop.plist")
        let first = try await Sluice.replay("quarantine", in: folder, plan: "plan")
        #expect(first.output.count == 1)
        // As after a crash between the delivery and the note that it was made.
        try FileManager.default.removeItem(atPath: folder.path("quarantine/sent"))
        let second = try await Sluice.replay("quarantine", "--code", "out-of-range", in: folder, plan: "plan")
        #expect(ids(of: second.output) == ids(of: first.output))
    }

    @Test("while a server writes the quarantine, it can be listed and sent on from")
    func serving() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        let server = try await ServingSluice.start(in: folder, plan: "plan")
        #expect(try await server.post(Self.lines[0]).status == 422)
        #expect(try await Sluice.run("quarantine", "list", in: folder).output.count == 2)
        try folder.write(Plans.shop(minimumQuantity: 0), to: "fixed/shop.plist")
        #expect(try await Sluice.replay("quarantine", in: folder, plan: "fixed").output.count == 1)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test(
        "wrong usage is an error that says so",
        arguments: [
            (["quarantine", "list", "--code", "wrong"], "There is no code 'wrong'; there are: malformed-json,"),
            (["quarantine", "list", "--since", "today"], "--since takes an RFC 3339 time"),
            (["replay", "x.ndjson", "--code", "refused"], "--code chooses from the quarantine"),
        ]
    )
    func usage(arguments: [String], message: String) async throws {
        let run = try await Sluice.run(arguments, in: try TestFolder())
        #expect(run.ending == .exit(64))
        #expect(run.errors.first?.contains(message) == true)
    }

    @Test("a quarantine that is not there is an error")
    func missing() async throws {
        let run = try await Sluice.run("quarantine", "stats", "--quarantine", "nowhere", in: try TestFolder())
        #expect(run.ending == .exit(1))
        #expect(run.errors.first?.contains("The quarantine 'nowhere' cannot be read") == true)
    }
}
