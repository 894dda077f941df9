import Foundation

/// Runs Git as a process, without a shell.
enum Git {
    /// The maximum output that is read; larger than any valid plan file.
    private static let maximumBytes = 17 << 20

    /// The result of a Git command.
    struct Answer {
        let output: Data
        /// The first line of standard error, without `fatal: `.
        let complaint: String
        let status: Int32
    }

    /// Runs Git in the current folder; output beyond the limit is not read, so that Git ends with SIGPIPE.
    ///
    /// - Throws: `GitError` if Git cannot be run.
    static func run(_ arguments: [String]) throws(GitError) -> Answer {
        let process = Process()
        let output = Pipe()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "--no-pager"] + arguments
        // English messages, no prompts on the terminal, and no fetching in a partial clone.
        let settings = ["LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"]
        process.environment = ProcessInfo.processInfo.environment.merging(settings) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        let data: Data
        let messages: Data
        do {
            try process.run()
            data = try output.fileHandleForReading.read(upToCount: maximumBytes) ?? Data()
            try output.fileHandleForReading.close()
            messages = try errors.fileHandleForReading.readToEnd() ?? Data()
        } catch {
            throw GitError("Git cannot be run: \(error.localizedDescription)")
        }
        process.waitUntilExit()
        if process.terminationReason == .exit, process.terminationStatus == 127 {
            throw GitError("reading a revision needs Git, which is not installed; install it, or name a folder")
        }
        return Answer(output: data, complaint: complaint(messages), status: process.terminationStatus)
    }

    private static func complaint(_ messages: Data) -> String {
        let line = String(decoding: messages, as: UTF8.self).split(separator: "\n").first ?? "Git gives no reason"
        return line.hasPrefix("fatal: ") ? String(line.dropFirst("fatal: ".count)) : String(line)
    }
}

/// The reason why a plan could not be read from Git.
struct GitError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
