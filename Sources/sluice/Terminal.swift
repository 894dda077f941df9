import ArgumentParser
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
    static func print(_ text: String) throws {
        try write((text + "\n").utf8)
    }

    /// Prints lines, be there any or not.
    static func print(lines: [some CustomStringConvertible]) throws {
        try write(lines.map { "\($0)\n" }.joined().utf8)
    }

    /// Writes a text or bytes as they are.
    static func write(_ bytes: some Sequence<UInt8>) throws {
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
    static func failure(_ sentence: String) -> ExitCode {
        printError("error: \(sentence)")
        return ExitCode(1)
    }

    static func printError(_ line: String) {
        writeError(line + "\n")
    }

    /// Asks on the line on which the answer is typed.
    static func printPrompt(_ text: String) {
        writeError(text)
    }

    /// Replaces the terminal's current line.
    static func replaceLine(_ text: String) {
        writeError("\r\u{1B}[K\(text)")
    }

    /// Nobody can be told that standard error takes nothing more.
    private static func writeError(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
