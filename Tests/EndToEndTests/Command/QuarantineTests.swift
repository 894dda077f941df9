import EventJournal
import EventModel
import EventQuarantine
import EventValidation
import Foundation
import Logging
import PlanReading
import ServerTestSupport
import TestPromises
import Testing
import TrackerKit

/// `sluice quarantine`.
@Suite("sluice quarantine", .timeLimit(.minutes(5)))
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

    @Test("quarantine list prints a line per event, with its id, name, codes, source and state")
    func list() async throws {
        let folder = try await folder()
        let list = rows(try await Sluice.run("quarantine", "list", in: folder))
        #expect(
            list.map { [$0[0]] + $0[2...] } == [
                ["id", "event", "codes", "source", "state"],
                ["verdicts/0-0", "Sold", "out-of-range", "sales.ndjson", "kept"],
                ["verdicts/0-1", "Lost", "unknown-event", "sales.ndjson", "kept"],
                ["verdicts/0-2", "Sold", "wrong-type", "sales.ndjson", "kept"],
                ["verdicts/0-3", "-", "malformed-json", "sales.ndjson", "kept"],
            ]
        )
        let last = try await Sluice.run("quarantine", "list", "--limit", "1", "--json", in: folder)
        #expect(last.output.count == 1)
        #expect(last.output[0].contains(#""codes":["malformed-json"],"id":"verdicts/0-3","isSent":false"#))
    }

    @Test(
        "quarantine list and export, and replay, have the same filters by code, event and time",
        arguments: [
            (["--code", "out-of-range", "--code", "wrong-type"], 2), (["--event", "Lost"], 1),
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

    @Test("quarantine show prints the verdict with its location in the plan, and the event byte for byte")
    func show() async throws {
        let folder = try await folder()
        let shown = try await Sluice.run("quarantine", "show", "verdicts/0-1", in: folder)
        #expect(shown.output.last == Self.lines[1])
        #expect(shown.output.contains { $0.contains(#""code" : "unknown-event""#) })
        let original = try await Sluice.run("quarantine", "show", "verdicts/0-3", "--original", in: folder)
        #expect(original.output == ["{broken"])
        let missing = try await Sluice.run("quarantine", "show", "verdicts/0-9", in: folder)
        #expect(missing.ending == .exit(1))
        #expect(missing.errors == ["error: There is no 'verdicts/0-9' in the quarantine."])
    }

    @Test("quarantine stats counts events by code, name and source, and those that were sent again")
    func stats() async throws {
        let folder = try await folder()
        try folder.write(Plans.shop(minimumQuantity: 0), to: "plan/shop.plist")
        #expect(try await Sluice.replay("quarantine", in: folder, plan: "plan").ending == .exit(2))
        let stats = rows(try await Sluice.run("quarantine", "stats", in: folder)).dropFirst().dropLast()
        #expect(
            Array(stats) == [
                ["all", "4"], ["sent again", "1"], ["code malformed-json", "1"], ["code out-of-range", "1"],
                ["code unknown-event", "1"], ["code wrong-type", "1"], ["event Sold", "2"], ["event -", "1"],
                ["event Lost", "1"], ["source sales.ndjson", "4"],
            ]
        )
        let sent = rows(try await Sluice.run("quarantine", "list", in: folder)).filter { $0.last == "sent" }
        #expect(sent.map(\.first) == ["verdicts/0-0"])
    }

    /// Quarantines an event as refused by the console.
    private static func keep(_ verdict: DeliveryVerdict, quantity: Int, in folder: TestFolder) async throws {
        let plan = try #require(PlanReader().read(paths: [folder.path("plan")]).plan)
        let line = Array(#"{"name":"Sold","payload":{"quantity":\#(quantity)}}"#.utf8)
        let validator = EventValidator(catalog: EventCatalog(plan: plan))
        let body = try line.withUnsafeBytes { try validator.check($0, as: .lines) }
        let event = TrackedEvent(batch: try #require(body.batch), index: 0)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let quarantine = try Quarantine(folder: folder.path("quarantine"), logger: logger)
        try await quarantine.keep([(event, "no table \(quantity)")], refusedBy: "console", as: verdict)
    }

    @Test(
        "a sender's text is escaped wherever it is printed, so that it cannot control a terminal",
        .promise("terminal-escapes"),
        arguments: [
            ["quarantine", "list"], ["quarantine", "list", "--json"], ["quarantine", "stats"],
            ["quarantine", "stats", "--json"],
        ]
    )
    func escaping(arguments: [String]) async throws {
        let folder = try await folder()
        // ESC, the C1 form of ESC [, a right-to-left override, a line separator, and a line feed.
        let name = #"\u001b[2J\u009b2J\u202e\u2028\nall  7"#
        try folder.write(#"{"name":"\#(name)","payload":{}}"#, to: "hostile.ndjson")
        #expect(try await Sluice.replay("hostile.ndjson", in: folder, plan: "plan").ending == .exit(2))
        let run = try await Sluice.run(arguments, in: folder)
        let text = run.output.joined(separator: "\n")
        let obeyed = text.unicodeScalars.filter { scalar in
            scalar != "\n"
                && (scalar.properties.generalCategory == .control || "\u{2028}\u{202E}".unicodeScalars.contains(scalar))
        }
        #expect(obeyed.isEmpty)
        #expect(text.contains(#"\u001b[2J\u009b2J\u202e\u2028"#))
        #expect(!run.output.contains { $0.hasPrefix("all  7") })
    }

    @Test(
        "the bytes of events are escaped for a terminal, and unchanged in a pipe",
        .promise("terminal-escapes"),
        arguments: [
            ["quarantine", "export"], ["quarantine", "show", "verdicts/0-0", "--original"], ["journal", "cat"],
        ]
    )
    func terminal(arguments: [String]) async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        // C1 controls need no escape in JSON.
        let name = "\u{9B}2J"
        try folder.write(#"{"name":"\#(name)","payload":{}}"#, to: "hostile.ndjson")
        #expect(try await Sluice.replay("hostile.ndjson", in: folder, plan: "plan").ending == .exit(2))
        if arguments == ["journal", "cat"] {
            let files = try PosixFileSystem(path: folder.path("journal"))
            var writer = JournalWriter(try Journal(files, configuration: .init(), now: 0))
            _ = try writer.commit(lines: Array("{\"name\":\"\(name)\"}\n".utf8), count: 1, now: 0)
            try writer.close(now: 0)
        }
        #expect(try await Sluice.run(arguments, in: folder).output.joined().contains(name))
        let program = try SluiceProcess.executable().path
        let command = "cd '\(folder.url.path)' && " + ([program] + arguments).joined(separator: " ")
        let shown = try await Command.run("script", ["-qec", command, "/dev/null"]).text
        #expect(shown.contains(#"\u009b2J"#))
        #expect(!shown.contains(name))
    }

    @Test(
        "for a terminal, a byte that is not UTF-8 is replaced, because it could control an 8-bit terminal",
        .promise("terminal-escapes")
    )
    func terminalOfEightBits() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        try folder.write(Data("{\"name\":\"".utf8) + [0x9B] + Data("2J\"}".utf8), to: "hostile.ndjson")
        #expect(try await Sluice.replay("hostile.ndjson", in: folder, plan: "plan").ending == .exit(2))
        let program = try SluiceProcess.executable().path
        let command = "cd '\(folder.url.path)' && \(program) quarantine show verdicts/0-0 --original"
        let shown = try await Command.run("script", ["-qec", command, "/dev/null"])
        #expect(shown.text.contains("2J"))
        #expect(!shown.output.contains(0x9B))
    }

    @Test("a parked event has a code of its own, and is replayed to its tracker only")
    func parked() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        try await Self.keep(.refused, quantity: 1, in: folder)
        try await Self.keep(.parked, quantity: 2, in: folder)
        let list = rows(try await Sluice.run("quarantine", "list", "--code", "parked", in: folder)).dropFirst()
        #expect(list.map { Array($0[2...]) } == [["Sold", "parked", "tracker:console", "kept"]])
        let shown = try await Sluice.run("quarantine", "show", try #require(list.first)[0], in: folder)
        #expect(shown.output.contains { $0.contains(#""code" : "parked""#) })
        #expect(shown.output.contains { $0.contains("no table 2") })
        let stats = rows(try await Sluice.run("quarantine", "stats", in: folder))
        #expect(stats.contains(["code parked", "1"]) && stats.contains(["code refused", "1"]))

        let elsewhere = ["quarantine", "--no-console", "--kafka", "127.0.0.1:1", "--dry-run"]
        #expect(try await Sluice.replay(elsewhere, in: folder, plan: "plan").report().accepted == 0)
        let replay = try await Sluice.replay("quarantine", "--code", "parked", in: folder, plan: "plan")
        #expect(replay.output.count == 1 && replay.output[0].contains(#""quantity":2"#))
        let again = try await Sluice.replay("quarantine", in: folder, plan: "plan")
        #expect(again.output.count == 1 && again.output[0].contains(#""quantity":1"#))
    }

    @Test("the quarantine can be listed and replayed while a server writes it")
    func serving() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        let server = try await ServingSluice.start(in: folder, plan: "plan")
        #expect(try await server.post(Self.lines[0]).status == 422)
        try await folder.waitForQuarantined(1)
        #expect(try await Sluice.run("quarantine", "list", in: folder).output.count == 2)
        try folder.write(Plans.shop(minimumQuantity: 0), to: "fixed/shop.plist")
        #expect(try await Sluice.replay("quarantine", in: folder, plan: "fixed").output.count == 1)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test(
        "wrong usage of quarantine is reported in a sentence",
        arguments: [
            (["quarantine", "list", "--code", "wrong"], "There is no code 'wrong'; there are: malformed-json,"),
            (["quarantine", "list", "--since", "today"], "--since takes an RFC 3339 time"),
            (["replay", "x.ndjson", "--code", "refused"], "--code selects quarantined events"),
        ]
    )
    func usage(arguments: [String], message: String) async throws {
        let run = try await Sluice.run(arguments, in: try TestFolder())
        #expect(run.ending == .exit(64))
        #expect(run.errors.first?.contains(message) == true)
    }

    @Test("quarantine reports a folder that does not exist")
    func missing() async throws {
        let run = try await Sluice.run("quarantine", "stats", "--quarantine", "nowhere", in: try TestFolder())
        #expect(run.ending == .exit(1))
        #expect(run.errors.first?.contains("The quarantine 'nowhere' cannot be read") == true)
    }
}
