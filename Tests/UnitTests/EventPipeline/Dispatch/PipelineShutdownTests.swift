import EventPipeline
import EventValidation
import Logging
import PipelineTestSupport
import ServiceLifecycle
import SluiceTesting
import TestPromises
import Testing
import TrackerKit

@Suite("The pipeline shuts down", .timeLimit(.minutes(5)))
struct PipelineShutdownTests {
    @Test("queues are drained without linger time, and every tracker is stopped after its last delivery")
    func drain() async throws {
        let alpha = ScriptedTracker(name: "alpha")
        let beta = ScriptedTracker(name: "beta", [.fail])
        // Lingering takes longer than the pause after a failure, so that one timer is not taken for the other.
        let configuration = Pipeline.Configuration(delivery: .init(linger: .seconds(1)))
        let harness = try PipelineHarness([alpha, beta], configuration: configuration)
        try await harness.run { pipeline, clock in
            pipeline.accept("AB", 0..<3)
            await alpha.waitForStarts(1)
            await beta.waitForStarts(1)
            pipeline.shutdown()
            #expect(!pipeline.isReady)
            await clock.waitForSleeper(for: .milliseconds(100))
            clock.advance(by: .milliseconds(100))
        }
        for tracker in [alpha, beta] {
            #expect(tracker.deliveredNumbers == [0, 1, 2])
            #expect(tracker.calls.last == .stop)
            #expect(tracker.calls.count { $0 == .stop } == 1)
        }
    }

    @Test(
        "after 30 s deliveries are cancelled, the tracker is stopped, and the rest counts as pending",
        .promise("orderly-shutdown")
    )
    func deadline() async throws {
        let tracker = ScriptedTracker(name: "alpha", [.stall])
        let configuration = Pipeline.Configuration(delivery: .init(maximumEvents: 2))
        let harness = try PipelineHarness([tracker], configuration: configuration)
        try await harness.run { pipeline, clock in
            pipeline.accept("A", 0..<5)
            await tracker.waitForDeliveries(1)
            pipeline.shutdown()
            await clock.waitForSleeper(for: .seconds(30))
            #expect(!tracker.calls.contains(.stop))
            clock.advance(by: .seconds(30))
        }
        #expect(tracker.delivered.isEmpty)
        #expect(tracker.calls.last == .stop)
        #expect(harness.pipeline.statistics[tracker: "alpha"]?.pendingEvents == 5)
    }

    @Test(
        "a tracker that ignores its cancellation is abandoned after the grace period, and not stopped",
        .promise("custom-tracker")
    )
    func leftBehind() async throws {
        let deaf = ScriptedTracker(name: "alpha", [.stallIgnoringCancellation])
        let healthy = ScriptedTracker(name: "beta")
        let harness = try PipelineHarness([deaf, healthy])
        try await harness.run { pipeline, clock in
            pipeline.accept("AB", 0..<1)
            await clock.waitForSleepers(2)
            clock.advance(by: .milliseconds(100))
            await deaf.waitForDeliveries(1)
            await healthy.waitForDelivered(1)
            pipeline.shutdown()
            // It has no deadline to meet as far as this test goes.
            await healthy.waitForStop()
            await clock.waitForSleeper(for: .seconds(30))
            clock.advance(by: .seconds(30))
            await clock.waitForSleeper(for: .seconds(5))
            clock.advance(by: .seconds(5))
        }
        #expect(healthy.calls.last == .stop)
        #expect(!deaf.calls.contains(.stop))
        #expect(harness.pipeline.statistics[tracker: "alpha"]?.pendingEvents == 1)
        deaf.release()
    }

    @Test(
        "with a number of start attempts run throws after the last, naming the tracker, once the others are drained",
        .promise("bounded-attempts"),
        arguments: [ScriptedTracker.misconfiguration, ScriptedTracker.outage]
    )
    func startFailure(_ failure: TrackerError) async throws {
        let broken = ScriptedTracker(name: "alpha", startErrors: [failure])
        let healthy = ScriptedTracker(name: "beta")
        let harness = try PipelineHarness([broken, healthy], configuration: .init(maximumStartAttempts: 1))
        harness.pipeline.accept("AB", 0..<2)
        let error = await #expect(throws: PipelineError.self) { try await harness.pipeline.run() }
        #expect(error?.code == .trackerNotStarted)
        #expect(error?.tracker == "alpha")
        #expect(error?.description.contains("'alpha'") == true)
        #expect(broken.calls == [.start, .stop])
        #expect(healthy.deliveredNumbers == [0, 1])
        #expect(healthy.calls.last == .stop)
        #expect(harness.pipeline.statistics[tracker: "alpha"]?.pendingEvents == 2)
    }

