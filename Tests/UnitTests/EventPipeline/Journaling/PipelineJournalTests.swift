import EventJournal
import EventModel
import EventPipeline
import EventValidation
import PipelineTestSupport
import SluiceTesting
import TestCases
import TestPromises
import Testing

@Suite("A pipeline with a journal", .timeLimit(.minutes(5)))
struct PipelineJournalTests {
    private static let spilling = Pipeline.Queue(capacityInEvents: 10, fullPolicy: .spill)

    private static func submit(_ numbers: Range<Int>, _ name: String = "A", to pipeline: Pipeline) async throws {
        for number in numbers { try await pipeline.submit(PipelineHarness.batch(name, number..<number + 1)) }
    }

    @Test("acknowledges events once they are in the journal, and delivers them once, even across a restart")
    func delivers() async throws {
        let files = SimulatedFileSystem(seed: 1)
        let first = ScriptedTracker(name: "alpha")
        try await PipelineHarness([first], journal: files, queue: Self.spilling).run { pipeline, _ in
            try await Self.submit(0..<50, to: pipeline)
            await first.waitForDelivered(50)
        }
        #expect(first.deliveredNumbers == Array(0..<50))
        let again = ScriptedTracker(name: "alpha")
        try await PipelineHarness([again], journal: files.crashedCopy(), queue: Self.spilling).run { pipeline, _ in
            try await Self.submit(50..<53, to: pipeline)
            await again.waitForDelivered(3)
        }
        #expect(again.deliveredNumbers == [50, 51, 52])
    }

    @Test("delivers after a crash the acknowledged events that were not delivered before it")
    func crash() async throws {
        let files = SimulatedFileSystem(seed: 2)
        let dead = ScriptedTracker(name: "alpha", [.stall])
        var crashed = files
        try await PipelineHarness([dead], journal: files, queue: Self.spilling).run { pipeline, _ in
            try await Self.submit(0..<40, to: pipeline)
            await dead.waitForDeliveries(1)
            crashed = files.crashedCopy()
            dead.release()
        }
        let alive = ScriptedTracker(name: "alpha")
        try await PipelineHarness([alive], journal: crashed, queue: Self.spilling).run { pipeline, _ in
            try await Self.submit(40..<45, to: pipeline)
            await alive.waitForDelivered(45)
        }
        #expect(alive.deliveredNumbers == Array(0..<45))
    }

    @Test(
        "a full queue spills: everything is acknowledged, the queue stays within its limit, nothing is lost or doubled",
        .promise("slow-tracker")
    )
    func spill() async throws {
        let tracker = ScriptedTracker(name: "alpha", [.stall])
        let other = ScriptedTracker(name: "beta")
        let harness = try PipelineHarness(
            [tracker, other],
            journal: SimulatedFileSystem(seed: 3),
            queue: Self.spilling
        )
        try await harness.run { pipeline, _ in
            try await Self.submit(0..<300, "AB", to: pipeline)
            await other.waitForDelivered(300)
            let batch = PipelineHarness.batch("AB", 0..<1)
            #expect((pipeline.statistics[tracker: "alpha"]?.pendingBytes ?? .max) <= 10 * batch.byteCount)
            #expect(pipeline.statistics[tracker: "alpha"]?.pendingEvents == 300)
            tracker.release()
            try await Self.submit(300..<400, "AB", to: pipeline)
            await tracker.waitForDelivered(400)
            await pipeline.flush()
            try await Self.submit(400..<410, "AB", to: pipeline)
            await tracker.waitForDelivered(410)
        }
        #expect(tracker.deliveredNumbers == Array(0..<410))
        #expect(other.deliveredNumbers == Array(0..<410))
        #expect(harness.pipeline.statistics[tracker: "alpha"]?.pendingEvents == 0)
    }

    @Test(
        "what was not delivered before the pipeline ended is delivered after the next start",
        .promise("orderly-shutdown"),
        arguments: [5, 40]
    )
    func shutdownWithDeadTracker(count: Int) async throws {
        let files = SimulatedFileSystem(seed: 9)
        let dead = ScriptedTracker(name: "alpha", Array(repeating: .fail, count: 10_000))
        try await PipelineHarness([dead], journal: files, queue: Self.spilling).runWithTime { pipeline in
            try await Self.submit(0..<count, to: pipeline)
        }
        let alive = ScriptedTracker(name: "alpha")
        try await PipelineHarness([alive], journal: files, queue: Self.spilling).run { _, _ in
            await alive.waitForDelivered(count)
        }
        #expect(alive.deliveredNumbers == Array(0..<count))
    }

