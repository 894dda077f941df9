import EventSchema
import Foundation
import PlanReading
import PlanTools
import Testing

/// The project's own plans, and the real events that come with them.
enum OwnPlan {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func read() throws -> TrackingPlan {
        try #require(PlanReader().read(paths: [root.appending(path: "events").path]).plan)
    }

    /// A shop's purchases and returns of one day, one event per element.
    static func realEvents() throws -> [[UInt8]] {
        let file = root.appending(path: "Examples/data/retail-2010-12-01.ndjson.gz")
        let unpack = "import gzip, sys; sys.stdout.buffer.write(gzip.open(sys.argv[1]).read())"
        return try PythonProcess.run(unpack, [file.path]).map { Array($0.utf8) }
    }

    /// The example events of the exported page, in the order of its sections.
    static func exampleEvents(of plan: TrackingPlan) -> [[UInt8]] {
        MarkdownExport(plan).text.components(separatedBy: "```json\n").dropFirst().map { block in
            Array((block.components(separatedBy: "\n```").first ?? "").utf8)
        }
    }
}
