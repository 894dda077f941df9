import EventJournal
import EventPipeline
import EventValidation
import PipelineTestSupport
import SluiceTesting
import TestCases
import TestPromises
import Testing

@Suite("A pipeline whose tracker stores its own checkpoint", .timeLimit(.minutes(5)))
struct PipelineCheckpointTests {
    private static let queue = Pipeline.Queue(capacityInEvents: 10, fullPolicy: .spill)

    private func submit(_ numbers: Range<Int>, _ name: String = "A", to pipeline: Pipeline) async throws {
        for number in numbers { try await pipeline.submit(PipelineHarness.batch(name, number..<number + 1)) }
    }

    /// Submits events, waits until so many are there in all, and ends.
    private func run(
        _ tracker: LedgerTracker,
        _ files: SimulatedFileSystem,
        submitting numbers: Range<Int>,
        until count: Int
    ) async throws {
        try await PipelineHarness([tracker], journal: files, queue: Self.queue).runWithTime { pipeline in
            try await submit(numbers, to: pipeline)
            await tracker.ledger.waitForNumbers(count)
            await pipeline.flush()
        }
    }

    private func cursor(in files: SimulatedFileSystem) throws -> CursorFile {
        try CursorFile(files, existing: CursorFile.name(ofTracker: "alpha"))
    }

    @Test("stores its checkpoint with the events, under the journal's identity")
    func stores() async throws {
        let (files, ledger) = (SimulatedFileSystem(seed: 1), Ledger())
        try await run(LedgerTracker(ledger), files, submitting: 0..<50, until: 50)
        try await run(LedgerTracker(ledger), files, submitting: 50..<60, until: 60)
        #expect(ledger.numbers == Array(0..<60))
        #expect(ledger.checkpoint == 60)
        #expect(ledger.state.value.journals == [try Journal(files, configuration: .small(), now: 0).id])
        #expect(try cursor(in: files).sequence == 60)
        #expect(try cursor(in: files).checkpoint == 60)
    }

    @Test("a cursor that is lost or set back causes no repeats", arguments: [nil, 0, 13])
    func cursorBehind(sequence: UInt64?) async throws {
        let (files, ledger) = (SimulatedFileSystem(seed: 2), Ledger())
        try await run(LedgerTracker(ledger), files, submitting: 0..<50, until: 50)
        _ = try CursorFile.forget(tracker: "alpha", in: files)
        if let sequence {
            var cursor = try CursorFile(files, tracker: "alpha")
            try cursor.move(to: sequence, checkpoint: sequence, syncs: true)
        }
        try await run(LedgerTracker(ledger), files, submitting: 50..<60, until: 60)
        #expect(ledger.numbers == Array(0..<60))
        #expect(try cursor(in: files).sequence == 60)
    }

    @Test("a destination restored from a backup gets the events that it lost", arguments: [nil, 1, 20])
    func destinationBehind(checkpoint: UInt64?) async throws {
        let (files, ledger) = (SimulatedFileSystem(seed: 3), Ledger())
        try await run(LedgerTracker(ledger), files, submitting: 0..<50, until: 50)
        let kept = Int(checkpoint ?? 0)
        let restored = Ledger(.init(numbers: Array(0..<kept), checkpoint: checkpoint))
        try await run(LedgerTracker(restored), files, submitting: 50..<60, until: 60)
        #expect(restored.numbers == Array(0..<60))
        #expect(restored.checkpoint == 60)
    }

    @Test(
        "a journal that is older than its destination is reported with both numbers, and no new event is skipped",
        .promise("restored-journal")
    )
    func olderCopy() async throws {
        let (files, ledger) = (SimulatedFileSystem(seed: 10), Ledger())
        try await run(LedgerTracker(ledger), files, submitting: 0..<20, until: 20)
        let copy = files.crashedCopy()
        try await run(LedgerTracker(ledger), files, submitting: 20..<50, until: 50)
        let log = RecordingLog()
        let harness = try PipelineHarness([LedgerTracker(ledger)], journal: copy, queue: Self.queue, log: log)
        try await harness.runWithTime { pipeline in
            try await submit(100..<110, to: pipeline)
            await ledger.waitForNumbers(60)
            await pipeline.flush()
        }
        let lines = log.errors
        #expect(lines.count == 1)
        #expect(lines.first?.hasSuffix(" end=20 sequence=20 stored=50 tracker=alpha") == true)
        try await run(LedgerTracker(ledger), copy, submitting: 110..<160, until: 110)
        #expect(ledger.numbers == Array(0..<50) + Array(100..<160))
    }

