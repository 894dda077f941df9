import Foundation
import JustTrack
import PipelineTestSupport
import SluiceTesting
import Testing

@Suite("JustTrack: spools of earlier processes", .timeLimit(.minutes(5))) struct SpoolTests {
    private let sample = TrackingSample()

    /// The state after processes that did not call `enable()`, each with one event that the tracker accepts or refuses.
    private func leave(_ names: [String], taken: @escaping @Sendable (String) -> Bool) async throws -> TrackingSample {
        var processes: [EventTracking] = []
        for name in names {
            let process = sample.tracking(trackers: NotingTracker("a", answer: taken))
            process.trackEvent(SampleEvent(name, trackers: "a"))
            await process.flush()
            processes.append(process)
        }
        return try withExtendedLifetime(processes) { try sample.copy() }
    }

    private func spools(in sample: TrackingSample) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: sample.folder.path + "/a").sorted()
    }

    /// The errors about lost events.
    private func losses(in sample: TrackingSample) -> [String] { sample.errors.filter { $0.contains("lost") } }

    @Test("of the events that are never restored, the newest are kept; the others are lost, with an error")
    func bound() async throws {
        let left = try await leave((0..<35).map { "\($0)" }) { _ in false }
        let tracker = NotingTracker("a")
        let tracking = left.tracking(trackers: tracker)
        tracking.trackEvent(SampleEvent("new", trackers: "a"))
        #expect(try spools(in: left).count == 32)
        #expect(losses(in: left) == ["error: Events for 'a' that were never restored are lost; spools removed: 4"])
        tracking.enable()
        await tracking.flush()
        #expect(tracker.names.value == ["new"] + (4..<35).map { "\($0)" })
    }

    @Test("enable restores all stored events, however many spools there are, and loses none")
    func restoring() async throws {
        let names = (0..<35).map { "\($0)" }
        let left = try await leave(names) { _ in false }
        let tracker = NotingTracker("a")
        let tracking = left.tracking(trackers: tracker)
        tracking.enable()
        await tracking.flush()
        #expect(tracker.names.value == names)
        #expect(left.log == ["info: Tracking is enabled.", "info: 35 events restored"])
        #expect(try spools(in: left).count == 1)
    }

    @Test("spools whose events are all delivered are removed silently, and before any others")
    func passedOn() async throws {
        let left = try await leave((0..<40).map { "\($0)" }) { $0 != "0" }
        let tracker = NotingTracker("a")
        let tracking = left.tracking(trackers: tracker)
        tracking.trackEvent(SampleEvent("new", trackers: "a"))
        #expect(try spools(in: left).count == 2)
        #expect(losses(in: left) == [])
        tracking.enable()
        await tracking.flush()
        #expect(tracker.names.value == ["new", "0"])
    }

    @Test("a spool whose removal was interrupted is removed by the next process")
    func remains() async throws {
        let left = try await leave(["1"]) { _ in true }
        let spool = left.folder.path + "/a/" + (try #require(try spools(in: left).first))
        try FileManager.default.moveItem(atPath: spool, toPath: spool + ".removed")
        left.tracking(trackers: NotingTracker("a")).trackEvent(SampleEvent("2", trackers: "a"))
        #expect(!FileManager.default.fileExists(atPath: spool + ".removed"))
    }

    @Test("a spool whose creation was interrupted is removed, and so is the rest of one whose removal was interrupted")
    func halfMade() async throws {
        let folder = sample.folder.path + "/a/"
        let made = folder + "0190f3a4-0000-7000-8000-000000000001"
        let removed = folder + "0190f3a4-0000-7000-8000-000000000002.removed"
        for path in [made, removed] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        try Data().write(to: URL(fileURLWithPath: made + "/justtrack.answered"))
        let tracking = sample.tracking(trackers: NotingTracker("a"))
        tracking.enable()
        tracking.trackEvent(SampleEvent("1", trackers: "a"))
        await tracking.flush()
        tracking.unloadTrackers()
        for path in [made, removed] { #expect(!FileManager.default.fileExists(atPath: path), "\(path)") }
    }

    @Test("other files and folders in the folder are not changed, whatever their names are")
    func foreign() async throws {
        let paths = [
            "sessions/0190f3a4-0000-4000-8000-000000000001/data", "backups/old.removed/data", "a/notes.removed/data",
            "a/0190f3a4-0000-7000-8000-000000000001/identity",
            "a/0190f3a4-0000-7000-8000-000000000002.removed/identity",
        ].map { sample.folder.path + "/" + $0 }
        for path in paths {
            let url = URL(fileURLWithPath: path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data("foreign".utf8).write(to: url)
        }
        let left = try await leave((0..<35).map { "\($0)" }) { _ in false }
        let tracking = left.tracking(trackers: NotingTracker("a"))
        tracking.trackEvent(SampleEvent("1", trackers: "a"))
        tracking.enable()
        tracking.unloadTrackers()
        for path in paths {
            let copy = left.folder.path + path.dropFirst(sample.folder.path.count)
            #expect(FileManager.default.fileExists(atPath: copy), "\(path)")
        }
        // No lock file was created there, either.
        let folders = Set(paths.map { ($0 as NSString).deletingLastPathComponent.dropFirst(sample.folder.path.count) })
        for folder in folders {
            #expect(try FileManager.default.contentsOfDirectory(atPath: left.folder.path + folder).count == 1)
        }
    }
}
