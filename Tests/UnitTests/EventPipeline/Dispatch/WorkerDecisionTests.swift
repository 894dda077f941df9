import EventPipeline
import PipelineTestSupport
import SluiceTesting
import TestPromises
import Testing
import TrackerKit

@Suite("What a worker does next")
struct WorkerDecisionTests {
    private let alpha: TrackerIndex = 0

    private func failure(retryable: Bool = true) -> TrackerError {
        TrackerError(code: .unavailable, message: "down", isRetryable: retryable)
    }

    @Test("the linger time starts with the arrival of the first event")
    func linger() {
        let harness = DispatchStateHarness(.small(linger: .milliseconds(100)))
        harness.start()
        harness.now = .milliseconds(10)
        harness.submit(1, "A")
        #expect(harness.actions.wakes.contains(alpha))
        #expect(harness.step(alpha).timer == .milliseconds(110))
        harness.now = .milliseconds(60)
        harness.submit(1, "A")
        #expect(!harness.actions.wakes.contains(alpha))
        #expect(harness.step(alpha).isWait)
        harness.now = .milliseconds(110)
        #expect(harness.delivery(alpha)?.count == 2)
    }

    @Test("a full delivery wakes its worker at once, and only once")
    func fullDelivery() {
        let harness = DispatchStateHarness(.small(linger: .seconds(1)))
        harness.start()
        harness.submit(4, "A")
        _ = harness.step(alpha)
        harness.submit(1, "A")
        #expect(harness.actions.wakes.contains(alpha))
        harness.submit(1, "A")
        #expect(harness.actions.wakes.isEmpty)
        #expect(harness.delivery(alpha)?.count == 5)
    }

    @Test("events in a queue smaller than a delivery do not linger once it is half full")
    func smallQueue() {
        var configuration = Pipeline.Configuration.small(capacityInEvents: 4, linger: .seconds(1))
        configuration.delivery.maximumEvents = 1000
        let harness = DispatchStateHarness(configuration)
        harness.start()
        harness.submit(1, "A")
        #expect(harness.delivery(alpha) == nil)
        harness.submit(1, "A")
        #expect(harness.delivery(alpha)?.count == 2)
    }

    @Test("a delivery takes whole batches up to its limits, and splits only a batch that exceeds them")
    func deliverySizes() {
        let harness = DispatchStateHarness(.small(capacityInEvents: 100))
        harness.start()
        for count in [3, 1, 3, 12] { harness.submit(count, "A") }
        var sizes: [Int] = []
        while let delivery = harness.delivery(alpha) {
            sizes.append(delivery.count)
            harness.settle(alpha, delivery)
        }
        #expect(sizes == [4, 3, 5, 5, 2])
        #expect(harness.state.statistics(now: harness.now).trackers[alpha].pendingBytes == 0)
    }

    @Test("a tracker may have limits of its own for its deliveries, by its name in lower case")
    func deliverySizeOfTracker() {
        var configuration = Pipeline.Configuration.small(capacityInEvents: 100)
        configuration.deliveryByTracker = ["alpha": .init(maximumEvents: 2, linger: .zero)]
        let harness = DispatchStateHarness(configuration)
        harness.start()
        harness.submit(4, "AB")
        #expect(harness.delivery(0)?.count == 2)
        #expect(harness.delivery(1)?.count == 4)
        #expect(configuration.delivery(of: "Alpha").maximumEvents == 2)
        #expect(configuration.delivery(of: "beta") == configuration.delivery)
    }

    @Test("a delivery keeps its limit in bytes, and an event beyond this limit is delivered alone")
    func deliveryBytes() {
        let small = ScriptedEvent("A", number: 1)
        let large = ScriptedEvent("A", number: 2, payload: "\"" + String(repeating: "x", count: 900) + "\"")
        let harness = DispatchStateHarness(.small(capacityInEvents: 100, maximumEvents: 100, maximumBytes: 500))
        harness.start()
        harness.submit([small, small, large, small])
        var deliveries: [[Int]] = []
        while let delivery = harness.delivery(alpha) {
            deliveries.append(delivery.map(\.number))
            harness.settle(alpha, delivery)
        }
        #expect(deliveries == [[1, 1], [2], [1]])
    }

