import Foundation
import Testing

/// The limits on open files that a service manager leaves a server with.
@Suite("The limit on open files", .timeLimit(.minutes(1)))
struct OpenFilesTests {
    /// The soft limit on open files of a process.
    private static func softLimit(of process: Int32) async throws -> String {
        let text = try await Command.run(
            "prlimit",
            ["--pid", "\(process)", "--nofile", "--noheadings", "--raw", "--output", "SOFT"]
        ).text
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test("serve raises the soft limit to the hard one, and derives its limit of connections from it")
    func raised() async throws {
        let folder = try TestFolder()
        let program = try SluiceProcess.executable().path
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/bash")
        shell.currentDirectoryURL = folder.url
        let serve = "serve --listen 127.0.0.1:0 --events '\(Sluice.plan)' --no-journal --no-console"
        shell.arguments = ["-c", "ulimit -Sn 300; ulimit -Hn 900; exec '\(program)' \(serve)"]
        let errors = Pipe()
        shell.standardError = errors
        shell.standardOutput = FileHandle.nullDevice
        let log = OutputLog(reading: errors.fileHandleForReading, keepsLines: true)
        try shell.run()
        try errors.fileHandleForWriting.close()
        defer { shell.terminate() }
        let line = try await log.line(containing: "limit of connections")
        #expect(line.contains("descriptors=900"))
        #expect(line.contains("connections=516"))
        #expect(try await Self.softLimit(of: shell.processIdentifier) == "900")
    }
}
