import EventJournal
import EventPipeline
import Foundation
import SluiceReplay
import SluiceTesting
import Testing

@Suite("The records that replays have sent", .timeLimit(.minutes(5)))
struct SentRecordsTests {
    private func keys(_ folder: ReplayFolder) throws -> Set<String> {
        try SentRecords(ofQuarantine: folder.quarantine, changes: false).keys
    }

    @Test("are remembered by later processes, and none have been sent from a new quarantine")
    func remembered() throws {
        let folder = try ReplayFolder()
        #expect(try keys(folder).isEmpty)
        for added in [["a/1", "a/2"], ["b/0"]] {
            var records = try SentRecords(ofQuarantine: folder.quarantine, changes: true)
            try records.add(added)
            #expect(records.keys.isSuperset(of: added))
        }
        #expect(try keys(folder) == ["a/1", "a/2", "b/0"])
    }

    @Test("can be changed by one process at a time, and read by others meanwhile")
    func locked() throws {
        let folder = try ReplayFolder()
        var records = try SentRecords(ofQuarantine: folder.quarantine, changes: true)
        try records.add(["a/1"])
        let error = #expect(throws: JournalError.self) { try changeRecords(of: folder) }
        #expect(error?.code == .locked)
        #expect(try keys(folder) == ["a/1"])
        try records.add(["a/2"])
    }

    private func changeRecords(of folder: ReplayFolder) throws {
        _ = try SentRecords(ofQuarantine: folder.quarantine, changes: true)
    }

    @Test("that cannot be read are an error, because their events would be sent again")
    func damaged() throws {
        let folder = try ReplayFolder()
        for added in ["a/1", "a/2"] {
            var records = try SentRecords(ofQuarantine: folder.quarantine, changes: true)
            try records.add([added])
        }
        let files = folder.quarantine + "/sent/"
        let names = try FileManager.default.contentsOfDirectory(atPath: files).filter { $0.hasSuffix(".segment") }
        let url = URL(filePath: files + (try #require(names.min())))
        var bytes = try Data(contentsOf: url)
        bytes[FrameHeader.byteCount + 1] ^= 1
        try bytes.write(to: url)
        let error = #expect(throws: JournalError.self) { try keys(folder) }
        #expect(error?.code == .unreadable)
        #expect(error?.message.contains("The list of replayed records in '\(folder.quarantine)/sent'") == true)
    }

    // MARK: In a replay

    @Test("a replay sends each record once, whatever becomes of the others")
    func once() async throws {
        let folder = try ReplayFolder()
        try await folder.reject([ReplayFolder.sold(1), ReplayFolder.sold(0), ReplayFolder.sold(2)])
        for expected in [2, 0] {
            let tracker = ScriptedTracker(name: "alpha")
            let report = try await folder.replay(into: [tracker]).run()
            #expect(tracker.delivered.count == expected)
            #expect(report.accepted == expected)
            #expect(report.rejectedByCode == ["out-of-range": 1])
            #expect(report.failures == [])
        }
        // The plan allows it now.
        let tracker = ScriptedTracker(name: "alpha")
        let report = try await folder.replay(into: [tracker], catalog: ReplayFolder.catalog(minimumQuantity: 0)).run()
        #expect(tracker.delivered.count == 1)
        #expect(report.exitCode == 0)
        #expect(try QuarantineContents.lines(in: folder.quarantine).count == 3)
    }

    @Test("after a crash, only the records are sent again that were not stored as sent, with the same ids")
    func crash() async throws {
        let folder = try ReplayFolder()
        try await folder.reject((1...5).map { ReplayFolder.sold($0) })
        let tracker = ScriptedTracker(name: "alpha", [.succeed, .stall])
        let replay = try folder.replay(into: [tracker])
        var crashed: ReplayFolder?
        try await withThrowingTaskGroup { group in
            group.addTask { try await replay.pipeline.run() }
            let feed = try ReplayFeed(replay, maximumUnstoredRecords: 2)
            group.addTask { await feed.run() }
            // Two records are stored as sent, and the next two are being delivered.
            await tracker.waitForDeliveries(2)
            crashed = try folder.copyOfQuarantine()
            tracker.release()
            await tracker.waitForDelivered(5)
            replay.pipeline.shutdown()
            try await group.waitForAll()
        }
        let again = ScriptedTracker(name: "alpha")
        let report = try await #require(crashed).replay(into: [again]).run()
        #expect(report.accepted == 3)
        #expect(again.delivered == Array(tracker.delivered.dropFirst(2)))
    }

    @Test("a replay does not begin while another one sends the same records")
    func concurrentReplays() async throws {
        let folder = try ReplayFolder()
        try await folder.reject([ReplayFolder.sold(1)])
        let records = try SentRecords(ofQuarantine: folder.quarantine, changes: true)
        let tracker = ScriptedTracker(name: "alpha")
        let error = await #expect(throws: JournalError.self) { try await folder.replay(into: [tracker]).run() }
        #expect(error?.code == .locked)
        #expect(records.keys.isEmpty && tracker.calls.isEmpty)
        // A dry run sends nothing.
        var dryRun = try folder.replay(into: [])
        dryRun.isDryRun = true
        #expect(try await dryRun.run().read == 1)
    }
}
