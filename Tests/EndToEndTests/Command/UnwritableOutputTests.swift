#if os(Linux)
import ServerTestSupport
import Foundation
import TestSupport
import Testing

/// Results that cannot be written, because standard output is on a full disk.
@Suite("sluice with standard output on a full disk", .timeLimit(.minutes(5)))
struct UnwritableOutputTests {
    /// Runs the program with standard output on a full disk; returns the exit status and the last error.
    private func run(_ line: String, in folder: TestFolder) async throws -> (status: Int32, error: String?) {
        let program = try SluiceProcess.executable().path
        let script = "cd '\(folder.url.path)' && exec '\(program)' \(line) >/dev/full 2>errors"
        let status = try await Command.run("bash", ["-c", script]).status
        return (status, folder.lines(of: "errors").last)
    }

    private static let sentence = "error: Standard output cannot be written to: No space left on device."

    @Test(
        "a command whose output cannot be written exits with 1 and an error",
        arguments: [
            "lint broken", "lint --json events", "diff old events", "diff old events --format markdown",
            "diff old events --format json", "coverage old", "coverage old --json", "new-event Moved --events events",
            "init shop", "export sql --events events", "completions bash", "config example",
            "config show", "config show --json", "config check",
            "replay --dry-run --log-level error --events events", "quarantine list", "quarantine list --json",
            "quarantine stats", "quarantine stats --json", "quarantine show verdicts/0-0", "quarantine export",
            "journal inspect", "journal inspect --json", "journal verify --json", "journal cat", "journal repair",
        ]
    )
    func full(line: String) async throws {
        let folder = try TestFolder()
        try folder.write(Plans.broken, to: "broken/shop.plist")
        try folder.write(Plans.shop(minimumQuantity: 1), to: "old/shop.plist")
        // A compatible change.
        try folder.write(Plans.shop(minimumQuantity: 0), to: "events/shop.plist")
        try JournalFolder.write([#"{"name":"Sold"}"#], in: folder)
        try folder.write("{broken", to: "one.ndjson")
        #expect(try await Sluice.replay("one.ndjson", in: folder, plan: "events").ending == .exit(2))
        #expect(try await run(line, in: folder) == (1, Self.sentence))
    }

    @Test("migrate exits with 1 and an error if its output cannot be written", arguments: ["", "--plan-only"])
    func migrate(option: String) async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        let line = "migrate --events '\(Sluice.plan)' --postgres '\(database.url)' \(option)"
        #expect(try await run(line, in: folder) == (1, Self.sentence))
    }
}
#endif
