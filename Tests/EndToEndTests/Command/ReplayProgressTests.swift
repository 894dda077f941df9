import EventJournal
import Foundation
import ServerTestSupport
import Testing

/// The progress line on a terminal.
@Suite("sluice replay's progress", .timeLimit(.minutes(5)))
struct ReplayProgressTests {
    /// Replays one day, slowed down to more than a second, with a terminal for all its streams.
    private func replay(_ options: String, of source: String = RetailMonth.dayPath) async throws -> String {
        try await replay(options, of: source, in: TestFolder())
    }

    private func replay(_ options: String, of source: String, in folder: TestFolder) async throws -> String {
        let program = try SluiceProcess.executable().path
        let command =
            "cd '\(folder.url.path)' && '\(program)' replay '\(source)' --events '\(Sluice.plan)'"
        let whole = "\(command) --rate 2000 --dry-run \(options)"
        let result = try await Command.run("script", ["-qec", whole, "/dev/null"])
        #expect(result.status == 0)
        return result.text
    }

    @Test("on a terminal, replay shows a bar, the rate and the time left, and removes them before the report")
    func bar() async throws {
        let text = try await replay("")
        let steps = text.components(separatedBy: "\r\u{1B}[K")
        #expect(steps.count >= 3)
        #expect(steps[1].hasPrefix("["))
        for part in [" %  ", " events  ", "/s  ", " s left"] { #expect(steps[1].contains(part)) }
        #expect(steps.last?.hasPrefix("read") == true)
    }

    @Test("replay of a journal shows the progress, too")
    func journal() async throws {
        let folder = try TestFolder()
        let lines = try await Sluice.replay(RetailMonth.dayPath, in: folder).output
        try JournalFolder.write(lines.map { JournalledLine($0) }, in: folder, JournalConfiguration())
        let text = try await replay("", of: "journal://journal", in: folder)
        let steps = text.components(separatedBy: "\r\u{1B}[K")
        #expect(steps.count >= 3)
        #expect(steps.dropFirst().first?.hasPrefix("[") == true)
    }

    @Test("replay --json shows no progress")
    func json() async throws {
        let text = try await replay("--json")
        #expect(!text.contains("\u{1B}"))
        #expect(text.hasPrefix("{"))
    }
}