    @Test("for a destination without a checkpoint of this journal, the cursor counts")
    func newDestination() async throws {
        let files = SimulatedFileSystem(seed: 4)
        let plain = ScriptedTracker(name: "alpha")
        try await PipelineHarness([plain], journal: files, queue: Self.queue).run { pipeline, _ in
            try await submit(0..<20, to: pipeline)
            await plain.waitForDelivered(20)
        }
        let ledger = Ledger()
        try await run(LedgerTracker(ledger), files, submitting: 20..<30, until: 10)
        #expect(ledger.numbers == Array(20..<30))
    }

    @Test("refused events, and events for other trackers, are not repeated, although no checkpoint covers them")
    func settledOtherwise() async throws {
        let (files, ledger) = (SimulatedFileSystem(seed: 5), Ledger())
        try await run(LedgerTracker(ledger), files, submitting: 0..<5, until: 5)
        let refusing = LedgerTracker(ledger, Array(repeating: .refuse([0]), count: 100))
        try await PipelineHarness([refusing], journal: files, queue: Self.queue).runWithTime { pipeline in
            try await submit(5..<20, to: pipeline)
            await pipeline.flush()
            try await submit(100..<120, "B", to: pipeline)
        }
        let numbers = ledger.numbers
        #expect(ledger.checkpoint == 5)
        #expect(try cursor(in: files).sequence == 40)
        #expect(try cursor(in: files).checkpoint == 5)
        try await run(LedgerTracker(ledger), files, submitting: 20..<25, until: numbers.count + 5)
        #expect(ledger.numbers == numbers + Array(20..<25))
        #expect(ledger.checkpoint == 45)
    }

    @Test("a delivery in parts stores its checkpoint with its last part")
    func parts() async throws {
        let (files, ledger) = (SimulatedFileSystem(seed: 6), Ledger())
        let tracker = LedgerTracker(ledger, [.failPartly([1, 3, 4]), .failPartly([1])])
        try await PipelineHarness([tracker], journal: files, queue: Self.queue).runWithTime { pipeline in
            try await pipeline.submit(PipelineHarness.batch("A", 0..<5))
            await ledger.waitForNumbers(4)
            #expect(ledger.checkpoint == nil)
            await pipeline.flush()
        }
        #expect(ledger.numbers == [0, 2, 1, 4, 3])
        #expect(ledger.state.value.asked == [5, 5, 5])
        #expect(ledger.checkpoint == 5)
    }

    @Test("if the tracker gets only part of a batch, checkpoints still count the whole batch, however it is split")
    func mixed() async throws {
        let (files, ledger) = (SimulatedFileSystem(seed: 7), Ledger())
        // Every third event is the tracker's: 20 of 60, in deliveries of 7.
        let events = (0..<60).map { ScriptedEvent($0 % 3 == 2 ? "A" : "B", number: $0) }
        let tracker = LedgerTracker(ledger)
        let queue = Pipeline.Queue(capacityInEvents: 100, fullPolicy: .spill)
        try await PipelineHarness([tracker], journal: files, queue: queue).runWithTime { pipeline in
            try await submit(1000..<1001, to: pipeline)
            await ledger.waitForNumbers(1)
            await pipeline.flush()
            try await pipeline.submit(.scripted(catalog: PipelineHarness.catalog, events: events))
            await pipeline.flush()
        }
        let ownNumbers = Array(stride(from: 2, to: 60, by: 3))
        #expect(ledger.numbers == [1000] + ownNumbers)
        #expect(ledger.state.value.asked == [1, 1 + 21, 1 + 42, 61])
    }

    @Test("if the plan now accepts only part of a commit, checkpoints still count the whole commit")
    func otherPlan() async throws {
        let (files, ledger) = (SimulatedFileSystem(seed: 9), Ledger())
        let before = EventCatalog.scripted(["A": ["alpha"], "B": ["alpha"]])
        let events = (0..<24).map { ScriptedEvent($0 % 3 == 2 ? "B" : "A", number: $0) }
        let dead = ScriptedTracker(name: "alpha", Array(repeating: .fail, count: 10_000))
        let harness = try PipelineHarness([dead], journal: files, queue: Self.queue, catalog: before)
        try await harness.runWithTime { pipeline in
            try await pipeline.submit(.scripted(catalog: before, events: events))
        }
        let now = EventCatalog.scripted(["A": ["alpha"]])
        let tracker = LedgerTracker(ledger)
        try await PipelineHarness([tracker], journal: files, queue: Self.queue, catalog: now).runWithTime { _ in
            await ledger.waitForNumbers(16)
        }
        #expect(ledger.numbers == (0..<24).filter { $0 % 3 != 2 })
        #expect(ledger.state.value.asked == [10, 20, 24])
    }