    @Test(
        "with a number of delivery attempts run throws after the last without progress, once the other trackers are drained",
        .promise("bounded-attempts")
    )
    func deliveryAttempts() async throws {
        let broken = ScriptedTracker(name: "alpha", [.fail, .failPartly([1]), .fail, .fail, .fail])
        let healthy = ScriptedTracker(name: "beta")
        let configuration = Pipeline.Configuration(delivery: .init(linger: .zero), maximumDeliveryAttempts: 3)
        let harness = try PipelineHarness([broken, healthy], configuration: configuration)
        harness.pipeline.accept("AB", 0..<2)
        let running = Task { try await harness.pipeline.run() }
        let flush = Task { await harness.pipeline.flush() }
        for pause in [100, 100, 200] {
            await harness.clock.waitForSleeper(for: .milliseconds(pause))
            harness.clock.advance(by: .milliseconds(pause))
        }
        let error = await #expect(throws: PipelineError.self) { try await running.value }
        #expect(error?.code == .trackerNotDelivering)
        #expect(error?.tracker == "alpha")
        #expect(error?.message.contains(ScriptedTracker.outage.message) == true)
        #expect(broken.deliveries.map(\.count) == [2, 2, 1, 1])
        #expect(broken.calls.last == .stop)
        #expect(healthy.deliveredNumbers == [0, 1])
        #expect(harness.pipeline.statistics[tracker: "alpha"]?.pendingEvents == 1)
        await flush.value
    }

    @Test("with a limit on delivery attempts, a permanent failure ends run at once", .promise("bounded-attempts"))
    func hopelessDelivery() async throws {
        let tracker = TableTracker(broken: ["A"])
        let harness = try PipelineHarness([tracker], configuration: .init(maximumDeliveryAttempts: 5))
        harness.pipeline.accept("A", 0..<2)
        harness.pipeline.accept("AB", 2..<3)
        let running = Task { try await harness.pipeline.run() }
        await harness.pipeline.flush()
        let error = await #expect(throws: PipelineError.self) { try await running.value }
        #expect(error?.code == .trackerNotDelivering)
        #expect(error?.message.contains(TableTracker.reason.message) == true)
        #expect(tracker.state.value.calls.count == 1)
        #expect(tracker.delivered == [2])
    }

    @Test("the initializer throws for settings that cannot work, and names the tracker", .promise("invalid-settings"))
    func invalidSettings() throws {
        struct Invalid: Tracker {
            let name = "Alpha"
            func checkSettings(for catalog: EventCatalog) throws(TrackerError) {
                throw TrackerError(code: .invalidSettings, message: "'::' is not an address.", isRetryable: false)
            }
            func deliver(_ delivery: Delivery) async -> DeliveryOutcome { .delivered }
        }
        let error = #expect(throws: PipelineError.self) { try PipelineHarness([Invalid()]) }
        #expect(error?.code == .invalidTracker)
        #expect(error?.tracker == "Alpha")
        #expect(error?.message.contains("'::' is not an address.") == true)
        #expect(throws: PipelineError.self) {
            try PipelineHarness([ScriptedTracker(name: "alpha"), ScriptedTracker(name: "ALPHA")])
        }
    }

    @Test("a tracker that is still trying to reach its destination does not delay shutdown if nothing is queued")
    func startUnderWay() async throws {
        let tracker = UnreachableTracker()
        try await PipelineHarness([tracker]).run { _, _ in
            await tracker.started.wait { $0 }
        }
    }

    @Test("a service group's graceful shutdown drains the queues")
    func serviceGroup() async throws {
        let tracker = ScriptedTracker(name: "alpha")
        let harness = try PipelineHarness([tracker])
        let group = ServiceGroup(
            services: [harness.pipeline],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { try await group.run() }
            harness.pipeline.accept("A", 0..<3)
            await tracker.waitForStarts(1)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(tracker.deliveredNumbers == [0, 1, 2])
        #expect(tracker.calls.last == .stop)
    }

    @Test("cancelling the task that runs the pipeline skips the drain")
    func cancellation() async throws {
        let tracker = ScriptedTracker(name: "alpha", [.stall])
        let harness = try PipelineHarness([tracker], configuration: .init(delivery: .init(linger: .zero)))
        let run = Task { try await harness.pipeline.run() }
        harness.pipeline.accept("A", 0..<3)
        await tracker.waitForDeliveries(1)
        run.cancel()
        try await run.value
        #expect(tracker.delivered.isEmpty)
        #expect(tracker.calls.last == .stop)
        #expect(harness.pipeline.statistics[tracker: "alpha"]?.pendingEvents == 3)
    }

    @Test("a pipeline shut down before it runs delivers what it accepted, and returns")
    func shutdownBeforeRun() async throws {
        let alpha = ScriptedTracker(name: "alpha")
        let beta = ScriptedTracker(name: "beta")
        let harness = try PipelineHarness([alpha, beta])
        harness.pipeline.accept("A", 0..<3)
        harness.pipeline.shutdown()
        try await harness.pipeline.run()
        #expect(alpha.deliveredNumbers == [0, 1, 2])
        #expect(beta.calls.isEmpty)
    }

    @Test("a pipeline without trackers runs until it is shut down")
    func noTrackers() async throws {
        try await PipelineHarness([]).run { pipeline, _ in
            pipeline.accept("A", 0..<3)
            await pipeline.flush()
            #expect(pipeline.statistics.unrouted == 3)
        }
    }

    @Test("a pipeline runs once")
    func runsOnce() async throws {
        let harness = try PipelineHarness([])
        try await harness.run { _, _ in }
        let error = await #expect(throws: PipelineError.self) { try await harness.pipeline.run() }
        #expect(error?.code == .alreadyRun)
    }
}

/// A tracker whose destination does not answer: `start` returns only when it is cancelled.
private final class UnreachableTracker: Tracker {
    let name = "alpha"
    let started = Watched(false)

    func start(for catalog: EventCatalog) async throws(TrackerError) {
        started.update { $0 = true }
        await started.wait { !$0 }
        throw ScriptedTracker.outage
    }

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome { .delivered }
}