    @Test("a limit that no delivery could keep counts as the least that one can")
    func leastLimits() {
        var configuration = Pipeline.Configuration()
        configuration.delivery.maximumEvents = 0
        #expect(configuration.delivery.maximumEvents == 1)
        configuration.commitOverdueAfter = .zero
        #expect(configuration.commitOverdueAfter == .milliseconds(1))
    }

    @Test("a failed delivery doubles its backoff up to the maximum, and progress resets it")
    func pauses() throws {
        var configuration = Pipeline.Configuration.small()
        configuration.retry = RetryPolicy(initialPause: .milliseconds(100), maximumPause: .milliseconds(500))
        let harness = DispatchStateHarness(configuration)
        harness.start()
        harness.submit(3, "A")
        var pauses: [Duration?] = []
        for _ in 0..<5 {
            let delivery = try #require(harness.delivery(alpha))
            pauses.append(harness.settle(alpha, delivery, .retry(failure()), jitter: 1).pause)
            harness.now += .seconds(1)
        }
        #expect(pauses == [100, 200, 400, 500, 500].map { Duration.milliseconds($0) })
        let delivery = try #require(harness.delivery(alpha))
        let partly = DeliveryOutcome(retry: .init(positions: [2], reason: failure()))
        #expect(harness.settle(alpha, delivery, partly, jitter: 1).pause == .milliseconds(100))
    }

