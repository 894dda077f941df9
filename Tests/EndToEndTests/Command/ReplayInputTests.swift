import Foundation
import ServerTestSupport
import Testing

/// The input of `sluice replay`.
@Suite("sluice replay reads", .timeLimit(.minutes(5)))
struct ReplayInputTests {
    @Test("replay prints the retail month completely, with one line per event")
    func month() async throws {
        let folder = try TestFolder()
        let run = try await Sluice.replay(RetailMonth.path, in: folder)
        #expect(run.ending == .exit(0))
        #expect(run.output.count == 41_683 + 798)
        #expect(try RetailMonth.facts(of: run.output) == RetailMonth.facts)
        let report = try run.report()
        #expect(report.read == 42_481)
        #expect(report.accepted == 42_481)
        #expect(report.rejected == 0)
        #expect(report.rejectedByCode == [:])
        #expect(report.delivered == ["console": 42_481])
        #expect(report.undelivered == ["console": 0])
        #expect(report.failures == [])
        #expect(report.seconds > 0)
        #expect(folder.quarantined() == [])
    }

    @Test("replayed ids depend on a file's lines, not on its name, its folder or whether it is gzip")
    func ids() async throws {
        let folder = try TestFolder()
        let gzipped = try Data(contentsOf: URL(fileURLWithPath: RetailMonth.dayPath))
        try folder.write(gzipped, to: "elsewhere/retail-2010-12-01.ndjson.gz")
        try folder.write(gzipped, to: "other.ndjson.gz")
        try folder.write(try await RetailMonth.dayLines().joined(separator: "\n"), to: "retail-2010-12-01.ndjson")
        func ids(_ path: String) async throws -> [String] {
            EndToEndTests.ids(of: try await Sluice.replay(path, in: folder).output)
        }
        let first = try await ids(RetailMonth.dayPath)
        #expect(first.count == 3_108)
        #expect(try await ids("elsewhere/retail-2010-12-01.ndjson.gz") == first)
        #expect(try await ids("retail-2010-12-01.ndjson") == first)
        #expect(try await ids("other.ndjson.gz") == first)
        // The same lines after another one, as in another day's file.
        try folder.write(try await RetailMonth.dayLines().reversed().joined(separator: "\n"), to: "reversed.ndjson")
        let others = try await ids("reversed.ndjson")
        #expect(others.count == 3_108)
        #expect(Set(others).isDisjoint(with: first))
    }

    @Test("derived ids are UUIDs of version 8 that begin with the event's milliseconds")
    func layout() async throws {
        let folder = try TestFolder()
        try folder.write(try await RetailMonth.dayLines(1)[0], to: "one.ndjson")
        let id = try #require(EndToEndTests.ids(of: try await Sluice.replay("one.ndjson", in: folder).output).first)
        // 2010-12-01T08:26:00Z
        #expect(id.hasPrefix("012ca109-c1c0-8"))
        #expect("89ab".contains(Array(id)[19]))
    }

    @Test("two equal lines are two events")
    func equalLines() async throws {
        let folder = try TestFolder()
        let line = try await RetailMonth.dayLines(1)[0]
        try folder.write("\(line)\n\(line)\n", to: "two.ndjson")
        let run = try await Sluice.replay("two.ndjson", in: folder)
        #expect(Set(EndToEndTests.ids(of: run.output)).count == 2)
    }

    @Test("replay reads standard input by default and for -, plain or gzip")
    func standardInput() async throws {
        let folder = try TestFolder()
        let plain = try folder.write(try await RetailMonth.dayLines(5).joined(separator: "\n"), to: "five.ndjson")
        let input = SluiceProcess.Input.file(URL(fileURLWithPath: plain))
        let implied = try await Sluice.replay(in: folder, input: input)
        #expect(implied.ending == .exit(0))
        #expect(implied.output.count == 5)
        let gzipped = SluiceProcess.Input.file(URL(fileURLWithPath: RetailMonth.dayPath))
        let mixed = try await Sluice.replay("five.ndjson", "-", in: folder, input: gzipped)
        #expect(mixed.output.count == 5 + 3_108)
    }

