import EventJournal
import Foundation
import ServerTestSupport
import Testing

/// `sluice replay journal://DIR`.
@Suite("sluice replay of a journal", .timeLimit(.minutes(5)))
struct ReplayJournalTests {
    private static let hour: Int64 = 3_600_000_000
    /// 2010-12-01T08:26:00Z.
    private static let start: Int64 = 1_291_191_960_000_000

    /// Writes a journal of 12 events, one per hour from 08:26, with a frame per event and two per segment; returns the events.
    private func journal(in folder: TestFolder) async throws -> [String] {
        let input = try await RetailMonth.dayLines(12).enumerated().map { hour, line in
            let time = String(format: "\"time\":\"2010-12-01T%02d:26:00Z\"", 8 + hour)
            return line.replacing(/"time": *"[^"]*"/, with: time)
        }
        try folder.write(input.joined(separator: "\n"), to: "input.ndjson")
        let lines = try await Sluice.replay("input.ndjson", in: folder).output
        try #require(lines.count == 12)
        var configuration = JournalFolder.configuration
        configuration.segmentBytes = 2 * (lines[0].utf8.count + 100) + 100
        let entries = lines.enumerated().map {
            JournalledLine($1, microseconds: Self.start + Int64($0) * Self.hour)
        }
        try JournalFolder.write(entries, in: folder, configuration)
        try #require(try JournalFolder.segments(in: folder).count >= 5)
        return lines
    }

    @Test("events that a running server has accepted are sent with the same ids and times")
    func running() async throws {
        let folder = try TestFolder()
        let serving = try await ServingSluice.start("--journal", "journal", in: folder)
        try folder.write(try await RetailMonth.dayLines(50).joined(separator: "\n"), to: "fifty.ndjson")
        #expect(try await serving.post(file: folder.path("fifty.ndjson")).status == 200)
        try await serving.process.output?.waitForLines(50)
        let run = try await Sluice.replay("journal://journal", in: folder)
        #expect(run.ending == .exit(0))
        #expect(run.output.count == 50)
        #expect(run.output == serving.process.output?.lines)
        // An absolute path, among other sources.
        let both = try await Sluice.replay("fifty.ndjson", "journal://\(folder.path("journal"))", in: folder)
        #expect(both.ending == .exit(0))
        #expect(Array(both.output.dropFirst(50)) == run.output)
        serving.process.send(SIGTERM)
        #expect(try await serving.process.waitForEnd() == .exit(0))
    }

    @Test("all replay filters apply to a journal")
    func filters() async throws {
        let folder = try TestFolder()
        let lines = try await journal(in: folder)
        let run = try await Sluice.replay(
            "journal://journal",
            "--since",
            "2010-12-01T10:26:00Z",
            "--until",
            "2010-12-01T13:26:00Z",
            in: folder
        )
        #expect(run.ending == .exit(0))
        #expect(run.output == Array(lines[2..<5]))
        let none = try await Sluice.replay("journal://journal", "--event", "Item Returned", "--dry-run", in: folder)
        #expect(try none.report().skipped == 12)
        let rate = try await Sluice.replay("journal://journal", "--rate", "20", "--to", "console", in: folder)
        #expect(rate.output == lines)
        #expect(try rate.report().seconds >= 0.4)
    }

    @Test("a folder that is not a journal is an error, and a missing folder name is wrong usage")
    func noJournal() async throws {
        let folder = try TestFolder()
        let run = try await Sluice.replay("journal://nowhere", in: folder)
        #expect(run.ending == .exit(1))
        #expect(try run.report().failures == ["journal://nowhere: There is no folder 'nowhere'."])
        #expect(try await Sluice.replay("journal://", in: folder).ending == .exit(64))
    }
}
