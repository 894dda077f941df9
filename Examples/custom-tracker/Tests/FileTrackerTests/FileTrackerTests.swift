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

@Test("the tracker that appends whole deliveries to one file fulfils the tracker contract")
func contractOfDeliveries() async throws {
    let file = URL.temporaryDirectory.appending(path: "log-file-\(UUID().uuidString).ndjson")
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }

    try await TrackerContract(
        traits: .init(largestDeliveryInEvents: 1000),
        makeTracker: { try LogFileTracker(path: file.path) },
        delivered: {
            try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
                let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return (event?["id"] as? String).flatMap { EventID($0) }
            }
        }
    ).verify()
}

@Test("a relative path is a wrong setting, and a missing file is a problem that the check reports")
func problems() async throws {
    let catalog = EventCatalog(plan: TrackerContract.plan(trackerName: "log"))
    #expect(throws: TrackerError.self) { try LogFileTracker(path: "log.ndjson").checkSettings(for: catalog) }
    let missing = URL.temporaryDirectory.appending(path: "missing-\(UUID().uuidString).ndjson")
    let tracker = try LogFileTracker(path: missing.path)
    let problems = await tracker.problems(in: PipelineOutline(catalog: catalog, hasJournal: false))
    #expect(problems.map(\.code) == [.notPrepared])
    await tracker.stop()
}
