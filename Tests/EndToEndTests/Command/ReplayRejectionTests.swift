import Foundation
import ServerTestSupport
import TestPromises
import Testing

/// Lines that do not follow the plan.
@Suite("Events that sluice replay rejects", .timeLimit(.minutes(5)))
struct ReplayRejectionTests {
    private static let lines = [
        #"{"name":"Sold","payload":{"quantity":3}}"#,
        #"{broken"#,
        #"{"name":"Sold","payload":{"quantity":0}}"#,
        #"{"name":"Lost","payload":{}}"#,
        #"{"name":"Sold","payload":{"colour":"red"}}"#,
    ]

    private struct Kept: Decodable {
        struct Why: Decodable {
            struct Problem: Decodable {
                let code: String
                let path: String
            }

            let source: String
            let stage: String
            let errors: [Problem]
        }

        struct Event: Decodable {
            let name: String
        }

        let quarantine: Why
        let event: Event?
        let eventText: String?
    }

    private func kept(in folder: TestFolder, _ name: String = "quarantine") throws -> [Kept] {
        try folder.quarantined(name).map { try JSONDecoder().decode(Kept.self, from: Data($0.utf8)) }
    }

    private func folder() throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        try folder.write(Self.lines.joined(separator: "\n"), to: "sales.ndjson")
        return folder
    }

    @Test(
        "a line that begins with a byte order mark is one rejection, of a file and of the quarantine, wherever it is",
        .promise("unusual-input")
    )
    func byteOrderMarks() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 5), to: "plan/shop.plist")
        let marks: [[UInt8]] = [
            [0xEF, 0xBB, 0xBF], [0xFF, 0xFE], [0xFE, 0xFF], [0xFF, 0xFE, 0, 0], [0, 0, 0xFE, 0xFF],
        ]
        let sold = Array(#"{"name":"Sold","payload":{"quantity":1}}"#.utf8)
        // The mark of UTF-8 is ignored before the first line only.
        let lines = [marks[0] + sold] + marks.flatMap { [$0 + sold, sold] }
        try folder.write(Data(lines.joined(separator: [0x0A])), to: "marks.ndjson")
        let first = try await Sluice.replay("marks.ndjson", in: folder, plan: "plan")
        #expect(try first.report().rejected == 11)
        #expect(try first.report().failures == [])
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        let again = try await Sluice.replay("quarantine", in: folder, plan: "plan")
        #expect(try again.report().accepted == 6)
        #expect(try again.report().rejected == 5)
        #expect(try again.report().failures == [])
    }

    @Test("rejected events are counted by code and quarantined, the others are delivered, and the exit status is 2")
    func rejected() async throws {
        let folder = try folder()
        let run = try await Sluice.replay("sales.ndjson", in: folder, plan: "plan")
        #expect(run.ending == .exit(2))
        #expect(run.output.count == 1)
        let report = try run.report()
        #expect(report.read == 5)
        #expect(report.accepted == 1)
        #expect(report.rejected == 4)
        #expect(
            report.rejectedByCode == [
                "malformed-json": 1, "out-of-range": 1, "unknown-event": 1, "missing-required": 1,
                "unplanned-property": 1,
            ]
        )
        let kept = try kept(in: folder)
        #expect(kept.map(\.quarantine.source) == Array(repeating: "sales.ndjson", count: 4))
        #expect(kept.map(\.quarantine.stage) == Array(repeating: "check", count: 4))
        #expect(
            kept.map { $0.quarantine.errors.map(\.code).sorted() } == [
                ["malformed-json"], ["out-of-range"], ["unknown-event"], ["missing-required", "unplanned-property"],
            ]
        )
        #expect(kept.map(\.event?.name) == [nil, "Sold", "Lost", "Sold"])
        #expect(kept[0].eventText == "{broken")
    }

    @Test("without --json, replay lists the rejected events by code in a table")
    func table() async throws {
        let folder = try folder()
        let run = try await Sluice.run("replay", "sales.ndjson", "--events", "plan", "--dry-run", in: folder)
        #expect(run.ending == .exit(2))
        let rows = run.output.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(rows.prefix(4) == ["read 5", "accepted 1", "rejected 4", "malformed-json 1"])
    }

    @Test("after a fix of the plan, a replay of the quarantine sends the events that are now valid, once")
    func fixed() async throws {
        let folder = try folder()
        _ = try await Sluice.replay("sales.ndjson", in: folder, plan: "plan")
        let colour = "<key>colour</key><dict><key>type</key><string>string</string><key>required</key><false/></dict>"
        try folder.write(Plans.shop(minimumQuantity: 0, additionally: colour), to: "plan/shop.plist")
        let before = folder.quarantined()
        let export = try await Sluice.run("quarantine", "export", in: folder)
        #expect(export.output == before)
        try folder.write(export.output.joined(separator: "\n"), to: "exported.ndjson")
        let dry = try await Sluice.replay("quarantine", "--dry-run", in: folder, plan: "plan")
        #expect(try dry.report().accepted == 1)
        let run = try await Sluice.replay("quarantine", in: folder, plan: "plan")
        #expect(run.ending == .exit(2))
        #expect(run.output.count == 1)
        #expect(run.output[0].hasSuffix(#""payload":{"quantity":0}}"#))
        #expect(
            try run.report().rejectedByCode == ["malformed-json": 1, "unknown-event": 1, "missing-required": 1]
        )
        #expect(folder.quarantined() == before)
        let again = try await Sluice.replay("quarantine", in: folder, plan: "plan")
        #expect(again.output == [])
        #expect(try again.report().rejected == 3)
        // An export does not record which events were sent. Events that are rejected again are not quarantined a second time.
        let exported = try await Sluice.replay("exported.ndjson", in: folder, plan: "plan")
        #expect(exported.output.count == 1)
        #expect(folder.quarantined() == before)
    }

    @Test("a line over 1 MiB or over 8 MiB is too large, and does not affect other lines")
    func long() async throws {
        let folder = try folder()
        func line(_ length: Int) -> String {
            #"{"name":"Sold","payload":{"quantity":1,"note":"\#(String(repeating: "n", count: length))"}}"#
        }
        let lengths = [1, 1 << 20, 3, (1 << 20) - 100, 9 << 20, 6]
        try folder.write(lengths.map(line).joined(separator: "\n"), to: "long.ndjson")
        let run = try await Sluice.replay("long.ndjson", in: folder, plan: "plan")
        #expect(run.ending == .exit(2))
        #expect(run.output.map(\.count).map { $0 < 1000 } == [true, true, false, true])
        #expect(try run.report().rejectedByCode == ["too-large": 2])
        let kept = try kept(in: folder)
        #expect(kept[0].eventText == line(1 << 20))
        // The rest of the line was not stored in memory.
        #expect((kept[1].eventText ?? "").count >= 8 << 20)
        #expect(line(9 << 20).hasPrefix(kept[1].eventText ?? "?"))
    }
}
