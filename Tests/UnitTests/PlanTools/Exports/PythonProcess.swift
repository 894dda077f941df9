import Foundation

/// Runs Python, whose libraries serve as reference implementations.
enum PythonProcess {
    /// A script failed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a script on an input to its end, and returns the lines that it printed.
    static func run(_ script: String, _ arguments: [String] = [], input: String = "") throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-python-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Uses files, because a pipe that is not read can fill and block the script.
        let files = ["input", "output", "errors"].map { folder.appending(path: $0) }
        for file in files { try Data().write(to: file) }
        try Data(input.utf8).write(to: files[0])

        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script] + arguments
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let said = try String(contentsOf: files[2], encoding: .utf8)
            throw Failure(description: "python3 ended with \(process.terminationStatus): \(said.suffix(2000))")
        }
        return try String(contentsOf: files[1], encoding: .utf8).split(separator: "\n").map(String.init)
    }
}
