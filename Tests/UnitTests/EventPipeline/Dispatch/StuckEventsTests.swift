import EventJournal
import EventPipeline
import PipelineTestSupport
import SluiceTesting
import TestPromises
import Testing
import TrackerKit

@Suite("Events that a tracker knows to be stuck", .timeLimit(.minutes(5)))
struct StuckEventsTests {
    @Test(
        "single events that a tracker knows to be stuck are parked, first after ten seconds and then at once",
        .promise("broken-table")
    )
    func stuckEvents() async throws {
        let tracker = StuckTracker { $0.number % 5 == 0 }
        try await withQuarantine { quarantine, lines in
            let harness = try PipelineHarness([tracker], quarantine: quarantine)
            try await harness.runWithTime { pipeline in
                pipeline.accept("A", 0..<6)
                await pipeline.flush()
                let first = try lines()
                #expect(first.count == 2)
                let calls = tracker.calls
                for number in 6..<40 {
                    pipeline.accept("A", number..<number + 1)
                    pipeline.accept("AB", 1000 + number * 5 + 1..<1000 + number * 5 + 2)
                    await pipeline.flush()
                }
                // None of them was tried twice, and nothing was sent in parts.
                #expect(tracker.calls <= calls + 2 * 34)
                let all = try lines()
                #expect(all.count == 8)
            }
            let statistics = try #require(harness.pipeline.statistics[tracker: "alpha"])
            #expect(statistics.parked == 8)
            #expect(statistics.pendingEvents == 0)
            #expect(statistics.brokenEvents.isEmpty)
            #expect(tracker.delivered.value.sorted().filter { $0 < 1000 } == (0..<40).filter { $0 % 5 != 0 })
        }
    }

    @Test("each name's stuck events wait ten seconds from their own first failure", .promise("broken-table"))
    func patienceOfEachName() async throws {
        let tracker = StuckTracker { $0.number >= 100 }
        try await withQuarantine { quarantine, lines in
            let configuration = Pipeline.Configuration(delivery: .init(linger: .zero))
            let harness = try PipelineHarness([tracker], configuration: configuration, quarantine: quarantine)
            try await harness.run { pipeline, clock in
                func wait(forLines count: Int) async throws {
                    while try lines().count < count {
                        try Task.checkCancellation()
                        clock.advance(by: .milliseconds(100))
                        await Task.yield()
                    }
                }
                func submit(_ events: ScriptedEvent...) async throws {
                    try await pipeline.submit(.scripted(catalog: PipelineHarness.catalog, events: events))
                }
                try await submit(ScriptedEvent("A", number: 0), ScriptedEvent("A", number: 100))
                await tracker.delivered.wait { $0 == [0] }
                clock.advance(by: .seconds(8))
                try await submit(ScriptedEvent("A", number: 1), ScriptedEvent("AB", number: 101))
                try await wait(forLines: 1)
                try await wait(forLines: 2)
                #expect(clock.now.offset >= .seconds(18))
                let kept = try lines()
                #expect(kept[0].contains(ScriptedEvent("A", number: 100).canonicalJSON))
            }
            #expect(harness.pipeline.statistics[tracker: "alpha"]?.parked == 2)
        }
    }

    @Test(
        "events that were stuck are not parked while the tracker delivers nothing for another reason",
        .promise("outage")
    )
    func staleEvidence() async throws {
        let tracker = StuckTracker { $0.number >= 100 }
        try await withQuarantine { quarantine, lines in
            let configuration = Pipeline.Configuration(delivery: .init(linger: .zero))
            let harness = try PipelineHarness([tracker], configuration: configuration, quarantine: quarantine)
            try await harness.run { pipeline, clock in
                func wait(until condition: () throws -> Bool) async throws {
                    while try !condition() {
                        try Task.checkCancellation()
                        clock.advance(by: .milliseconds(100))
                        await Task.yield()
                    }
                }
                // One delivery, so that others are accepted when it is not.
                let events = [ScriptedEvent("A", number: 0), ScriptedEvent("A", number: 100)]
                try await pipeline.submit(.scripted(catalog: PipelineHarness.catalog, events: events))
                await tracker.delivered.wait { $0 == [0] }
                tracker.failure.update {
                    $0 = TrackerError(code: .misconfigured, message: "The login is rejected.", isRetryable: false)
                }
                let calls = tracker.calls
                try await wait { tracker.calls >= calls + 100 }
                let kept = try lines()
                #expect(kept.isEmpty)
                tracker.failure.update { $0 = nil }
                let end = clock.now.offset
                pipeline.accept("AB", 1..<2)
                try await wait { try lines().count == 1 }
                #expect(clock.now.offset >= end + .seconds(10))
            }
        }
    }

