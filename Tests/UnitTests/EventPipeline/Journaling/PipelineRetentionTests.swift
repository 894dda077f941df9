import EventJournal
import EventModel
import EventPipeline
import Metrics
import MetricsTestKit
import PipelineTestSupport
import SluiceTesting
import TestPromises
import Testing

/// What becomes of segments that are over.
@Suite("A pipeline removes from its journal", .timeLimit(.minutes(5)))
struct PipelineRetentionTests {
    private static let spilling = Pipeline.Queue(capacityInEvents: 10, fullPolicy: .spill)
    private static let day = Duration.seconds(86_400)

    /// So many days after a fixed time, in microseconds since 1970.
    private static func time(from days: Int) -> Int64 {
        1_700_000_000_000_000 + Int64(day * days / .microseconds(1))
    }

    private static func configuration(
        age: Duration = day,
        bytes: Int = .max,
        dropsUndelivered: Bool = false
    ) -> JournalConfiguration {
        var configuration = JournalConfiguration.small()
        configuration.retentionAge = age
        configuration.retentionBytes = bytes
        configuration.retentionDropsUndelivered = dropsUndelivered
        return configuration
    }

    private static func submit(_ numbers: Range<Int>, _ name: String = "AB", to pipeline: Pipeline) async throws {
        for number in numbers { try await pipeline.submit(PipelineHarness.batch(name, number..<number + 1)) }
    }

    /// Lets time pass, and then the look at the segments, once.
    private static func pass(_ duration: Duration, _ clock: ManualClock) async {
        await clock.waitForSleeper(for: .seconds(1))
        clock.advance(by: duration)
        await clock.waitForSleeper(for: .seconds(1))
    }

    private static func segments(_ files: SimulatedFileSystem) throws -> [String] {
        try files.names().filter { $0.hasSuffix(".segment") }.sorted()
    }

    @Test("everything that has expired, even the last segment and without new events; no sequence number is reused")
    func idle() async throws {
        let files = SimulatedFileSystem(seed: 1)
        let configuration = Self.configuration()
        for start in 0..<3 {
            let tracker = ScriptedTracker(name: "alpha")
            let harness = try PipelineHarness(
                [tracker],
                journal: files,
                configuration,
                queue: Self.spilling,
                openedAt: Self.time(from: start * 10)
            )
            try await harness.run { pipeline, clock in
                let numbers = start * 50..<start * 50 + 50
                try await Self.submit(numbers, "A", to: pipeline)
                await tracker.waitForDelivered(50)
                await pipeline.flush()
                #expect(try Self.segments(files).count > 3)
                await Self.pass(Self.day - .seconds(60), clock)
                #expect(try Self.segments(files).count > 3)
                await Self.pass(Self.day, clock)
                // The one that is left says what number comes next.
                let left = try Self.segments(files)
                #expect(left.count == 1)
                #expect(files[left.first ?? ""]?.isEmpty == true)
                // Nothing more happens to it.
                await Self.pass(Self.day * 3, clock)
                #expect(try Self.segments(files) == left)
                if start == 1 {
                    try await Self.submit(1_000..<1_001, "A", to: pipeline)
                    await tracker.waitForDelivered(51)
                }
            }
            let expected = Array(start * 50..<start * 50 + 50) + (start == 1 ? [1_000] : [])
            #expect(tracker.deliveredNumbers == expected)
            let journal = try Journal(files.crashedCopy(), configuration: configuration, now: 0)
            #expect(journal.position.nextSequence > UInt64(start * 50 + 49))
            #expect(journal.recovery.isIntact)
        }
    }

