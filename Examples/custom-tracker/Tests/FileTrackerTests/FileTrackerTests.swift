import FileTracker
import Foundation
import Sluice
import SluiceTesting
import Testing

@Test("the tracker keeps every promise a tracker makes")
func contract() async throws {
    let folder = URL.temporaryDirectory.appending(path: "file-tracker-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }

    try await TrackerContract(
        // Each file has its events in order; between files there is none.
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