    private struct FullDisk: CodedFailure {
        let failureCode: String? = "53100"
    }

    @Test("an event that fails as in an outage when it is tried alone is parked once others are delivered")
    func alone() async throws {
        let full = TrackerError(code: .failed, message: "A is full.", isRetryable: true, underlying: FullDisk())
        let down = TrackerError(code: .unavailable, message: "It is full.", isRetryable: true, underlying: FullDisk())
        let tracker = StuckTracker(reason: full, alone: down) { $0.number >= 1000 }
        try await withQuarantine { quarantine, lines in
            let configuration = Pipeline.Configuration(delivery: .init(linger: .zero))
            let harness = try PipelineHarness([tracker], configuration: configuration, quarantine: quarantine)
            try await harness.run { pipeline, clock in
                let events = [ScriptedEvent("A", number: 0), ScriptedEvent("A", number: 1000)]
                try await pipeline.submit(.scripted(catalog: PipelineHarness.catalog, events: events))
                await tracker.delivered.wait { $0 == [0] }
                var (calls, number) = (tracker.calls, 1)
                while try lines().isEmpty {
                    try Task.checkCancellation()
                    clock.advance(by: .milliseconds(100))
                    await Task.yield()
                    // Another event comes only after an attempt without any.
                    guard tracker.calls > calls + 1, tracker.delivered.value.count == number else { continue }
                    calls = tracker.calls
                    pipeline.accept("AB", number..<number + 1)
                    number += 1
                }
            }
            #expect(harness.pipeline.statistics[tracker: "alpha"]?.parked == 1)
        }
    }

    @Test(
        "events that fail one by one show together that none of their name is accepted, unless others of it are",
        .promise("broken-table"),
        arguments: [false, true]
    )
    func oneByOne(acceptsOthers: Bool) async throws {
        let tracker = StuckTracker { $0.number >= 1000 }
        try await withQuarantine { quarantine, lines in
            let configuration = Pipeline.Configuration(delivery: .init(linger: .zero))
            let harness = try PipelineHarness([tracker], configuration: configuration, quarantine: quarantine)
            try await harness.run { pipeline, clock in
                func submit(_ events: ScriptedEvent...) async throws {
                    try await pipeline.submit(.scripted(catalog: PipelineHarness.catalog, events: events))
                }
                for number in 0..<6 {
                    // Each with another event, which shows that the tracker accepts something.
                    try await submit(ScriptedEvent("A", number: 1000 + number), ScriptedEvent("AB", number: number))
                    // The first one waits; from then on the clock stands.
                    while try lines().isEmpty {
                        try Task.checkCancellation()
                        clock.advance(by: .milliseconds(100))
                        await Task.yield()
                    }
                    await pipeline.flush()
                    if acceptsOthers { try await submit(ScriptedEvent("A", number: 100 + number)) }
                    await pipeline.flush()
                }
                let kept = try lines()
                #expect(kept.count == 6)
                let broken = pipeline.statistics[tracker: "alpha"]?.brokenEvents
                #expect(broken?.keys.sorted() == (acceptsOthers ? [] : ["A"]))
            }
        }
    }

    @Test(
        "the events behind those that are stuck are delivered with the next attempt, within ten seconds",
        .promise("broken-table")
    )
    func behindStuckEvents() throws {
        let alpha: TrackerIndex = 0
        let harness = DispatchStateHarness(.small())
        harness.start()
        harness.submit(2, "A")
        let stuck = DeliveryOutcome.Stuck(positions: [0], reason: ScriptedTracker.outage, isWholeName: false)
        let outcome = DeliveryOutcome(
            retry: .init(positions: [0], reason: ScriptedTracker.outage, stuck: [stuck])
        )
        harness.settle(alpha, try #require(harness.delivery(alpha)), outcome)
        harness.submit(1, "AB")
        harness.now = .seconds(1)
        let second = try #require(harness.delivery(alpha))
        #expect(second.map(\.name) == ["A", "AB"])
        harness.settle(alpha, second, outcome)
        while harness.now < .seconds(9) {
            harness.now += .milliseconds(500)
            // What is delivered meanwhile does not put off the search.
            harness.submit(1, "AB")
            if let delivery = harness.delivery(alpha) { harness.settle(alpha, delivery, outcome) }
        }
        // However long the next pause would be, the search begins in time.
        harness.now = .seconds(10)
        guard case .diagnose(let rest, _, _) = harness.step(alpha) else {
            Issue.record("there is no diagnosis")
            return
        }
        #expect(rest.first { _ in true }?.name == "A")
    }
}
