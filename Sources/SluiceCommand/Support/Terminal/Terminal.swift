import ArgumentParser
import EventJournal
import EventModel
import Foundation
import SystemPackage
import TrackerKit

/// Where commands print: results go to standard output, and everything else to standard error.
enum Terminal {
    /// Whether standard error is a terminal.
    static let isInteractive = isatty(STDERR_FILENO) == 1

    /// Sets whether writing to a pipe without a reader fails with an error, or ends the process.
    static func ignoresBrokenPipes(_ ignores: Bool) {
        signal(SIGPIPE, ignores ? SIG_IGN : SIG_DFL)
    }

    // MARK: Results

    /// Prints a text and a newline.
    ///
    /// - Throws: exit status 1, with the reason printed, if standard output cannot be written to, such as on a full disk.
    static func print(_ text: TerminalText) throws {
        try writeOutput(Array("\(text)\n".utf8))
    }

    /// Prints lines, if there are any; those that are not `TerminalText` are escaped.
    static func print(lines: [some CustomStringConvertible]) throws {
        let text = lines.map { "\(TerminalText(escaping: $0.description))\n" }.joined()
        try writeOutput(Array(text.utf8))
    }

    /// Writes bytes unchanged to a file or a pipe; for a terminal, escapes all but line feeds and tabs.
    static func write(_ bytes: some Collection<UInt8>) throws {
        guard isatty(STDOUT_FILENO) == 1 else { return try writeOutput(Array(bytes)) }
        var escaped: [UInt8] = []
        TerminalEscapes.append(bytes, keepingLines: true, to: &escaped)
        try writeOutput(escaped)
    }

    private static func writeOutput(_ bytes: [UInt8]) throws {
        // A command ends when the reader of its output has gone, as other Unix tools do.
        ignoresBrokenPipes(false)
        do {
            _ = try FileDescriptor.standardOutput.writeAll(bytes)
        } catch {
            throw failure("Standard output cannot be written to: \(error).")
        }
    }

    /// Clears the terminal's screen, and prints lines from its top.
    static func replaceScreen(with lines: [TerminalText]) throws {
        let text = lines.map { "\($0)\u{1B}[K\n" }.joined()
        try writeOutput(Array("\u{1B}[H\(text)\u{1B}[J".utf8))
    }

    // MARK: Errors

    /// Prints an error and returns exit status 1, to be thrown.
    static func failure(_ sentence: TerminalText) -> ExitCode {
        printError("error: \(sentence)")
        return ExitCode(1)
    }

    /// Runs work on a journal or a quarantine; prints the error that stops it, and throws exit status 1.
    static func reportingFailures<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch {
            throw reported(error)
        }
    }

    /// Prints an error of a journal, a quarantine or a tracker and returns exit status 1; returns any other error unchanged.
    static func reported(_ error: any Error) -> any Error {
        switch error {
        case is JournalError, is FileError, is TrackerError: failure("\(error)")
        default: error
        }
    }

    static func printError(_ line: TerminalText) {
        writeError("\(line)\n")
    }

    /// Prints a question; the answer is typed on the same line.
    static func printPrompt(_ text: TerminalText) {
        writeError(text)
    }

    /// Replaces the terminal's current line.
    static func replaceLine(_ text: TerminalText) {
        writeError("\r\u{1B}[K\(text)")
    }

    /// Ignores failures, because there is nowhere left to report them.
    private static func writeError(_ text: TerminalText) {
        try? FileHandle.standardError.write(contentsOf: Data(text.description.utf8))
    }
}
