import FileTracker
import Foundation
import Sluice
import SluiceTesting
import Testing

@Test("the tracker fulfils the tracker contract")
func contract() async throws {
    let folder = URL.temporaryDirectory.appending(path: "file-tracker-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }

    try await TrackerContract(
        // The events of one file are in order; there is no order between files.
        traits: .init(keepsOrder: false, largestDeliveryInEvents: 500),
        makeTracker: { FileTracker(folder: folder) },
        delivered: {
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).flatMap { file in
                try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
                    let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                    return (event?["id"] as? String).flatMap { EventID($0) }
                }
            }
        }
    ).verify()
}