    @Test("a checkpoint that cannot be read is read again after the next start, before any delivery")
    func failingQuestion() async throws {
        let (files, ledger) = (SimulatedFileSystem(seed: 8), Ledger())
        let errors = [ScriptedTracker.outage, ScriptedTracker.outage]
        try await run(LedgerTracker(ledger, answerErrors: errors), files, submitting: 0..<30, until: 30)
        #expect(ledger.numbers == Array(0..<30))
        let blocked = LedgerTracker(ledger, answerErrors: [ScriptedTracker.misconfiguration])
        try await run(blocked, files, submitting: 30..<40, until: 40)
        #expect(ledger.numbers == Array(0..<40))
    }

    @Test("a tracker whose checkpoint another process stored is asked for it, and continues there")
    func superseded() async throws {
        let (files, ledger) = (SimulatedFileSystem(seed: 10), Ledger())
        let tracker = LedgerTracker(
            ledger,
            [.succeed, .overtaken, .succeed, .restored(before: 4), .fail, .overtaken, .overtaken, .succeed]
        )
        try await run(tracker, files, submitting: 0..<60, until: 60)
        #expect(ledger.numbers == Array(0..<60))
        #expect(ledger.checkpoint == 60)
        #expect(try cursor(in: files).sequence == 60)
    }

    @Test("events that are therefore read from the journal again are counted once")
    func supersededStatistics() async throws {
        let (files, ledger) = (SimulatedFileSystem(seed: 11), Ledger())
        let dead = ScriptedTracker(name: "alpha", Array(repeating: .fail, count: 10_000))
        let before = try PipelineHarness([dead], journal: files, queue: Self.queue)
        try await before.runWithTime { pipeline in try await submit(0..<30, to: pipeline) }
        let tracker = LedgerTracker(ledger, [.restored(before: 0), .fail, .restored(before: 0)])
        let harness = try PipelineHarness([tracker], journal: files, queue: Self.queue)
        try await harness.runWithTime { pipeline in
            try await submit(30..<50, to: pipeline)
            await ledger.waitForNumbers(50)
            await pipeline.flush()
        }
        let statistics = try #require(harness.pipeline.statistics[tracker: "alpha"])
        #expect(statistics.delivered == 50)
        #expect(statistics.enqueued == 50)
        #expect(statistics.dropped == 0)
        #expect(statistics.pendingEvents == 0)
    }

    @Test(
        "however it crashes and whatever fails, every acknowledged event is there once, in order",
        arguments: SimulationSeeds.upTo(100)
    )
    func torture(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var (files, ledger) = (SimulatedFileSystem(seed: seed), Ledger())
        var acknowledged: [Int] = []
        var next = 0
        for round in 0..<5 {
            let acts: [LedgerTracker.Act] = (0..<30).map { _ in
                [.succeed, .succeed, .fail, .succeedUnheard][Int.random(in: 0..<4, using: &random)]
            }
            let tracker = LedgerTracker(ledger, acts)
            let harness = try PipelineHarness([tracker], journal: files, queue: Self.queue)
            let isLast = round == 4
            files.setFailures(isLast ? 0 : Int.random(in: 0..<60, using: &random))
            var crashed = (ledger, files)
            let count = Int.random(in: 1..<60, using: &random)
            try await harness.runWithTime { pipeline in
                for _ in 0..<count {
                    if (try? await submit(next..<next + 1, to: pipeline)) != nil { acknowledged.append(next) }
                    next += 1
                }
                crashed = ledger.crashedCopy(with: files)
                files.setFailures(0)
                if isLast {
                    await pipeline.flush()
                    crashed = (ledger, files)
                }
            }
            (ledger, files) = crashed
        }
        let numbers = ledger.numbers
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count, "seed \(seed)")
        #expect(Set(acknowledged).subtracting(numbers).isEmpty, "seed \(seed)")
    }
}