    @Test("a segment that fills slowly once its first event has expired, but not the segments after it")
    func slow() async throws {
        let files = SimulatedFileSystem(seed: 2)
        let tracker = ScriptedTracker(name: "alpha")
        var configuration = Self.configuration()
        configuration.segmentBytes = 1 << 20
        let harness = try PipelineHarness(
            [tracker],
            journal: files,
            configuration,
            queue: Self.spilling,
            openedAt: Self.time(from: 0)
        )
        try await harness.run { pipeline, clock in
            for hour in 0..<80 {
                try await Self.submit(hour..<hour + 1, "A", to: pipeline)
                await tracker.waitForDelivered(hour + 1)
                await pipeline.flush()
                await Self.pass(.seconds(3600), clock)
            }
            // Those of the last 24 hours are there, and none that is older than 48.
            let journal = try Journal(files.crashedCopy(), configuration: configuration, now: 0)
            let numbers = try JournalContents(journal).order
            #expect(Set(numbers).isSuperset(of: 57..<80))
            #expect((numbers.first ?? 0) > 31)
        }
    }

    @Test("nothing that a tracker still needs, however old and large it is")
    func undelivered() async throws {
        let files = SimulatedFileSystem(seed: 3)
        let (alpha, beta) = (ScriptedTracker(name: "alpha", [.stall]), ScriptedTracker(name: "beta"))
        let harness = try PipelineHarness(
            [alpha, beta],
            journal: files,
            Self.configuration(bytes: 0),
            queue: Self.spilling,
            openedAt: Self.time(from: 0)
        )
        try await harness.run { pipeline, clock in
            try await Self.submit(0..<100, to: pipeline)
            await beta.waitForDelivered(100)
            let before = try Self.segments(files)
            await Self.pass(Self.day * 30, clock)
            #expect(try Self.segments(files).starts(with: before))
            alpha.release()
            await alpha.waitForDelivered(100)
            await pipeline.flush()
            await Self.pass(Self.day, clock)
            #expect(try Self.segments(files).count == 1)
        }
        #expect(alpha.deliveredNumbers == Array(0..<100))
    }

    @Test(
        "what a tracker needs, where it is told to: counted, and the tracker goes on behind",
        arguments: [true, false]
    )
    func dropsUndelivered(byAge: Bool) async throws {
        let files = SimulatedFileSystem(seed: 4)
        let (alpha, beta) = (ScriptedTracker(name: "alpha", [.stall]), ScriptedTracker(name: "beta"))
        let metrics = TestMetrics()
        let harness = try withMetricsFactory(metrics) {
            try PipelineHarness(
                [alpha, beta],
                journal: files,
                Self.configuration(bytes: byAge ? .max : 5_000, dropsUndelivered: true),
                queue: Self.spilling,
                openedAt: Self.time(from: 0)
            )
        }
        try await harness.run { pipeline, clock in
            // Every second event is none of alpha's, which makes no loss.
            for number in 0..<100 {
                try await Self.submit(number..<number + 1, number % 2 == 0 ? "AB" : "B", to: pipeline)
            }
            await beta.waitForDelivered(100)
            await Self.pass(byAge ? Self.day * 2 : .seconds(1), clock)
            let dropped = try #require(pipeline.statistics[tracker: "alpha"]).dropped
            #expect(dropped > 5)
            #expect(pipeline.statistics[tracker: "alpha"]?.pendingEvents == 50 - dropped)
            // Nothing is counted twice.
            await Self.pass(.seconds(1), clock)
            #expect(pipeline.statistics[tracker: "alpha"]?.dropped == dropped)
            try await Self.submit(100..<105, to: pipeline)
            alpha.release()
            await alpha.waitForDelivered(55 - dropped)
            await pipeline.flush()
            let statistics = try #require(pipeline.statistics[tracker: "alpha"])
            #expect(statistics.dropped == dropped)
            #expect(statistics.enqueued == 55 && statistics.pendingEvents == 0)
            #expect(pipeline.statistics[tracker: "beta"]?.dropped == 0)
            let counter = try metrics.expectCounter("sluice_tracker_events_dropped_total", [("tracker", "alpha")])
            #expect(counter.totalValue == dropped)
        }
        let numbers = alpha.deliveredNumbers
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        #expect(numbers.suffix(5) == [100, 101, 102, 103, 104])
        #expect(numbers.first == 0)
        #expect(beta.deliveredNumbers == Array(0..<105))
    }

