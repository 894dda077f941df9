import Foundation

/// One run of `sluice replay`, measured from outside, including its start and exit.
struct Replay {
    let seconds: Double
    let accepted: Int
    let delivered: Int

    var eventsASecond: Double { Double(delivered) / seconds }

    /// The fields of the command's JSON report that matter here.
    private struct Report: Decodable {
        let accepted: Int
        let rejected: Int
        let delivered: [String: Int]
    }

    /// Replays files to one tracker.
    static func run(_ files: [String], to tracker: String, options: [String], at site: Site) throws -> Replay {
        var said = ""
        let elapsed = try ContinuousClock().measure {
            said = try Child.run(
                site.sluice,
                ["replay"] + files + ["--events", site.plan, "--to", tracker, "--json", "--log-level", "error"]
                    + options
            )
        }
        let report = try JSONDecoder().decode(Report.self, from: Data(said.utf8))
        guard report.rejected == 0, let delivered = report.delivered[tracker], delivered == report.accepted else {
            throw BenchmarkError("not everything was delivered: \(said)")
        }
        return Replay(seconds: elapsed / .seconds(1), accepted: report.accepted, delivered: delivered)
    }
}
