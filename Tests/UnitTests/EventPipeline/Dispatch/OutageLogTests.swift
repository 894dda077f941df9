import EventPipeline
import EventQuarantine
import EventValidation
import PipelineTestSupport
import SluiceTesting
import Testing
import TrackerKit

@Suite("The log of a tracker's failures", .timeLimit(.minutes(5)))
struct OutageLogTests {
    /// A tracker whose start ends only when it is cancelled.
    private final class StartingTracker: Tracker {
        let name = "alpha"
        let started = Watched(false)

        func start(for catalog: EventCatalog) async throws(TrackerError) {
            started.update { $0 = true }
            await started.wait { !$0 }
            throw .cancelled
        }

        func deliver(_ delivery: Delivery) async -> DeliveryOutcome { .delivered }
    }

    /// The pauses before each further attempt, with full jitter.
    private static let pauses: [Duration] = (1...20).map { RetryPolicy().pause(afterFailures: $0, jitter: 1) }

    private static func harness(_ tracker: any Tracker, _ log: RecordingLog) throws -> PipelineHarness {
        try PipelineHarness(
            [tracker],
            journal: SimulatedFileSystem(seed: 1),
            queue: .init(capacityInEvents: 100, fullPolicy: .spill),
            log: log
        )
    }

    @Test("a start that fails for minutes is one line, a line each minute, and one line when it has started")
    func start() async throws {
        let errors = Array(repeating: ScriptedTracker.outage, count: Self.pauses.count)
        let (tracker, log) = (ScriptedTracker(name: "alpha", startErrors: errors), RecordingLog())
        let harness = try Self.harness(tracker, log)
        try await harness.run { _, clock in
            for pause in Self.pauses {
                await clock.waitForSleeper(for: pause)
                clock.advance(by: pause)
            }
            await tracker.waitForStarts(Self.pauses.count + 1)
        }
        let failures = log.all.filter { $0.hasPrefix("The tracker could not start and will try again") }
        #expect(failures.count == 3)
        #expect(failures.first?.contains("failures=1") == true)
        #expect(failures.first?.contains("seconds=0.0") == true)
        let starts = log.all.filter { $0.hasPrefix("The tracker has started.") }
        let seconds = Self.pauses.reduce(.zero, +) / .seconds(1)
        #expect(starts == ["The tracker has started. failures=20 seconds=\(seconds) tracker=alpha"])
    }

    @Test("a queue that drops all the time is one line at once, and then a line each minute")
    func drops() async throws {
        let (log, clock) = (RecordingLog(), ManualClock())
        let pipeline = try Pipeline(
            catalog: PipelineHarness.catalog,
            trackers: [StartingTracker()],
            configuration: .init(queue: .init(capacityInEvents: 1, fullPolicy: .dropNewest)),
            quarantine: .discarding(logger: log.logger),
            logger: log.logger,
            clock: clock,
            jitter: { 1 }
        )
        try await pipeline.submit(PipelineHarness.batch("A", 0..<1))
        for number in 1...4 {
            try await pipeline.submit(PipelineHarness.batch("A", number..<number + 1))
            clock.advance(by: .seconds(30))
        }
        let lines = log.all.filter { $0.hasPrefix("The tracker's queue is full") }
        #expect(lines.map { $0.contains("events=1 ") ? 1 : $0.contains("events=2 ") ? 2 : 0 } == [1, 2])
    }

    @Test("a reason that only somebody can remove is logged at once, although others were logged before")
    func blocked() async throws {
        let errors = [ScriptedTracker.outage, ScriptedTracker.outage, ScriptedTracker.misconfiguration]
        let (tracker, log) = (ScriptedTracker(name: "alpha", startErrors: errors), RecordingLog())
        try await Self.harness(tracker, log).run { _, clock in
            for pause in Self.pauses.prefix(3) {
                await clock.waitForSleeper(for: pause)
                clock.advance(by: pause)
            }
            await tracker.waitForStarts(4)
        }
        #expect(log.all.count { $0.hasPrefix("The tracker could not start and will try again") } == 1)
        #expect(log.errors.count { $0.hasPrefix("The tracker is blocked") && $0.contains("failures=2") } == 1)
    }

    @Test("a start that a shutdown has cancelled is no failure")
    func cancelledStart() async throws {
        let (tracker, log) = (StartingTracker(), RecordingLog())
        try await Self.harness(tracker, log).run { _, _ in
            await tracker.started.wait { $0 }
        }
        #expect(!log.all.contains { $0.hasPrefix("The tracker could not start") }, "\(log.all)")
    }

    @Test("a delivery that fails for another reason than before is logged at once")
    func deliveryReason() async throws {
        let full = TrackerError(code: .failed, message: "Scripted full disk.", isRetryable: true)
        let acts: [ScriptedTracker.Act] = [.fail, .fail, .answer(.retry(full)), .fail, .answer(.retry(full))]
        let (tracker, log) = (ScriptedTracker(name: "alpha", acts), RecordingLog())
        try await Self.harness(tracker, log).run { pipeline, clock in
            try await pipeline.submit(PipelineHarness.batch("A", 0..<1))
            for pause in Self.pauses.prefix(acts.count) {
                await clock.waitForSleeper(for: pause)
                clock.advance(by: pause)
            }
            await pipeline.flush()
        }
        let failures = log.all.filter { $0.hasPrefix("A delivery failed and is tried again.") }
        #expect(failures.map { $0.contains("[failed]") } == [false, true])
        #expect(failures.last?.contains("failures=2 ") == true)
    }
}
