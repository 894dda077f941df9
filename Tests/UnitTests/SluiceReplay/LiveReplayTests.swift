import EventJournal
import EventModel
import EventPipeline
import EventValidation
import Operations
import PipelineTestSupport
import SluiceReplay
import SluiceTesting
import TestPromises
import Testing

@Suite("Sending quarantined events again through a running pipeline", .timeLimit(.minutes(5)))
struct LiveReplayTests {
    /// Runs a pipeline with a journal, and what replays the quarantine through it.
    private func run(
        _ folder: ReplayFolder,
        _ catalog: EventCatalog = ReplayFolder.catalog(),
        into tracker: ScriptedTracker = ScriptedTracker(name: "alpha"),
        tombstones: Tombstones = Tombstones(),
        _ body: (LiveReplay) async throws -> Void
    ) async throws {
        let harness = try PipelineHarness(
            [tracker],
            journal: SimulatedFileSystem(seed: 1),
            queue: .init(capacityInEvents: 1_000),
            catalog: catalog
        )
        try await harness.run { pipeline, _ in
            pipeline.tombstones.replace(with: tombstones)
            try await body(LiveReplay(pipeline: pipeline, folder: folder.quarantine))
            await pipeline.flush()
        }
    }

    @Test("sends what is valid now, once, whoever asks; a replay by a command does not send it again either")
    func once() async throws {
        let folder = try ReplayFolder()
        try await folder.reject((0...4).map { ReplayFolder.sold($0) })
        let tracker = ScriptedTracker(name: "alpha")
        try await run(folder, into: tracker) { replay in
            let other = try await replay.replay(.init(event: "Other"))
            #expect(other == QuarantineReplayReport(sent: 0, stillInvalid: 0, isComplete: true))
            let first = try await replay.replay(.init(event: "Sold", code: "out-of-range"))
            #expect(first == QuarantineReplayReport(sent: 4, stillInvalid: 1, isComplete: true))
            let again = try await replay.replay(.init())
            #expect(again == QuarantineReplayReport(sent: 0, stillInvalid: 1, isComplete: true))
        }
        #expect(tracker.delivered.count == 4)
        let command = ScriptedTracker(name: "alpha")
        #expect(try await folder.replay(into: [command]).run().accepted == 0)
    }

    @Test("sends an event that a tracker refused only while the plan sends it to that tracker")
    func refused() async throws {
        let folder = try ReplayFolder()
        try await folder.refuse([ReplayFolder.sold(1)], by: "alpha")
        for (tracker, sent) in [("beta", 0), ("alpha", 1)] {
            try await run(folder, ReplayFolder.catalog(soldTo: [tracker])) { replay in
                let report = try await replay.replay(.init())
                #expect(report == QuarantineReplayReport(sent: sent, stillInvalid: 0, isComplete: true))
            }
        }
    }

    @Test(
        "sends no event of an erased person, so that the journal does not get it with a new date",
        .promise("erased-person")
    )
    func forgotten() async throws {
        let folder = try ReplayFolder()
        try await folder.reject(["ada", "bob"].map { ReplayFolder.sold(1, #""userId":"\#($0)","#) })
        let key = try #require(HashKey(Array("0123456789abcdef".utf8)))
        let request = Timestamp(microseconds: ReplayFolder.arrival.microseconds + 1)
        let tombstones = Tombstones([Tombstone(of: "ada", .user, requestedAt: request, key: key)], key: key)
        let tracker = ScriptedTracker(name: "alpha")
        try await run(folder, into: tracker, tombstones: tombstones) { replay in
            let report = try await replay.replay(.init())
            #expect(report == QuarantineReplayReport(sent: 1, forgotten: 1, isComplete: true))
            #expect(try await replay.replay(.init()).sent == 0)
        }
        #expect(tracker.delivered.count == 1)
    }

    @Test("a code that does not exist, or that a pipeline cannot check, is an invalid selection")
    func invalidSelection() async throws {
        let folder = try ReplayFolder()
        try await folder.reject([ReplayFolder.sold(0)])
        try await run(folder) { replay in
            for (code, sentence) in [
                ("nonsense", "There is no code 'nonsense'; there are: malformed-json,"),
                ("forbidden-event", "only 'sluice replay quarantine' sends it again"),
            ] {
                let error = await #expect(throws: QuarantineReplayFailure.self) {
                    try await replay.replay(.init(code: code))
                }
                #expect(error?.kind == .invalidSelection)
                #expect(error?.sentence.contains(sentence) == true)
            }
        }
    }

    @Test("is busy while another replay sends the same records")
    func busy() async throws {
        let folder = try ReplayFolder()
        try await folder.reject([ReplayFolder.sold(1)])
        let records = try SentRecords(ofQuarantine: folder.quarantine, changes: true)
        try await run(folder) { replay in
            let error = await #expect(throws: QuarantineReplayFailure.self) { try await replay.replay(.init()) }
            #expect(error?.kind == .busy)
            #expect(error?.sentence == "Another process replays the quarantine now.")
        }
        #expect(records.keys.isEmpty)
    }
}
