import EventJournal
import EventPipeline
import PipelineTestSupport
import SluiceTesting
import Synchronization
import TestCases
import TestPromises
import Testing

/// What a pipeline does while its journal's disk does not answer.
@Suite("A disk that hangs", .timeLimit(.minutes(5)))
struct HangingDiskTests {
    private static let queue = Pipeline.Queue(capacityInEvents: 100, fullPolicy: .spill)

    /// What became of submissions, by their numbers.
    private final class Answers: Sendable {
        private let answers = Watched<[Int: Result<Pipeline.Acknowledgement, TrackError>]>([:])

        func submit(_ number: Int, to pipeline: Pipeline) throws -> Pipeline.Ticket {
            try #require(offer(number, to: pipeline))
        }

        /// Submits; there is no ticket where the answer is there already.
        func offer(_ number: Int, to pipeline: Pipeline) -> Pipeline.Ticket? {
            pipeline.submit(PipelineHarness.batch("A", number..<number + 1)) { [answers] result in
                answers.update { $0[number] = result }
            }
        }

        func error(of number: Int) -> TrackError? {
            if case .failure(let error) = answers.value[number] { error } else { nil }
        }

        func isDecided(_ number: Int) -> Bool { answers.value[number] != nil }

        func waitForSuccess(_ number: Int) async {
            await answers.wait { answers in
                if case .success = answers[number] { true } else { false }
            }
        }
    }

    @Test(
        "a batch can be withdrawn until its commit begins, and not while it is being written",
        .promise("withdrawn-events")
    )
    func withdraws() async throws {
        let (files, answers) = (SimulatedFileSystem(seed: 1), Answers())
        let tracker = ScriptedTracker(name: "alpha")
        try await PipelineHarness([tracker], journal: files, queue: Self.queue).run { pipeline, _ in
            files.syncs.close()
            let written = try answers.submit(0, to: pipeline)
            await files.syncs.waitForSomebody()
            let (gathered, other) = (try answers.submit(1, to: pipeline), try answers.submit(2, to: pipeline))
            #expect(pipeline.withdraw(gathered) == .uncommitted)
            #expect(answers.error(of: 1) == .cancelled)
            #expect(pipeline.withdraw(written) == .committing)
            #expect(!answers.isDecided(0))
            files.syncs.open()
            await answers.waitForSuccess(0)
            await answers.waitForSuccess(2)
            #expect(pipeline.withdraw(written) == .decided)
            #expect(pipeline.withdraw(other) == .decided)
            await tracker.waitForDelivered(2)
        }
        #expect(tracker.deliveredNumbers == [0, 2])
        #expect(try JournalContents(Journal(files.crashedCopy(), configuration: .small(), now: 0)).lines.count == 2)
    }

    @Test(
        "once a commit is overdue, new batches are turned down, readiness says so, and both pass by themselves",
        .promise("hanging-disk")
    )
    func overdue() async throws {
        let (files, log, answers) = (SimulatedFileSystem(seed: 2), RecordingLog(), Answers())
        let tracker = ScriptedTracker(name: "alpha")
        let harness = try PipelineHarness(
            [tracker],
            journal: files,
            queue: Self.queue,
            log: log,
            commitOverdueAfter: .seconds(5)
        )
        try await harness.run { pipeline, clock in
            files.syncs.close()
            _ = try answers.submit(0, to: pipeline)
            await files.syncs.waitForSomebody()
            await clock.waitForSleeper(for: .seconds(5))
            clock.advance(by: .milliseconds(4999))
            #expect(pipeline.unreadyReasons == [])
            _ = try answers.submit(1, to: pipeline)
            clock.advance(by: .milliseconds(1))
            #expect(pipeline.unreadyReasons == [.commitOverdue])
            #expect(answers.offer(2, to: pipeline) == nil)
            let error = try #require(answers.error(of: 2))
            #expect(error.journalError?.code == .overdue)
            #expect(error.isRetryable)
            await clock.waitForSleeper(for: .seconds(5))
            #expect(log.errors.count == 1)
            #expect(log.errors.first?.hasPrefix("The journal's disk does not answer;") == true)
            clock.advance(by: .seconds(50))
            await clock.waitForSleeper(for: .seconds(5))
            #expect(log.errors.count == 1)
            files.syncs.open()
            await answers.waitForSuccess(0)
            await answers.waitForSuccess(1)
            #expect(pipeline.unreadyReasons == [])
            try await pipeline.submit(PipelineHarness.batch("A", 3..<4))
            await tracker.waitForDelivered(3)
        }
        #expect(tracker.deliveredNumbers == [0, 1, 3])
    }

