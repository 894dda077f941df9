import Foundation

/// What is written beside the events: to standard error, so that standard output stays a stream of lines.
enum Terminal {
    /// Whether a person sees standard error.
    static let isInteractive = isatty(STDERR_FILENO) == 1

    /// Whether writing to a pipe that nobody reads is an error like others, or the end of the process.
    static func ignoresBrokenPipes(_ ignores: Bool) {
        signal(SIGPIPE, ignores ? SIG_IGN : SIG_DFL)
    }

    static func printError(_ line: String) {
        write(line + "\n")
    }

    /// Asks on the line on which the answer is typed.
    static func printPrompt(_ text: String) {
        write(text)
    }

    /// Replaces the terminal's current line.
    static func replaceLine(_ text: String) {
        write("\r\u{1B}[K\(text)")
    }

    /// Nobody can be told that standard error takes nothing more.
    private static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
