#if os(Linux)
import ServerTestSupport
import Foundation
import TestPromises
import Testing

/// The limits on open files that a server inherits.
@Suite("The limit on open files", .timeLimit(.minutes(5)))
struct OpenFilesTests {
    /// The soft limit on open files of a process.
    private static func softLimit(of process: Int32) async throws -> String {
        let text = try await Command.run(
            "prlimit",
            ["--pid", "\(process)", "--nofile", "--noheadings", "--raw", "--output", "SOFT"]
        ).text
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(
        "serve raises the soft limit to the hard limit, and derives its limit on connections from it",
        .promise("memory-limits")
    )
    func raised() async throws {
        let folder = try TestFolder()
        let program = try SluiceProcess.executable().path
        let serve = "serve --listen 127.0.0.1:0 --events '\(Sluice.plan)' --no-journal --no-console"
        let process = try SluiceProcess(
            ["-c", "ulimit -Sn 300; ulimit -Hn 900; exec '\(program)' \(serve)"],
            executable: URL(fileURLWithPath: "/bin/bash"),
            in: folder
        )
        let line = try await process.errors.line(containing: "The number of connections is limited.")
        #expect(line.contains("descriptors=900"))
        #expect(line.contains("connections=516"))
        #expect(try await Self.softLimit(of: process.processID) == "900")
        _ = try await process.errors.line(containing: "The server accepts events.")
        process.send(SIGTERM)
        #expect(try await process.waitForEnd() == .exit(0))
    }
}
#endif
