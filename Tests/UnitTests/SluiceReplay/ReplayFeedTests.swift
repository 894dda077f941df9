import EventModel
import EventPipeline
import EventQuarantine
import EventValidation
import Foundation
import PipelineTestSupport
import SluiceReplay
import SluiceTesting
import Synchronization
import TestCases
import TestPromises
import Testing
import TrackerKit

@Suite("A replay", .timeLimit(.minutes(5)))
struct ReplayFeedTests {
    private static let december = #""time":"2010-12-01T08:26:00Z","#
    /// One valid event, and four rejected ones.
    private static let mixed = [
        ReplayFolder.sold(3), "{broken", ReplayFolder.sold(0), #"{"name":"Gone","payload":{}}"#,
        #"{"name":"Sold","payload":{"colour":"red"}}"#,
    ]

    @Test("delivers the valid events of all inputs in their order, and counts rejected ones by code")
    func inputs() async throws {
        let folder = try ReplayFolder()
        let first = try folder.write(Self.mixed.joined(separator: "\n"), to: "first")
        let second = try folder.write(ReplayFolder.sold(4) + "\n" + ReplayFolder.sold(5), to: "second")
        let tracker = RecordingTracker(name: "alpha")
        let report = try await folder.replay([.file(first), .file(second)], into: [tracker]).run()
        #expect(tracker.events.map(\.name) == ["Sold", "Sold", "Sold"])
        #expect(report.counts == [7, 3, 4, 0])
        #expect(
            report.rejectedByCode == [
                "malformed-json": 1, "out-of-range": 1, "unknown-event": 1, "missing-required": 1,
                "unplanned-property": 1,
            ]
        )
        #expect(report.trackers.map(\.delivered) == [3])
        #expect(report.notes == [] && report.failures == [])
        #expect(report.exitCode == 2)
    }

    @Test("quarantines rejected events with the input that they are from, and those of a quarantine not again")
    func rejections() async throws {
        let folder = try ReplayFolder()
        let file = try folder.write(Self.mixed.joined(separator: "\n"), to: "file")
        let quarantine = try Quarantine(folder: folder.quarantine, logger: ReplayFolder.silent)
        let inputs: [ReplayInput] = [.file(file)]
        _ = try await folder.replay(inputs, into: [ScriptedTracker(name: "alpha")], rejectedEvents: quarantine).run()
        var records: [QuarantineRecord] = []
        _ = try await FolderQuarantine(path: folder.quarantine).forEach(QuarantineFilter()) { records.append($0) }
        #expect(records.map(\.verdict.source) == Array(repeating: file, count: 4))
        #expect(records.map(\.verdict.stage) == Array(repeating: "check", count: 4))
        #expect(
            records.map { $0.codes.sorted() } == [
                ["malformed-json"], ["out-of-range"], ["unknown-event"], ["missing-required", "unplanned-property"],
            ]
        )
        #expect(records.map(\.original) == Self.mixed.dropFirst().map { Array($0.utf8) })
        let lines = try QuarantineContents.lines(in: folder.quarantine)
        // Neither from the quarantine itself nor from its export.
        let export = try folder.write(lines.joined(separator: "\n"), to: "export")
        for input in [ReplayInput.quarantine, .file(export)] {
            let report = try await folder.replay([input], into: [], rejectedEvents: quarantine).run()
            #expect(report.rejected == 4)
            #expect(try QuarantineContents.lines(in: folder.quarantine) == lines)
        }
    }

    @Test(
        "does not quarantine rejected events of erased people, which would get a new date, and counts them",
        .promise("erased-person")
    )
    func forgotten() async throws {
        let folder = try ReplayFolder()
        let lines = ["ada", "bob"].map { user in
            let id = EventID(high: 0x0190_0000_0000_7000, low: 0x8000_0000_0000_0001)
            let times = #""time":"2026-11-01T00:00:00Z","receivedAt":"2026-11-05T11:00:00Z""#
            return #"{"id":"\#(id)","name":"Gone",\#(times),"userId":"\#(user)","payload":{}}"#
        }
        let file = try folder.write(lines.joined(separator: "\n"), to: "file")
        let quarantine = try Quarantine(folder: folder.quarantine, logger: ReplayFolder.silent)
        let replay = try folder.replay([.file(file)], into: [], rejectedEvents: quarantine)
        let key = try #require(HashKey(Array("0123456789abcdef".utf8)))
        let request = try #require(Timestamp("2026-11-05T12:00:00Z"))
        replay.pipeline.tombstones.replace(
            with: Tombstones([Tombstone(of: "ada", .user, requestedAt: request, key: key)], key: key)
        )
        let report = try await replay.run()
        #expect(report.rejected == 2)
        #expect(report.rejectedForgotten == 1)
        let kept = try QuarantineContents.lines(in: folder.quarantine)
        #expect(kept.count == 1 && kept[0].contains("bob"), "\(kept)")
    }

    @Test("fails if the quarantine could not store rejected events")
    func lost() async throws {
        let folder = try ReplayFolder()
        let file = try folder.write("{}\n{}\n", to: "file")
        let full = try Quarantine(folder: folder.quarantine, capacityInBytes: 9, logger: ReplayFolder.silent)
        let report = try await folder.replay([.file(file)], into: [], rejectedEvents: full).run()
        #expect(report.rejected == 2)
        #expect(report.failures == ["2 rejected events could not be kept in the quarantine"])
        #expect(report.exitCode == 1)
    }

    @Test("sends only what its filter selects, and counts the rest")
    func filter() async throws {
        let folder = try ReplayFolder()
        let lines = [ReplayFolder.sold(1, Self.december), #"{"name":"Lost","payload":{}}"#, "{broken"]
        let file = ReplayInput.file(try folder.write(lines.joined(separator: "\n"), to: "file"))
        let tracker = RecordingTracker(name: "alpha")
        var replay = try folder.replay([file], into: [tracker])
        replay.filter = ReplayFilter(events: ["Lost"])
        let byName = try await replay.run()
        #expect(tracker.events.map(\.name) == ["Lost"])
        #expect(byName.counts == [3, 1, 1, 1])
        replay = try folder.replay([file], into: [tracker])
        replay.filter = ReplayFilter(until: Timestamp("2011-01-01T00:00:00Z"))
        #expect(try await replay.run().accepted == 1)
        #expect(tracker.events.map(\.name) == ["Lost", "Sold"])
    }

    @Test("a record stays in the quarantine if the replay does not deliver to all configured trackers that it needs")
    func someTrackers() async throws {
        let folder = try ReplayFolder()
        try await folder.reject([ReplayFolder.sold(1)])
        let catalog = ReplayFolder.catalog(soldTo: ["alpha", "beta"])
        let (alpha, beta) = (ScriptedTracker(name: "Alpha"), ScriptedTracker(name: "beta"))
        let all = try folder.replay(into: [alpha, beta], catalog: catalog)
        let some = Replay(
            of: [.quarantine],
            through: try PipelineHarness([alpha], catalog: catalog).pipeline,
            rejectedEvents: all.rejectedEvents,
            quarantine: all.quarantine,
            trackers: ["Alpha"],
            configuredTrackers: ["Alpha", "beta"]
        )
        #expect(try await some.run().skipped == 1)
        #expect(alpha.delivered.isEmpty)
        #expect(try await all.run().accepted == 1)
        #expect(alpha.delivered.count == 1 && beta.delivered == alpha.delivered)
    }

    @Test("a dry run counts, and delivers nothing")
    func dryRun() async throws {
        let folder = try ReplayFolder()
        try await folder.reject([ReplayFolder.sold(1)])
        for _ in 1...2 {
            // A pipeline without trackers stands in for one that would deliver to `alpha`.
            var replay = try folder.replay(into: [], named: ["alpha"])
            replay.isDryRun = true
            let report = try await replay.run()
            #expect(report.counts == [1, 1, 0, 0])
            #expect(report.exitCode == 0)
        }
    }

    @Test("reports what cannot be read and files without events, each with its input, and continues with the next")
    func unreadable() async throws {
        let folder = try ReplayFolder()
        let inputs = [
            folder.path("missing"), folder.path("."),
            try folder.write(Array(StoredGzip.file(Array(ReplayFolder.sold(1).utf8)).dropLast(9)), to: "cut.gz"),
            try folder.write(" \n\n", to: "blank"),
            try folder.write([0xFF, 0xFE] + Array("{}\n".utf8), to: "wide"),
            try folder.write(ReplayFolder.sold(2), to: "good"),
        ]
        let tracker = ScriptedTracker(name: "alpha")
        let report = try await folder.replay(inputs.map { .file($0) }, into: [tracker]).run()
        #expect(
            report.failures == [
                "\(inputs[0]): No such file or directory", "\(inputs[1]): Is a directory",
                "\(inputs[2]): The gzip data ends too early. [truncated]",
                "\(inputs[4]): text in UTF-8 is expected, and the byte order mark of UTF-16 was found [malformed-json]",
            ]
        )
        let nothing = "only white space, or carriage returns without line feeds"
        #expect(report.notes == ["\(inputs[3]): no events in 3 bytes: \(nothing)"])
        #expect(tracker.delivered.count == 1)
        #expect(report.exitCode == 1)
    }

    // MARK: The end

    @Test("shows its progress after each part, and clears it at the end")
    func progress() async throws {
        final class Log: Sendable {
            let calls = Mutex<[String]>([])
        }
        struct Progress: ReplayProgress {
            let log: Log
            func show(events: Int, bytes: Int) { log.calls.withLock { $0.append("\(events) \(bytes)") } }
            func clear() { log.calls.withLock { $0.append("cleared") } }
        }
        let folder = try ReplayFolder()
        let line = ReplayFolder.sold(1) + "\n"
        let file = ReplayInput.file(try folder.write(line, to: "file"))
        let log = Log()
        _ = try await folder.replay([file, file], into: []).run(progress: Progress(log: log))
        let bytes = line.utf8.count
        #expect(log.calls.withLock { $0 } == ["1 \(bytes)", "2 \(2 * bytes)", "cleared"])
    }

    @Test("that is cancelled while it waits for input delivers what it has read, and says that it stopped")
    func cancellation() async throws {
        let folder = try ReplayFolder()
        let fifo = folder.path("fifo")
        try #require(mkfifo(fifo, 0o600) == 0)
        // Opened for both, so that neither end waits for the other, and the input does not end.
        let writer = try #require(FileHandle(forUpdatingAtPath: fifo))
        try writer.write(contentsOf: Data((ReplayFolder.sold(1) + "\n").utf8))
        let tracker = ScriptedTracker(name: "alpha")
        let replay = try folder.replay([.file(fifo)], into: [tracker])
        let feed = try ReplayFeed(replay)
        try await withThrowingTaskGroup { group in
            group.addTask { try await replay.pipeline.run() }
            await withTaskGroup { reading in
                reading.addTask { await feed.run() }
                while await feed.report.accepted == 0, !Task.isCancelled { await Task.yield() }
                reading.cancelAll()
            }
            await feed.storeSent()
            replay.pipeline.shutdown()
            try await group.waitForAll()
        }
        #expect(tracker.delivered.count == 1)
        #expect(await feed.report.failures == ["stopped before everything was read and delivered"])
        try writer.close()
    }

    @Test("throws if its tracker cannot start")
    func start() async throws {
        let folder = try ReplayFolder()
        let file = ReplayInput.file(try folder.write(ReplayFolder.sold(1), to: "file"))
        let tracker = ScriptedTracker(name: "alpha", startErrors: [ScriptedTracker.misconfiguration])
        let replay = try folder.replay([file], into: [tracker], configuration: .init(maximumStartAttempts: 1))
        let error = await #expect(throws: PipelineError.self) { try await replay.run() }
        #expect(error?.code == .trackerNotStarted)
        #expect(tracker.delivered.isEmpty)
    }

    @Test("ends if its tracker does not deliver, and the records that it sent stay for the next replay")
    func delivery() async throws {
        let folder = try ReplayFolder()
        try await folder.reject([ReplayFolder.sold(1)])
        let broken = ScriptedTracker(name: "alpha", [.fail])
        let report = try await folder.replay(
            into: [broken],
            configuration: .init(maximumDeliveryAttempts: 1)
        ).run()
        #expect(report.failures.contains { $0.contains("alpha") }, "\(report.failures)")
        #expect(report.exitCode == 1)
        #expect(broken.delivered.isEmpty)
        let repaired = ScriptedTracker(name: "alpha")
        #expect(try await folder.replay(into: [repaired]).run().exitCode == 0)
        #expect(repaired.delivered.count == 1)
    }
}