    @Test(
        "a disk that hangs while bytes are preallocated is noticed like one that hangs in a commit",
        .promise("hanging-disk")
    )
    func hangsInPreallocation() async throws {
        let (files, answers) = (SimulatedFileSystem(seed: 3), Answers())
        let tracker = ScriptedTracker(name: "alpha")
        let harness = try PipelineHarness(
            [tracker],
            journal: files,
            queue: Self.queue,
            commitOverdueAfter: .seconds(5)
        )
        try await harness.run { pipeline, clock in
            files.syncs.close()
            _ = try answers.submit(0, to: pipeline)
            await files.syncs.waitForSomebody()
            files.writes.close()
            files.syncs.open()
            // It has its answer, and the committer writes zeros.
            await answers.waitForSuccess(0)
            await files.writes.waitForSomebody()
            await clock.waitForSleeper(for: .seconds(5))
            clock.advance(by: .seconds(5))
            #expect(pipeline.unreadyReasons == [.commitOverdue])
            files.writes.open()
            await tracker.waitForDelivered(1)
        }
        #expect(tracker.deliveredNumbers == [0])
    }

    @Test("ending the linger time also ends it for events that are on their way to the journal")
    func lingering() async throws {
        let (files, answers) = (SimulatedFileSystem(seed: 4), Answers())
        let tracker = ScriptedTracker(name: "alpha")
        let harness = try PipelineHarness([tracker], journal: files, queue: Self.queue, linger: .seconds(3600))
        try await harness.run { pipeline, _ in
            files.syncs.close()
            _ = try answers.submit(0, to: pipeline)
            await files.syncs.waitForSomebody()
            pipeline.endLingering()
            files.syncs.open()
            await answers.waitForSuccess(0)
            await tracker.waitForDelivered(1)
        }
        #expect(tracker.deliveredNumbers == [0])
    }

    @Test(
        "a submission that is cancelled while it is being written throws at once that its outcome is unknown",
        .promise("withdrawn-events")
    )
    func cancelled() async throws {
        let files = SimulatedFileSystem(seed: 3)
        let tracker = ScriptedTracker(name: "alpha")
        try await PipelineHarness([tracker], journal: files, queue: Self.queue).run { pipeline, _ in
            files.syncs.close()
            let written = Task { try await pipeline.submit(PipelineHarness.batch("A", 0..<1)) }
            await files.syncs.waitForSomebody()
            let gathered = Task { try await pipeline.submit(PipelineHarness.batch("A", 1..<2)) }
            gathered.cancel()
            await #expect(throws: TrackError.cancelled) { try await gathered.value }
            written.cancel()
            await #expect(throws: TrackError.outcomeUnknown) { try await written.value }
            files.syncs.open()
            await tracker.waitForDelivered(1)
        }
        #expect(tracker.deliveredNumbers == [0])
    }

