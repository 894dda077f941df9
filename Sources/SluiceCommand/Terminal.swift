import ArgumentParser
import EventModel
import Foundation
import SystemPackage

/// Where a command's words go: its result to standard output, and what is said beside it to standard error.
enum Terminal {
    /// Whether a person sees standard error.
    static let isInteractive = isatty(STDERR_FILENO) == 1

    /// Whether writing to a pipe that nobody reads is an error like others, or the end of the process.
    static func ignoresBrokenPipes(_ ignores: Bool) {
        signal(SIGPIPE, ignores ? SIG_IGN : SIG_DFL)
    }

    // MARK: The result

    /// Prints a text and the end of its line.
    ///
    /// - Throws: `ExitCode` where it cannot be written, as on a full disk: it is said, and must not pass for success.
    static func print(_ text: TerminalText) throws {
        try writeOutput(Array("\(text)\n".utf8))
    }

    /// Prints lines, be there any or not; what is no `TerminalText` yet is escaped.
    static func print(lines: [some CustomStringConvertible]) throws {
        let text = lines.map { "\(TerminalText(escaping: $0.description))\n" }.joined()
        try writeOutput(Array(text.utf8))
    }

    /// Writes bytes as they are to a file or a pipe; for a terminal they are escaped, but for line feeds and tabs.
    static func write(_ bytes: some Collection<UInt8>) throws {
        guard isatty(STDOUT_FILENO) == 1 else { return try writeOutput(Array(bytes)) }
        var escaped: [UInt8] = []
        TerminalEscapes.append(bytes, keepingLines: true, to: &escaped)
        try writeOutput(escaped)
    }

    private static func writeOutput(_ bytes: [UInt8]) throws {
        // Like any other command, it ends when nobody reads what it prints.
        ignoresBrokenPipes(false)
        do {
            _ = try FileDescriptor.standardOutput.writeAll(bytes)
        } catch {
            throw failure("Standard output cannot be written to: \(error).")
        }
    }

    // MARK: Beside it

    /// What cannot be done, told on standard error; to be thrown.
    static func failure(_ sentence: TerminalText) -> ExitCode {
        printError("error: \(sentence)")
        return ExitCode(1)
    }

    static func printError(_ line: TerminalText) {
        writeError("\(line)\n")
    }

    /// Asks on the line on which the answer is typed.
    static func printPrompt(_ text: TerminalText) {
        writeError(text)
    }

    /// Replaces the terminal's current line.
    static func replaceLine(_ text: TerminalText) {
        writeError("\r\u{1B}[K\(text)")
    }

    /// Nobody can be told that standard error takes nothing more.
    private static func writeError(_ text: TerminalText) {
        try? FileHandle.standardError.write(contentsOf: Data(text.description.utf8))
    }
}
