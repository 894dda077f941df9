import FileTracker
import Foundation
import Logging
import PlanReading
import Sluice

/// Runs a pipeline with a custom tracker in a program: two events are delivered, and one is rejected.
@main
struct CustomTracker {
    static func main() async throws {
        let reading = PlanReader().read([PlanSource(file: "events/app.plist", bytes: Array(plan.utf8))])
        guard let plan = reading.plan else { throw Problem("\(reading.diagnostics)") }
        let catalog = EventCatalog(plan: plan)

        let folder = URL.temporaryDirectory.appending(path: "custom-tracker-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let logger = Logger(label: "custom-tracker")
        let pipeline = try Pipeline(
            catalog: catalog,
            trackers: [FileTracker(folder: folder)],
            quarantine: .discarding(logger: logger),
            logger: logger
        )
        async let running: Void = pipeline.run()

        let checked = try check(events, against: catalog)
        if let batch = checked.batch { try await pipeline.submit(batch) }
        await pipeline.flush()
        pipeline.shutdown()
        try await running

        for rejection in checked.rejections {
            for violation in rejection.violations {
                print("event \(rejection.index): \(violation.code.rawValue) at \(violation.path):", terminator: " ")
                print("expected \(violation.expected), found \(violation.found)")
            }
        }
        let kept = try String(contentsOf: folder.appending(path: "SongPlayed.ndjson"), encoding: .utf8)
        print("kept in SongPlayed.ndjson:\n\(kept)", terminator: "")
        guard kept.split(separator: "\n").count == 2, checked.rejections.count == 1 else {
            throw Problem("expected two events kept and one turned down")
        }
    }

    private static func check(_ events: String, against catalog: EventCatalog) throws -> CheckedBody {
        let validator = EventValidator(catalog: catalog)
        return try Array(events.utf8).withUnsafeBytes { try validator.check($0, as: .lines) }
    }

    struct Problem: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// A real service has its plan in a separate file; `sluice lint` checks it.
    private static let plan = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0">
        <dict>
            <key>events</key>
            <dict>
                <key>SongPlayed</key>
                <dict>
                    <key>name</key><string>Song Played</string>
                    <key>registeredTrackers</key><array><string>files</string></array>
                    <key>payload</key>
                    <dict>
                        <key>title</key><string>string</string>
                        <key>seconds</key>
                        <dict><key>type</key><string>integer</string><key>minimum</key><integer>1</integer></dict>
                    </dict>
                </dict>
            </dict>
        </dict>
        </plist>
        """

    private static let events = """
        {"name":"Song Played","userId":"u1","payload":{"title":"Blue in Green","seconds":337}}
        {"name":"Song Played","userId":"u1","payload":{"title":"So What","seconds":0}}
        {"name":"Song Played","userId":"u2","payload":{"seconds":218,"title":"Four"}}
        """
}
