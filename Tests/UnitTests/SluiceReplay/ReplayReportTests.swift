import EventPipeline
import Foundation
import SluiceReplay
import Testing

@Suite("The report of a replay")
struct ReplayReportTests {
    private static let tracker: TrackerStatistics = {
        var tracker = TrackerStatistics(name: "alpha")
        tracker.enqueued = 100
        tracker.delivered = 60
        tracker.alreadyStored = 7
        tracker.refused = 30
        tracker.parked = 4
        tracker.dropped = 1
        return tracker
    }()

    @Test("the summary has the counts of each tracker, and what is neither delivered nor quarantined")
    func summary() throws {
        var report = ReplayReport()
        (report.read, report.accepted, report.rejected, report.skipped) = (120, 100, 15, 5)
        report.rejectedByCode = ["wrong-type": 15]
        report.trackers = [Self.tracker, TrackerStatistics(name: "beta")]
        report.notes = ["a note"]
        report.failures = ["a failure"]
        report.duration = .microseconds(1_234_567)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(
            String(decoding: try encoder.encode(report.summary), as: UTF8.self)
                == #"{"accepted":100,"alreadyThere":{"alpha":7,"beta":0},"delivered":{"alpha":60,"beta":0},"#
                + #""failures":["a failure"],"forgotten":{"alpha":0,"beta":0},"notes":["a note"],"parked":{"alpha":4,"beta":0},"read":120,"#
                + #""refused":{"alpha":30,"beta":0},"rejected":15,"rejectedByCode":{"wrong-type":15},"rejectedForgotten":0,"#
                + #""seconds":1.235,"skipped":5,"undelivered":{"alpha":6,"beta":0}}"#
        )
    }

    @Test("the exit status is 1 after failures and for events that were not delivered, and 2 after rejections only")
    func exitCode() {
        #expect(ReplayReport().exitCode == 0)
        var report = ReplayReport()
        report.rejected = 1
        report.notes = ["a note"]
        #expect(report.exitCode == 2)
        report.trackers = [Self.tracker]
        #expect(report.exitCode == 1)
        report = ReplayReport()
        report.failures = ["a failure"]
        #expect(report.exitCode == 1)
    }
}