    @Test(
        "lines end in LF or CRLF, the last may have no end, empty ones are skipped, and a BOM is ignored"
    )
    func lineEnds() async throws {
        let folder = try TestFolder()
        let lines = try await RetailMonth.dayLines(3)
        try folder.write("\u{FEFF}\(lines[0])\r\n\r\n\n  \n\(lines[1])\n\(lines[2])", to: "odd.ndjson")
        let run = try await Sluice.replay("odd.ndjson", in: folder)
        #expect(run.ending == .exit(0))
        #expect(run.output.count == 3)
        #expect(try run.report().read == 3)
    }

    @Test("an empty file, plain or gzip, is a valid input of replay")
    func empty() async throws {
        let folder = try TestFolder()
        try folder.write("", to: "empty")
        try folder.write(Data(try await Requests.gzip("")), to: "empty.gz")
        let run = try await Sluice.replay("empty", "empty.gz", in: folder)
        #expect(run.ending == .exit(0))
        #expect(try run.report().read == 0)
    }

    @Test("replay says what was in a file without events, and rejects one in another encoding")
    func noEvents() async throws {
        let folder = try TestFolder()
        try folder.write(Data(repeating: 0x0D, count: 20 << 20), to: "returns.ndjson")
        try folder.write(" \n\n", to: "blank.ndjson")
        try folder.write(Data([0xFF, 0xFE]) + Data("{}\n".utf8), to: "wide.ndjson")
        try folder.write(try await RetailMonth.dayLines(1).joined(), to: "one.ndjson")
        let run = try await Sluice.replay("returns.ndjson", "blank.ndjson", "wide.ndjson", "one.ndjson", in: folder)
        let report = try run.report()
        let nothing = "only white space, or carriage returns without line feeds"
        #expect(
            report.notes == [
                "returns.ndjson: no events in 20971520 bytes: \(nothing)",
                "blank.ndjson: no events in 3 bytes: \(nothing)",
            ]
        )
        #expect(
            report.failures == [
                "wide.ndjson: text in UTF-8 is expected, and the byte order mark of UTF-16 was found [malformed-json]"
            ]
        )
        #expect(run.ending == .exit(1))
        #expect(run.output.count == 1)
    }

    @Test("replay reports an unreadable file, and replays the others")
    func unreadable() async throws {
        let folder = try TestFolder()
        try folder.write(try await RetailMonth.dayLines(5).joined(separator: "\n"), to: "five.ndjson")
        try folder.write(try Data(contentsOf: URL(fileURLWithPath: RetailMonth.path)).prefix(300_000), to: "cut.gz")
        let whole = try await Command.run("sh", ["-c", "gzip -dc '\(folder.path("cut.gz"))' | wc -l"])
        let run = try await Sluice.replay("missing", ".", "five.ndjson/below", "cut.gz", "five.ndjson", in: folder)
        #expect(run.ending == .exit(1))
        let report = try run.report()
        #expect(
            report.failures == [
                "missing: No such file or directory", ".: Is a directory", "five.ndjson/below: Not a directory",
                "cut.gz: The gzip data ends too early. [truncated]",
            ]
        )
        // gzip may withhold some lines that zlib can already inflate.
        let linesBeforeCut = try #require(Int(whole.text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(linesBeforeCut > 10_000)
        #expect(report.rejected == 0)
        #expect(report.accepted >= linesBeforeCut + 5)
        #expect(run.output.count == report.accepted)
    }

    @Test("garbage after a complete gzip file is an error, and loses no event")
    func garbageBehind() async throws {
        let folder = try TestFolder()
        let data = try Data(contentsOf: URL(fileURLWithPath: RetailMonth.dayPath))
        try folder.write(data + Data("garbage\n".utf8), to: "more.gz")
        let run = try await Sluice.replay("more.gz", in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.output.count == 3_108)
        #expect(try run.report().failures == ["more.gz: The data is not gzip, or is damaged. [corrupt]"])
    }

    @Test("concatenated gzip files are read as one")
    func concatenated() async throws {
        let folder = try TestFolder()
        let data = try Data(contentsOf: URL(fileURLWithPath: RetailMonth.dayPath))
        try folder.write(data + data, to: "twice.gz")
        let run = try await Sluice.replay("twice.gz", in: folder)
        #expect(run.ending == .exit(0))
        #expect(run.output.count == 2 * 3_108)
        #expect(Set(EndToEndTests.ids(of: run.output)).count == 2 * 3_108)
    }
}
