import EventModel
import EventPipeline
import EventValidation
import PipelineTestSupport
import SluiceTesting
import TestPromises
import Testing
import TrackerKit

@Suite("The pipeline delivers", .timeLimit(.minutes(5)))
struct PipelineDeliveryTests {
    @Test("events linger for 100 ms after the first, and are delivered together")
    func linger() async throws {
        let tracker = ScriptedTracker(name: "alpha")
        try await PipelineHarness([tracker]).run { pipeline, clock in
            await tracker.waitForStarts(1)
            pipeline.accept("A", 0..<1)
            await clock.waitForSleeper(for: .milliseconds(100))
            clock.advance(by: .milliseconds(99))
            pipeline.accept("A", 1..<3)
            #expect(tracker.deliveries.isEmpty)
            clock.advance(by: .milliseconds(1))
            await tracker.waitForDelivered(3)
            #expect(tracker.deliveries.count == 1)
        }
    }

    @Test("a full delivery does not linger")
    func fullDelivery() async throws {
        let tracker = ScriptedTracker(name: "Alpha")
        try await PipelineHarness([tracker]).run { pipeline, _ in
            pipeline.accept("A", 0..<10_000)
            await tracker.waitForDelivered(10_000)
        }
        #expect(tracker.deliveredNumbers == Array(0..<10_000))
    }

    @Test("a failed delivery is retried after 100, 200, 400 and 800 ms, then once more")
    func backOff() async throws {
        let tracker = ScriptedTracker(name: "alpha", [.fail, .fail, .fail, .fail, .succeed])
        let configuration = Pipeline.Configuration(delivery: .init(linger: .zero))
        try await PipelineHarness([tracker], configuration: configuration).run { pipeline, clock in
            pipeline.accept("A", 0..<3)
            for (tries, pause) in [100, 200, 400, 800].enumerated() {
                await clock.waitForSleeper(for: .milliseconds(pause))
                #expect(tracker.deliveries.count == tries + 1)
                clock.advance(by: .milliseconds(pause))
            }
            await tracker.waitForDelivered(3)
            #expect(tracker.deliveredNumbers == [0, 1, 2])
            #expect(clock.now.offset == .milliseconds(1500))
            await pipeline.flush()
            #expect(pipeline.statistics[tracker: "alpha"]?.retried == 12)
        }
    }

    @Test("only the rest of a delivery is retried, before all later events")
    func partialRetry() async throws {
        let tracker = ScriptedTracker(name: "alpha", [.failPartly([1, 3]), .failPartly([1])])
        let configuration = Pipeline.Configuration(delivery: .init(linger: .zero))
        try await PipelineHarness([tracker], configuration: configuration).run { pipeline, clock in
            pipeline.accept("A", 0..<5)
            await clock.waitForSleeper(for: .milliseconds(100))
            pipeline.accept("A", 5..<7)
            clock.advance(by: .milliseconds(100))
            await clock.waitForSleeper(for: .milliseconds(100))
            clock.advance(by: .milliseconds(100))
            await tracker.waitForDelivered(7)
        }
        #expect(tracker.deliveredNumbers == [0, 2, 4, 1, 3, 5, 6])
        #expect(tracker.deliveries.map(\.count) == [5, 2, 1, 2])
    }

    @Test("refused events go to the quarantine with their reason, and the rest of the delivery continues")
    func refusal() async throws {
        let tracker = ScriptedTracker(name: "alpha", [.refuse([1, 1, 7, 0])])
        try await withQuarantine { quarantine, lines in
            let harness = try PipelineHarness([tracker], quarantine: quarantine)
            try await harness.run { pipeline, _ in
                pipeline.accept("A", 0..<3)
                await pipeline.flush()
            }
            let statistics = try #require(harness.pipeline.statistics[tracker: "alpha"])
            #expect(statistics.delivered == 1)
            #expect(statistics.refused == 2)
            #expect(statistics.pendingEvents == 0)
            let lines = try lines()
            #expect(lines.count == 2)
            for (number, line) in lines.enumerated() {
                #expect(line.contains(#""source":"tracker:alpha","stage":"delivery""#))
                #expect(line.contains(#""found":"as scripted""#))
                #expect(line.hasSuffix(#","event":\#(ScriptedEvent("A", number: number).canonicalJSON)}"#))
            }
        }
    }

