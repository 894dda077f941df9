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

    @Test("replay says what was in a file without events, and rejects one in another encoding")
    func noEvents() async throws {
        let folder = try TestFolder()
        try folder.write(Data(repeating: 0x0D, count: 4 << 20), to: "returns.ndjson")
        try folder.write(" \n\n", to: "blank.ndjson")
        try folder.write(Data([0xFF, 0xFE]) + Data("{}\n".utf8), to: "wide.ndjson")
        try folder.write(try await RetailMonth.dayLines(1).joined(), to: "one.ndjson")
        let run = try await Sluice.replay("returns.ndjson", "blank.ndjson", "wide.ndjson", "one.ndjson", in: folder)
        let report = try run.report()
        let nothing = "only white space, or carriage returns without line feeds"
        #expect(
            report.notes == [
                "returns.ndjson: no events in 4194304 bytes: \(nothing)",
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
}