    @Test("large batches are delivered in parts, and a read that fails in between repeats none of them")
    func largeCommits() async throws {
        let files = SimulatedFileSystem(seed: 10)
        let tracker = ScriptedTracker(name: "alpha", [.stall])
        try await PipelineHarness([tracker], journal: files, queue: Self.spilling).runWithTime { pipeline in
            for start in stride(from: 0, to: 500, by: 50) {
                try await pipeline.submit(PipelineHarness.batch("A", start..<start + 50))
            }
            files.setReadFailures(200)
            await tracker.waitForDeliveries(1)
            tracker.release()
            await pipeline.flush()
        }
        #expect(tracker.deliveredNumbers == Array(0..<500))
    }

    @Test(
        "rejects batches that the journal cannot store, delivers none of them, and accepts again once it can",
        .promise("full-disk")
    )
    func unwritable() async throws {
        let files = SimulatedFileSystem(seed: 4)
        let tracker = ScriptedTracker(name: "alpha")
        try await PipelineHarness([tracker], journal: files, queue: Self.spilling).run { pipeline, clock in
            try await Self.submit(0..<1, to: pipeline)
            await tracker.waitForDelivered(1)
            #expect(pipeline.isReady)
            files.setFailures(1000)
            await #expect(throws: TrackError.self) { try await Self.submit(1..<2, to: pipeline) }
            #expect(!pipeline.isReady)
            files.setFailures(0)
            await clock.waitForSleeper(for: .seconds(1))
            clock.advance(by: .seconds(1))
            while !pipeline.isReady { await Task.yield() }
            try await Self.submit(2..<3, to: pipeline)
            await tracker.waitForDelivered(2)
        }
        #expect(tracker.deliveredNumbers == [0, 2])
    }

    @Test("a disk without free space is not logged again on each attempt to write")
    func floor() async throws {
        let (files, log) = (SimulatedFileSystem(seed: 4), RecordingLog())
        var configuration = JournalConfiguration.small()
        configuration.minimumFreeBytes = 1000
        let tracker = ScriptedTracker(name: "alpha")
        let harness = try PipelineHarness([tracker], journal: files, configuration, queue: Self.spilling, log: log)
        try await harness.run { pipeline, clock in
            files.setFailures(1000)
            await #expect(throws: TrackError.self) { try await Self.submit(0..<1, to: pipeline) }
            files.setFailures(0)
            let before = log.errors.count
            for free in 1...5 {
                files.withState { $0.free = free }
                await clock.waitForSleeper(for: .seconds(1))
                clock.advance(by: .seconds(1))
            }
            await clock.waitForSleeper(for: .seconds(1))
            #expect(!pipeline.isReady)
            #expect(log.errors.count == before)
        }
    }

    @Test(
        "with a sync interval, acknowledged events survive a crash once the interval is over",
        .promise("power-failure")
    )
    func interval() async throws {
        let files = SimulatedFileSystem(seed: 8)
        let tracker = ScriptedTracker(name: "alpha")
        let configuration = JournalConfiguration.small(.interval(.milliseconds(300)))
        let harness = try PipelineHarness([tracker], journal: files, configuration, queue: Self.spilling)
        try await harness.run { pipeline, clock in
            try await Self.submit(0..<3, to: pipeline)
            #expect(files.hasUnsyncedWrites)
            await clock.waitForSleeper(for: .milliseconds(300))
            clock.advance(by: .milliseconds(300))
            await clock.waitForSleeper(for: .milliseconds(300))
            let lines = try JournalContents(Journal(files.crashedCopy(), configuration: .small(), now: 0)).lines
            #expect(lines.count == 3)
        }
    }