    @Test(
        "a pipeline still ends by its deadline, and its error lists the events whose outcome is unknown",
        .promise("hanging-disk-at-shutdown")
    )
    func ends() async throws {
        let (files, answers) = (SimulatedFileSystem(seed: 4), Answers())
        let harness = try PipelineHarness(
            [ScriptedTracker(name: "alpha")],
            journal: files,
            queue: Self.queue,
            commitOverdueAfter: .seconds(5)
        )
        let (pipeline, clock) = (harness.pipeline, harness.clock)
        let running = Task { try await pipeline.run() }
        await clock.waitForSleeper(for: .seconds(5))
        files.syncs.close()
        _ = try answers.submit(0, to: pipeline)
        await files.syncs.waitForSomebody()
        _ = try answers.submit(1, to: pipeline)
        pipeline.shutdown()
        await clock.waitForSleeper(for: .seconds(30))
        clock.advance(by: .seconds(30))
        let error = await #expect(throws: PipelineError.self) { try await running.value }
        #expect(error?.code == .journalHangs)
        #expect(error?.message.contains("has not answered for 30 s") == true)
        let unknown = "Whether the 1 event of the commit under way is in it is unknown; every acknowledged event is."
        #expect(error?.message.hasSuffix(unknown) == true)
        #expect(answers.error(of: 0) == .outcomeUnknown)
        #expect(answers.error(of: 1) == .closed)
        files.syncs.open()
    }

    @Test(
        "what a sudden end leaves unknown depends on the journal and its durability",
        .promise("hanging-disk-at-shutdown"),
        arguments: [
            (JournalConfiguration.Durability.fsync, "Every acknowledged event is in", "; every acknowledged event is."),
            (
                .interval(.seconds(1)), "the latest may not be synced",
                "; acknowledged events that were not synced may be lost."
            ),
            (.none, "the latest may not be synced", "; acknowledged events that were not synced may be lost."),
        ]
    )
    func suddenEnd(durability: JournalConfiguration.Durability, quiet: String, hanging: String) async throws {
        let (files, answers) = (SimulatedFileSystem(seed: 6), Answers())
        var configuration = JournalConfiguration.small()
        configuration.durability = durability
        let tracker = ScriptedTracker(name: "alpha")
        let harness = try PipelineHarness([tracker], journal: files, configuration, queue: Self.queue)
        try await harness.run { pipeline, _ in
            #expect(pipeline.suddenEnd.contains(quiet))
            _ = try answers.submit(0, to: pipeline)
            await answers.waitForSuccess(0)
        }
        let hang = JournalHang(wait: .seconds(3), events: 2)
        #expect(hang.sentence(durability).hasSuffix(hanging))
        #expect(hang.sentence(durability).contains("for 3 s. Whether the 2 events of the commit under way are in it"))
        #expect(!JournalHang(wait: nil, events: 0).sentence(durability).contains("Whether"))
    }

    @Test(
        "without a journal, the error of a sudden end says which events are lost",
        .promise("hanging-disk-at-shutdown")
    )
    func suddenEndWithoutJournal() async throws {
        let tracker = ScriptedTracker(name: "alpha", [.stall])
        try await PipelineHarness([tracker]).run { pipeline, _ in
            #expect(pipeline.suddenEnd == "No accepted event was left to be delivered.")
            pipeline.accept("A", 0..<3)
            let sentence = "There is no journal, and accepted events that were not delivered are lost: alpha: 3."
            #expect(pipeline.suddenEnd == sentence)
            tracker.release()
        }
    }

    @Test("if the disk answers while the pipeline ends, the pipeline waits for it, and no outcome is unknown")
    func answersAtTheEnd() async throws {
        let (files, answers) = (SimulatedFileSystem(seed: 5), Answers())
        let harness = try PipelineHarness([ScriptedTracker(name: "alpha")], journal: files, queue: Self.queue)
        try await harness.run { pipeline, _ in
            files.syncs.close()
            _ = try answers.submit(0, to: pipeline)
            await files.syncs.waitForSomebody()
            pipeline.shutdown()
            files.syncs.open()
        }
        await answers.waitForSuccess(0)
    }
}