    @Test("a stalled tracker delays no other", .promise("slow-tracker"))
    func stall() async throws {
        let stalled = ScriptedTracker(name: "alpha", [.stall])
        let healthy = ScriptedTracker(name: "beta")
        let configuration = Pipeline.Configuration(delivery: .init(maximumEvents: 10, linger: .zero))
        try await PipelineHarness([stalled, healthy], configuration: configuration).run { pipeline, _ in
            for number in 0..<100 { pipeline.accept("AB", number..<number + 1) }
            await healthy.waitForDelivered(100)
            #expect(stalled.delivered.isEmpty)
            #expect(pipeline.statistics[tracker: "alpha"]?.pendingEvents == 100)
            stalled.release()
            await stalled.waitForDelivered(100)
        }
        #expect(stalled.deliveredNumbers == Array(0..<100))
        #expect(healthy.deliveredNumbers == Array(0..<100))
    }

    @Test(
        "a tracker that cannot start is tried again, whatever the reason, and gets what came meanwhile",
        .promise("unavailable-at-start"),
        arguments: [
            (ScriptedTracker.outage, TrackerStatistics.Status.starting), (ScriptedTracker.misconfiguration, .blocked),
        ]
    )
    func startRetry(_ failure: TrackerError, _ status: TrackerStatistics.Status) async throws {
        let tracker = ScriptedTracker(name: "alpha", startErrors: [failure, failure])
        let harness = try PipelineHarness([tracker])
        try await harness.run { pipeline, clock in
            pipeline.accept("A", 0..<3)
            await clock.waitForSleeper(for: .milliseconds(100))
            #expect(pipeline.statistics[tracker: "alpha"]?.status == status)
            #expect(pipeline.statistics[tracker: "alpha"]?.reason == failure.description)
            #expect(pipeline.isReady)
            for pause in [100, 200] {
                await clock.waitForSleeper(for: .milliseconds(pause))
                clock.advance(by: .milliseconds(pause))
            }
            await tracker.waitForDelivered(3)
            await pipeline.flush()
            #expect(pipeline.statistics[tracker: "alpha"]?.status == .delivering)
            #expect(pipeline.statistics[tracker: "alpha"]?.reason == nil)
        }
        #expect(harness.pipeline.statistics[tracker: "alpha"]?.status == .stopped)
        #expect(tracker.calls.prefix(3) == [.start, .start, .start])
        #expect(tracker.calls.last == .stop)
    }

    @Test("a flush ends the linger time, and returns when all accepted events are settled")
    func flush() async throws {
        let tracker = ScriptedTracker(name: "alpha")
        try await PipelineHarness([tracker]).run { pipeline, _ in
            await pipeline.flush()
            pipeline.accept("A", 0..<3)
            await pipeline.flush()
            #expect(tracker.deliveredNumbers == [0, 1, 2])
            #expect(pipeline.statistics[tracker: "alpha"]?.pendingEvents == 0)
        }
    }

    @Test("a flush returns when its task is cancelled")
    func cancelledFlush() async throws {
        let tracker = ScriptedTracker(name: "alpha", [.stall])
        try await PipelineHarness([tracker]).run { pipeline, _ in
            pipeline.accept("A", 0..<3)
            let flush = Task { await pipeline.flush() }
            await tracker.waitForDeliveries(1)
            flush.cancel()
            await flush.value
            #expect(tracker.delivered.isEmpty)
            tracker.release()
        }
        #expect(tracker.delivered.count == 3)
    }

    @Test("a batch of another catalog goes to the trackers that this catalog names")
    func otherCatalog() async throws {
        let alpha = ScriptedTracker(name: "alpha")
        let beta = ScriptedTracker(name: "beta")
        let catalog = EventCatalog.scripted(["X": ["beta"], "Y": ["gamma"]])
        let events = [ScriptedEvent("X", number: 1), ScriptedEvent("Y", number: 2)]
        try await PipelineHarness([alpha, beta]).run { pipeline, _ in
            try await pipeline.submit(.scripted(catalog: catalog, events: events))
            await pipeline.flush()
            #expect(pipeline.statistics.unrouted == 1)
        }
        #expect(alpha.delivered.isEmpty)
        #expect(beta.deliveredNumbers == [1])
    }

    @Test("trackers that events name but nobody configured are listed, with their events")
    func unconfigured() {
        let catalog = EventCatalog.scripted(["A": ["Alpha", "gamma"], "B": ["Gamma", "delta"], "C": ["alpha"]])
        let unconfigured = catalog.unconfiguredTrackers(configured: ["ALPHA", "other"])
        #expect(unconfigured.map(\.name) == ["gamma", "delta"])
        #expect(unconfigured.map(\.events) == [["A", "B"], ["B"]])
        #expect(catalog.unusedTrackers(configured: ["ALPHA", "other"]) == ["other"])
    }
}
