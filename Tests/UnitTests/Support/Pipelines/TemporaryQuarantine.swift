import EventModel
package import EventQuarantine
import Foundation
import Logging
import SluiceTesting
import TestCases

/// Creates a quarantine in a temporary folder, which is removed afterwards; `lines` reads it.
package func withQuarantine<Result>(
    capacityInBytes: Int = Quarantine.defaultCapacityInBytes,
    _ body: (Quarantine, _ lines: () throws -> [String]) async throws -> Result
) async throws -> Result {
    let folder = TemporaryFolder()
    let quarantine = try Quarantine(
        folder: folder.path,
        capacityInBytes: capacityInBytes,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        now: { Timestamp(microseconds: 1_700_000_000_123_000, fractionDigits: 3) }
    )
    return try await body(quarantine) { try QuarantineContents.lines(in: folder.path) }
}

/// A folder that does not exist yet, and is removed when this object is released.
package final class TemporaryFolder {
    package let path = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        .path(percentEncoded: false)

    package init() {}

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
