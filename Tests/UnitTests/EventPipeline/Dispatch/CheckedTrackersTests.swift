import EventPipeline
import EventValidation
import Foundation
import Logging
import PipelineTestSupport
import Synchronization
import TestPromises
import Testing
import TrackerKit

@Suite("Trackers of a pipeline are checked")
struct CheckedTrackersTests {
    @Test(
        "each tracker's settings are checked once, with a journal and without",
        .promise("invalid-settings"),
        arguments: [false, true]
    )
    func checksOnce(hasJournal: Bool) async throws {
        final class Checked: Tracker {
            let name = "alpha"
            let checks = Atomic(0)
            func checkSettings(for catalog: EventCatalog) throws(TrackerError) { checks.add(1, ordering: .relaxed) }
            func deliver(_ delivery: Delivery) async -> DeliveryOutcome { .delivered }
        }
        let tracker = Checked()
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-checks-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try Pipeline(
            catalog: PipelineHarness.catalog,
            trackers: [tracker],
            journal: hasJournal ? .directory(folder.path) : nil,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        #expect(tracker.checks.load(ordering: .relaxed) == 1)
    }
}
