import EventPipeline
import Foundation

/// What a replay did.
struct ReplayReport {
    var read = 0
    var accepted = 0
    var rejected = 0
    /// Events that a filter left out.
    var skipped = 0
    /// How many events had each code among their violations.
    var rejectedByCode: [String: Int] = [:]
    var trackers: [TrackerStatistics] = []
    /// What could not be read, a sentence each.
    var failures: [String] = []
    var duration = Duration.zero

    /// The statement of the command: 1 for loss, 2 for rejections, 0 where all went well.
    var exitCode: Int32 {
        if !failures.isEmpty || trackers.contains(where: { $0.enqueued > $0.delivered }) { return 1 }
        return rejected > 0 ? 2 : 0
    }

    var seconds: Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    /// One JSON object on one line.
    var json: String {
        struct Report: Encodable {
            var read: Int
            var accepted: Int
            var rejected: Int
            var skipped: Int
            var rejectedByCode: [String: Int]
            var delivered: [String: Int]
            var refused: [String: Int]
            var undelivered: [String: Int]
            var failures: [String]
            var seconds: Double
        }
        let report = Report(
            read: read,
            accepted: accepted,
            rejected: rejected,
            skipped: skipped,
            rejectedByCode: rejectedByCode,
            delivered: Dictionary(uniqueKeysWithValues: trackers.map { ($0.name, $0.delivered) }),
            refused: Dictionary(uniqueKeysWithValues: trackers.map { ($0.name, $0.refused) }),
            undelivered: Dictionary(
                uniqueKeysWithValues: trackers.map { ($0.name, $0.enqueued - $0.delivered - $0.refused) }
            ),
            failures: failures,
            seconds: (seconds * 1000).rounded() / 1000
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Whole numbers, texts and one finite number always encode.
        return (try? encoder.encode(report)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// The same for people.
    var table: String {
        var rows: [(String, String)] = [("read", String(read)), ("accepted", String(accepted))]
        if skipped > 0 { rows.append(("left out by filters", String(skipped))) }
        rows.append(("rejected", String(rejected)))
        for (code, count) in rejectedByCode.sorted(by: { $0.key < $1.key }) {
            rows.append(("  " + code, String(count)))
        }
        for tracker in trackers {
            rows.append(("delivered to \(tracker.name)", String(tracker.delivered)))
            if tracker.refused > 0 { rows.append(("  refused", String(tracker.refused))) }
            let missing = tracker.enqueued - tracker.delivered - tracker.refused
            if missing > 0 { rows.append(("  NOT delivered", String(missing))) }
        }
        rows.append(("seconds", String(format: "%.2f", seconds)))
        let width = rows.map { $0.0.count }.max() ?? 0
        let digits = rows.map { $0.1.count }.max() ?? 0
        let lines = rows.map { name, value in
            name.padding(toLength: width + 2, withPad: " ", startingAt: 0)
                + String(repeating: " ", count: digits - value.count) + value
        }
        return (lines + failures.map { "error: \($0)" }).joined(separator: "\n")
    }
}