    @Test("what was read ahead for a stalled tracker; these events are dropped, and not delivered as well")
    func dropsWhatWasReadAhead() async throws {
        let files = SimulatedFileSystem(seed: 5)
        let (alpha, beta) = (ScriptedTracker(name: "alpha", [.stall, .stall]), ScriptedTracker(name: "beta"))
        let harness = try PipelineHarness(
            [alpha, beta],
            journal: files,
            Self.configuration(bytes: 5_000, dropsUndelivered: true),
            queue: Self.spilling,
            openedAt: Self.time(from: 0)
        )
        try await harness.run { pipeline, clock in
            try await Self.submit(0..<40, to: pipeline)
            await beta.waitForDelivered(40)
            // It comes to what was spilled, stalls there, and what follows is read meanwhile.
            alpha.release()
            await alpha.waitForDeliveries(2)
            try await Self.submit(40..<140, to: pipeline)
            await beta.waitForDelivered(140)
            await Self.pass(.seconds(1), clock)
            let dropped = try #require(pipeline.statistics[tracker: "alpha"]).dropped
            #expect(dropped > 40)
            alpha.release()
            await pipeline.flush()
            let statistics = try #require(pipeline.statistics[tracker: "alpha"])
            #expect(statistics.dropped == dropped)
            #expect(statistics.pendingEvents == 0)
            #expect(alpha.deliveredNumbers.count == 140 - dropped)
        }
        let numbers = alpha.deliveredNumbers
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    }

    @Test(
        "nothing at once if the clock is a week ahead at the start, and what has expired after an hour of running",
        .promise("clock-jump")
    )
    func wallClockAhead() async throws {
        let files = SimulatedFileSystem(seed: 6)
        let tracker = ScriptedTracker(name: "alpha")
        let (first, second) = (Self.time(from: 0), Self.time(from: 7))
        let harness = try PipelineHarness(
            [tracker],
            journal: files,
            Self.configuration(),
            queue: Self.spilling,
            openedAt: first
        )
        try await harness.run { pipeline, _ in
            try await Self.submit(0..<50, "A", to: pipeline)
            await tracker.waitForDelivered(50)
        }
        let before = try Self.segments(files)
        #expect(before.count > 3)
        let again = try PipelineHarness(
            [tracker],
            journal: files,
            Self.configuration(),
            queue: Self.spilling,
            openedAt: second
        )
        try await again.run { _, clock async throws in
            for minutes in [1, 1, 57] {
                await Self.pass(.seconds(60 * minutes), clock)
                #expect(try Self.segments(files).starts(with: before))
            }
            await Self.pass(.seconds(60), clock)
            await Self.pass(.seconds(1), clock)
            #expect(try Set(Self.segments(files)).isDisjoint(with: before))
        }
    }

    @Test(
        "what has expired by the pipeline's running time, if the clock was set back before the start",
        .promise("clock-jump")
    )
    func wallClockBack() async throws {
        let files = SimulatedFileSystem(seed: 7)
        let tracker = ScriptedTracker(name: "alpha")
        for days in [400, 0] {
            let harness = try PipelineHarness(
                [tracker],
                journal: files,
                Self.configuration(),
                queue: Self.spilling,
                openedAt: Self.time(from: days)
            )
            try await harness.run { pipeline, clock in
                let delivered = tracker.delivered.count
                try await Self.submit(days..<days + 50, "A", to: pipeline)
                await tracker.waitForDelivered(delivered + 50)
                await pipeline.flush()
                #expect(try Self.segments(files).count > 3)
                await Self.pass(Self.day - .seconds(60), clock)
                #expect(try Self.segments(files).count > 3)
                guard days == 0 else { return }
                await Self.pass(Self.day, clock)
                #expect(try Self.segments(files).count == 1)
            }
        }
    }
}
