import Foundation
import Synchronization

/// Runs a command of the system to its end.
package enum Command {
    package struct Result {
        package let status: Int32
        package let output: [UInt8]

        package var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// Runs a program to its end, or until the task is cancelled, and then kills it.
    package static func run(_ name: String, _ arguments: [String]) async throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [name] + arguments
        let file = FileManager.default.temporaryDirectory.appending(path: "sluice-command-\(UUID().uuidString)")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        // The output goes to a file, so that nothing has to read it while the command runs.
        let output = try FileHandle(forWritingTo: file)
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        let identifier = Atomic<Int32>(0)
        let status: Int32 = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                process.terminationHandler = {
                    identifier.store(0, ordering: .relaxed)
                    continuation.resume(returning: $0.terminationStatus)
                }
                do {
                    try process.run()
                    identifier.store(process.processIdentifier, ordering: .relaxed)
                    if Task.isCancelled || !process.isRunning { identifier.store(0, ordering: .relaxed) }
                    if Task.isCancelled { kill(process.processIdentifier, SIGKILL) }
                } catch {
                    process.terminationHandler = nil
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            let running = identifier.exchange(0, ordering: .relaxed)
            if running != 0 { kill(running, SIGKILL) }
        }
        try output.close()
        return Result(status: status, output: Array(try Data(contentsOf: file)))
    }
}