    @Test("only what was neither delivered nor refused is retried, and its room is freed at the end")
    func partialRetry() throws {
        let harness = DispatchStateHarness(.small(capacityInEvents: 5))
        harness.start()
        harness.submit(5, "A")
        let outcome = DeliveryOutcome(
            refusals: [.init(position: 1, reason: "no")],
            retry: .init(positions: [2, 4], reason: failure())
        )
        harness.settle(alpha, try #require(harness.delivery(alpha)), outcome)
        harness.submit(1, "A", number: 1)
        #expect(!harness.isAcknowledged(1))
        harness.now += .seconds(1)
        let rest = try #require(harness.delivery(alpha))
        #expect(rest.map(\.number) == [2, 4])
        harness.settle(alpha, rest)
        #expect(harness.isAcknowledged(1))
        let statistics = harness.state.statistics(now: harness.now).trackers[alpha]
        #expect(statistics.delivered == 4)
        #expect(statistics.refused == 1)
        #expect(statistics.retried == 2)
    }

    @Test("a start that may succeed later is retried while the queue fills")
    func startRetry() {
        let harness = DispatchStateHarness(.small())
        _ = harness.state.run()
        #expect(harness.step(alpha).isStart)
        let pause = harness.act { state, actions in
            state.startReturned(of: alpha, error: failure(), now: .zero, jitter: 0, actions: &actions)
        }
        #expect(pause == .milliseconds(50))
        #expect(harness.submit(3, "A") == .acknowledged)
        #expect(harness.step(alpha).timer == .milliseconds(50))
        harness.now = .milliseconds(50)
        #expect(harness.step(alpha).isStart)
        #expect(harness.state.unreadyReasons(now: .zero).isEmpty)
    }

    @Test("after the last start attempt the pipeline closes, and the worker stops its tracker")
    func startFailure() {
        var configuration = Pipeline.Configuration.small()
        configuration.maximumStartAttempts = 3
        let harness = DispatchStateHarness(configuration)
        _ = harness.state.run()
        harness.submit(1, "A")
        for attempt in 1...3 {
            harness.now += .seconds(30)
            #expect(harness.step(alpha).isStart)
            let pause = harness.act { state, actions in
                state.startReturned(
                    of: alpha,
                    error: failure(),
                    now: harness.now,
                    jitter: 0,
                    actions: &actions
                )
            }
            #expect((pause == nil) == (attempt == 3))
            #expect((harness.state.failure == nil) == (attempt < 3))
        }
        #expect(harness.state.failure?.queue == alpha)
        #expect(harness.submit(1, "A") == .rejected(.closed))
        guard case .end(stopsTracker: true) = harness.step(alpha) else {
            Issue.record("the worker goes on")
            return
        }
    }

    @Test(
        "with a limit on start attempts, a permanent failure closes the pipeline at once",
        .promise("bounded-attempts")
    )
    func blockedStart() {
        var configuration = Pipeline.Configuration.small()
        configuration.maximumStartAttempts = 3
        let harness = DispatchStateHarness(configuration)
        _ = harness.state.run()
        #expect(harness.step(alpha).isStart)
        _ = harness.act { state, actions in
            state.startReturned(of: alpha, error: failure(retryable: false), now: .zero, jitter: 0, actions: &actions)
        }
        #expect(harness.state.failure?.queue == alpha)
        #expect(harness.submit(1, "A") == .rejected(.closed))
    }

    @Test(
        "a plan that is replaced while a tracker starts again never gives the tracker up",
        .promise("bounded-attempts"),
        arguments: [false, true]
    )
    func startForNewPlan(isSuperseded: Bool) throws {
        var configuration = Pipeline.Configuration.small()
        configuration.maximumStartAttempts = 1
        let harness = DispatchStateHarness(configuration, checkpointing: [alpha])
        func replacePlan() { harness.act { state, actions in state.planReplaced(actions: &actions) } }
        func start(_ error: TrackerError?) -> Duration? {
            harness.now += .seconds(30)
            #expect(harness.step(alpha).isStart)
            return harness.act { state, actions in
                state.startReturned(of: alpha, error: error, now: harness.now, jitter: 0, actions: &actions)
            }
        }
        harness.start()
        if isSuperseded {
            harness.submit(1, "A")
            let reason = TrackerError(code: .superseded, message: "taken over", isRetryable: false)
            harness.settle(alpha, try #require(harness.delivery(alpha)), .retry(reason))
        } else {
            replacePlan()
            #expect(start(failure(retryable: false)) != nil)
        }
        replacePlan()
        for _ in 0..<3 { #expect(start(failure(retryable: false)) != nil) }
        #expect(start(nil) == nil)
        #expect(harness.state.failure == nil)
        #expect(harness.submit(1, "A") == .acknowledged)
    }

    @Test("without a journal, a full queue makes the pipeline not ready until it has room again")
    func fullQueue() throws {
        let harness = DispatchStateHarness(.small(capacityInEvents: 3))
        #expect(harness.state.unreadyReasons(now: .zero) == [.notRunning])
        harness.start()
        harness.submit(2, "A")
        #expect(harness.state.unreadyReasons(now: .zero).isEmpty)
        harness.submit(1, "A")
        #expect(harness.state.unreadyReasons(now: .zero) == [.queuesFull])
        harness.settle(alpha, try #require(harness.delivery(alpha)))
        #expect(harness.state.unreadyReasons(now: .zero).isEmpty)
    }

    @Test("a timer that fires early is restarted")
    func earlyTimer() {
        let harness = DispatchStateHarness(.small(linger: .milliseconds(100)))
        harness.start()
        harness.submit(1, "A")
        #expect(harness.step(alpha).timer == .milliseconds(100))
        harness.now = .milliseconds(99)
        harness.act { state, actions in state.timerFired(of: alpha, at: .milliseconds(100), actions: &actions) }
        #expect(harness.actions.wakes.contains(alpha))
        #expect(harness.step(alpha).timer == .milliseconds(100))
    }
}

extension WorkerStep {
    var timer: Duration? { if case .setTimer(let time) = self { time } else { nil } }
    var isWait: Bool { if case .wait = self { true } else { false } }
    var isStart: Bool { if case .start = self { true } else { false } }
}
