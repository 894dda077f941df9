import Foundation

/// Asks git, which is run as a process of its own, without a shell.
enum Git {
    /// More than a plan file may have.
    private static let maximumBytes = 17 << 20

    /// What a command printed.
    struct Answer {
        let output: Data
        /// The first line of what it said besides, without git's own `fatal: `.
        let complaint: String
        let status: Int32
    }

    /// Runs git here; an answer that is too long is cut, and git is left to notice.
    ///
    /// - Throws: where there is no git.
    static func run(_ arguments: [String]) throws(GitError) -> Answer {
        let process = Process()
        let output = Pipe()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "--no-pager"] + arguments
        // Its words in English, no question on the terminal, and nothing fetched for a partial clone.
        let settings = ["LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"]
        process.environment = ProcessInfo.processInfo.environment.merging(settings) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        let data: Data
        let words: Data
        do {
            try process.run()
            data = try output.fileHandleForReading.read(upToCount: maximumBytes) ?? Data()
            try output.fileHandleForReading.close()
            words = try errors.fileHandleForReading.readToEnd() ?? Data()
        } catch {
            throw GitError("git cannot be run: \(error.localizedDescription)")
        }
        process.waitUntilExit()
        if process.terminationReason == .exit, process.terminationStatus == 127 {
            throw GitError("a revision is read through git, and there is no git here; install it, or name a folder")
        }
        return Answer(output: data, complaint: complaint(words), status: process.terminationStatus)
    }

    private static func complaint(_ words: Data) -> String {
        let line = String(decoding: words, as: UTF8.self).split(separator: "\n").first ?? "it does not say why"
        return line.hasPrefix("fatal: ") ? String(line.dropFirst("fatal: ".count)) : String(line)
    }
}

/// Why git could not show a plan; a sentence.
struct GitError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