    @Test(
        "a full journal accepts nothing until the trackers have caught up, and then accepts events again",
        .promise("full-disk")
    )
    func full() async throws {
        var configuration = JournalConfiguration.small()
        configuration.maximumBytes = 10_000
        configuration.retentionBytes = 0
        let tracker = ScriptedTracker(name: "alpha", [.stall])
        let files = SimulatedFileSystem(seed: 7)
        let harness = try PipelineHarness([tracker], journal: files, configuration, queue: Self.spilling)
        try await harness.run { pipeline, _ in
            var taken = 0
            await #expect(throws: TrackError.self) {
                for number in 0..<1000 {
                    try await Self.submit(number..<number + 1, to: pipeline)
                    taken += 1
                }
            }
            #expect(taken > 10)
            // Its one tracker stands still: nobody can tell when there is room.
            let full = TrackError.notStored(JournalError(.full, "full"))
            #expect(pipeline.retryAfter(full) == .seconds(30))
            tracker.release()
            await tracker.waitForDelivered(taken)
            await pipeline.flush()
            // The first finds no room, and makes it.
            try? await Self.submit(taken..<taken + 1, to: pipeline)
            try await Self.submit(taken + 1..<taken + 2, to: pipeline)
            await tracker.waitForDelivered(taken + 1)
            #expect(Array(tracker.deliveredNumbers.prefix(taken)) == Array(0..<taken))
        }
    }

    @Test("with the policy wait, a full queue delays the sender, with a journal or without")
    func waits() async throws {
        let tracker = ScriptedTracker(name: "alpha", [.stall])
        let queue = Pipeline.Queue(capacityInEvents: 3, fullPolicy: .wait)
        try await PipelineHarness([tracker], journal: SimulatedFileSystem(seed: 5), queue: queue).run { pipeline, _ in
            try await Self.submit(0..<3, to: pipeline)
            async let fourth: Void = Self.submit(3..<4, to: pipeline)
            while pipeline.statistics.waitingBatches == 0 { await Task.yield() }
            tracker.release()
            try await fourth
            await tracker.waitForDelivered(4)
        }
        #expect(tracker.deliveredNumbers == [0, 1, 2, 3])
    }

    @Test("a tracker without a cursor starts at the end of the journal")
    func newTracker() async throws {
        let files = SimulatedFileSystem(seed: 6)
        let alpha = ScriptedTracker(name: "alpha")
        try await PipelineHarness([alpha], journal: files, queue: Self.spilling).run { pipeline, _ in
            try await Self.submit(0..<5, "AB", to: pipeline)
            await alpha.waitForDelivered(5)
        }
        let beta = ScriptedTracker(name: "beta")
        try await PipelineHarness([alpha, beta], journal: files, queue: Self.spilling).run { pipeline, _ in
            try await Self.submit(5..<7, "AB", to: pipeline)
            await beta.waitForDelivered(2)
        }
        #expect(beta.deliveredNumbers == [5, 6])
        #expect(alpha.deliveredNumbers == Array(0..<7))
    }

    @Test(
        "whatever fails, and whenever it crashes, every acknowledged event is delivered, in order",
        .promise("killed-process"),
        arguments: SimulationSeeds.upTo(60)
    )
    func torture(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var files = SimulatedFileSystem(seed: seed)
        var acknowledged: [Int] = []
        var delivered: Set<Int> = []
        var next = 0
        for round in 0..<4 {
            let acts: [ScriptedTracker.Act] = (0..<30).map { _ in
                Int.random(in: 0..<3, using: &random) == 0 ? .fail : .succeed
            }
            let tracker = ScriptedTracker(name: "alpha", acts)
            let harness = try PipelineHarness([tracker], journal: files, queue: Self.spilling)
            let isLast = round == 3
            files.setFailures(isLast ? 0 : Int.random(in: 0..<60, using: &random))
            var crashed = files
            let count = Int.random(in: 1..<60, using: &random)
            try await harness.runWithTime { pipeline in
                for _ in 0..<count {
                    if (try? await Self.submit(next..<next + 1, to: pipeline)) != nil { acknowledged.append(next) }
                    next += 1
                }
                crashed = files.crashedCopy()
                files.setFailures(0)
                if isLast { await pipeline.flush() }
            }
            let numbers = tracker.deliveredNumbers
            #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count, "seed \(seed), round \(round)")
            delivered.formUnion(numbers)
            files = crashed
        }
        #expect(Set(acknowledged).subtracting(delivered).isEmpty, "seed \(seed)")
    }
}
