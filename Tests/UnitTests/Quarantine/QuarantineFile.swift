import EventModel
import EventPipeline
import Foundation
import Logging

/// Makes a quarantine with a file of its own, and removes the file afterwards; `lines` reads it.
func withQuarantineFile<Result>(
    capacityInBytes: Int = Quarantine.defaultCapacityInBytes,
    containing text: String? = nil,
    _ body: (Quarantine, _ lines: () throws -> [String]) async throws -> Result
) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quarantine-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "quarantine.ndjson")
    if let text { try Data(text.utf8).write(to: file) }
    let quarantine = try Quarantine(
        path: file.path(percentEncoded: false),
        capacityInBytes: capacityInBytes,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        now: { Timestamp(microseconds: 1_700_000_000_123_000, fractionDigits: 3) }
    )
    return try await body(quarantine) {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().map(String.init)
    }
}
