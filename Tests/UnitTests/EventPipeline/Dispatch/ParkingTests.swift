import EventJournal
import EventPipeline
import PipelineTestSupport
import SluiceTesting
import TestPromises
import Testing
import TrackerKit

@Suite("Parking what cannot be delivered", .timeLimit(.minutes(5)))
struct ParkingTests {
    /// With the longest pause of the retry policy, 10 s, so many attempts take an hour.
    private static let attemptsInAnHour = 450

    @Test(
        "events of a broken table are parked while others are delivered, first after a time and then at once",
        .promise("broken-table"),
        arguments: [false, true]
    )
    func brokenTable(_ stopsAtFirstFailure: Bool) async throws {
        let tracker = TableTracker(broken: ["A"], stopsAtFirstFailure: stopsAtFirstFailure)
        try await withQuarantine { quarantine, lines in
            let harness = try PipelineHarness([tracker], quarantine: quarantine)
            try await harness.runWithTime { pipeline in
                // In this order, so that all of these were tried when those that work are delivered.
                pipeline.accept("A", 2..<5)
                pipeline.accept("AB", 0..<2)
                await tracker.waitForDelivered(2)
                pipeline.accept("AB", 5..<7)
                await pipeline.flush()
                #expect(tracker.delivered.sorted() == [0, 1, 5, 6])
                let kept = try lines()
                #expect(kept.count == 3)
                // The table is known to be broken: no call with others in it holds its events.
                let calls = tracker.state.value.calls.count
                pipeline.accept("A", 7..<8)
                pipeline.accept("AB", 8..<9)
                await pipeline.flush()
                #expect(tracker.state.value.calls[calls...].allSatisfy { $0.count == 1 })
            }
            let statistics = try #require(harness.pipeline.statistics[tracker: "alpha"])
            #expect(statistics.parked == 4)
            #expect(statistics.delivered == 5)
            #expect(statistics.pendingEvents == 0)
            #expect(statistics.brokenEvents == ["A": TableTracker.reason.description])
            let lines = try lines()
            #expect(lines.allSatisfy { $0.contains(#""code":"parked""#) && $0.contains("There is no such table.") })
            let events = [2, 3, 4, 7].map { ScriptedEvent("A", number: $0).canonicalJSON }
            #expect(zip(lines, events).allSatisfy { $0.hasSuffix(#","event":\#($1)}"#) })
        }
    }

    @Test(
        "the search for the failing events starts after ten seconds, whatever the error",
        .promise("broken-table"),
        arguments: [ScriptedTracker.outage, TableTracker.reason]
    )
    func patience(failure: TrackerError) throws {
        let (alpha, seconds): (TrackerIndex, Int) = (0, 10)
        let harness = DispatchStateHarness(.small())
        harness.start()
        harness.submit(1, "A")
        harness.submit(1, "AB")
        let delivery = try #require(harness.delivery(alpha))
        harness.now = .seconds(10)
        harness.settle(alpha, delivery, .retry(failure))
        harness.now = .seconds(9 + seconds)
        let second = try #require(harness.delivery(alpha))
        harness.settle(alpha, second, .retry(failure))
        harness.now = .seconds(10 + seconds)
        guard case .diagnose(let rest, _, _) = harness.step(alpha) else {
            Issue.record("there is no diagnosis")
            return
        }
        #expect(rest.count == 2)
        // Progress begins a new count.
        let partly = DeliveryOutcome(retry: .init(positions: [0], reason: failure))
        harness.settle(alpha, rest, partly)
        harness.now = .seconds(15 + seconds)
        #expect(harness.delivery(alpha)?.count == 1)
    }

    @Test("a probe shows that the table is repaired, and its events are delivered again", .promise("broken-table"))
    func repair() async throws {
        let tracker = TableTracker(broken: ["A"])
        try await withQuarantine { quarantine, lines in
            let harness = try PipelineHarness([tracker], quarantine: quarantine)
            try await harness.runWithTime { pipeline in
                pipeline.accept("A", 0..<1)
                pipeline.accept("AB", 1..<2)
                await tracker.waitForDelivered(1)
                pipeline.accept("AB", 2..<3)
                await pipeline.flush()
                tracker.state.update { $0.broken = [] }
                var number = 3
                while tracker.delivered.count < 3 {
                    try Task.checkCancellation()
                    pipeline.accept("A", number..<number + 1)
                    number += 1
                    await pipeline.flush()
                }
                #expect(pipeline.statistics[tracker: "alpha"]?.brokenEvents.isEmpty == true)
                pipeline.accept("A", number..<number + 3)
                await pipeline.flush()
                #expect(tracker.delivered.suffix(3) == [number, number + 1, number + 2])
                let kept = try lines()
                #expect(kept.count == number - 3)
            }
        }
    }

    @Test(
        "one event that always fails is parked alone where its tracker takes single events, and the others are delivered",
        .promise("broken-table")
    )
    func poison() async throws {
        let tracker = PoisonTracker(poison: [1, 4])
        try await withQuarantine { quarantine, lines in
            let harness = try PipelineHarness([tracker], quarantine: quarantine)
            try await harness.runWithTime { pipeline in
                pipeline.accept("A", 0..<7)
                pipeline.accept("AB", 7..<8)
                await pipeline.flush()
            }
            #expect(tracker.delivered.value.sorted() == [0, 2, 3, 5, 6, 7])
            #expect(harness.pipeline.statistics[tracker: "alpha"]?.brokenEvents.isEmpty == true)
            let lines = try lines()
            #expect(lines.count == 2)
            #expect(lines.allSatisfy { $0.contains("PoisonTracker") })
        }
    }

    @Test(
        "exactly the events that always fail are parked, even if they are adjacent or have one name",
        .promise("broken-table")
    )
    func neighbours() async throws {
        let tracker = PoisonTracker(poison: [0, 1, 2, 9, 19])
        try await withQuarantine { quarantine, lines in
            let harness = try PipelineHarness([tracker], quarantine: quarantine)
            try await harness.runWithTime { pipeline in
                pipeline.accept("A", 0..<20)
                await pipeline.flush()
            }
            #expect(tracker.delivered.value.sorted() == (0..<20).filter { ![0, 1, 2, 9, 19].contains($0) })
            #expect(harness.pipeline.statistics[tracker: "alpha"]?.brokenEvents.isEmpty == true)
            #expect(try lines().count == 5)
        }
    }

    @Test(
        "an outage parks nothing, however long it takes, and afterwards all events are delivered in order",
        .promise("outage")
    )
    func outage() async throws {
        let tracker = TableTracker()
        tracker.state.update { $0.isDown = true }
        try await withQuarantine { quarantine, lines in
            let harness = try PipelineHarness([tracker], quarantine: quarantine)
            try await harness.runWithTime { pipeline in
                for number in 0..<20 { pipeline.accept(number % 3 == 0 ? "AB" : "A", number..<number + 1) }
                await tracker.waitForCalls(Self.attemptsInAnHour * 2)
                tracker.state.update { $0.isDown = false }
                await pipeline.flush()
            }
            // But for those of the attempt during which it came back.
            let order = tracker.delivered
            #expect(order.sorted() == Array(0..<20))
            #expect(zip(order, order.dropFirst()).count { $0 > $1 } <= 2)
            #expect(try lines().isEmpty)
        }
    }

    @Test(
        "an event that a tracker refuses without asking its destination is no evidence against an outage",
        .promise("outage")
    )
    func refusedInOutage() async throws {
        let tracker = TableTracker()
        tracker.state.update { ($0.isDown, $0.refused) = (true, [3]) }
        try await withQuarantine { quarantine, lines in
            let harness = try PipelineHarness([tracker], quarantine: quarantine)
            try await harness.runWithTime { pipeline in
                pipeline.accept("A", 0..<2)
                await tracker.waitForCalls(1)
                // They come to the others with the first diagnosis.
                pipeline.accept("AB", 2..<5)
                await tracker.waitForCalls(Self.attemptsInAnHour)
                tracker.state.update { $0.isDown = false }
                await pipeline.flush()
            }
            #expect(tracker.delivered.sorted() == [0, 1, 2, 4])
            #expect(try lines().count == 1)
            #expect(harness.pipeline.statistics[tracker: "alpha"]?.refused == 1)
            #expect(harness.pipeline.statistics[tracker: "alpha"]?.parked == 0)
        }
    }

    @Test("no delivery exceeds its limits, however much has accumulated during an outage")
    func limits() async throws {
        let tracker = TableTracker()
        tracker.state.update { $0.isDown = true }
        let files = SimulatedFileSystem(seed: 1)
        try await withQuarantine { quarantine, lines in
            let queue = Pipeline.Queue(capacityInEvents: 21, fullPolicy: .spill)
            let harness = try PipelineHarness([tracker], journal: files, queue: queue, quarantine: quarantine)
            try await harness.runWithTime { pipeline in
                for number in 0..<40 { try await pipeline.submit(PipelineHarness.batch("A", number..<number + 1)) }
                await tracker.waitForCalls(Self.attemptsInAnHour)
                tracker.state.update { $0.isDown = false }
                await pipeline.flush()
            }
            // In their order, but where it came back in the middle of a diagnosis.
            #expect(tracker.delivered.sorted() == Array(0..<40))
            #expect(tracker.state.value.mostEvents == 7)
        }
    }

    @Test("under a new plan, a broken table is tried at once, and one that the plan does not name is forgotten")
    func newPlan() async throws {
        let tracker = TableTracker(broken: ["A"])
        try await withQuarantine { quarantine, lines in
            let configuration = Pipeline.Configuration(delivery: .init(linger: .zero))
            let harness = try PipelineHarness([tracker], configuration: configuration, quarantine: quarantine)
            let isBroken = { harness.pipeline.statistics[tracker: "alpha"]?.brokenEvents.isEmpty == false }
            try await harness.run { pipeline, clock in
                pipeline.accept("A", 0..<1)
                pipeline.accept("AB", 1..<2)
                await tracker.state.wait { !$0.calls.isEmpty }
                // If that was delivered with the first call, this is needed to tell a broken table from an outage.
                pipeline.accept("AB", 2..<3)
                while !isBroken() {
                    try Task.checkCancellation()
                    clock.advance(by: .seconds(1))
                    await Task.yield()
                }
                // From here on the clock stands, so no probe is due.
                pipeline.accept("A", 3..<4)
                await pipeline.flush()
                let parked = try lines().count
                #expect(parked == 2)
                let known = tracker.state.value.calls.count
                try pipeline.replacePlan(with: .scripted(["A": ["alpha"], "AB": ["alpha"]]))
                pipeline.accept("A", 4..<5)
                await pipeline.flush()
                #expect(tracker.state.value.calls[known...] == [["A"]])
                #expect(isBroken())
                try pipeline.replacePlan(with: .scripted(["A": ["beta"], "AB": ["alpha"]]))
                pipeline.accept("AB", 5..<6)
                await pipeline.flush()
                #expect(!isBroken())
            }
            #expect(tracker.delivered == [1, 2, 5])
            #expect(try lines().count == 3)
        }
    }

    @Test("a probe follows the events of the same delivery that can be delivered", .promise("broken-table"))
    func probeComesLast() async throws {
        let tracker = TableTracker(broken: ["A"])
        try await withQuarantine { quarantine, _ in
            let harness = try PipelineHarness([tracker], quarantine: quarantine)
            try await harness.runWithTime { pipeline in
                func submitBoth(_ number: Int) async throws {
                    let events = [ScriptedEvent("A", number: number), ScriptedEvent("AB", number: number + 1)]
                    try await pipeline.submit(.scripted(catalog: PipelineHarness.catalog, events: events))
                    await pipeline.flush()
                }
                pipeline.accept("A", 0..<1)
                pipeline.accept("AB", 1..<2)
                await tracker.waitForDelivered(1)
                try await submitBoth(2)
                #expect(pipeline.statistics[tracker: "alpha"]?.brokenEvents.isEmpty == false)
                let known = tracker.state.value.calls.count
                var number = 4
                while !tracker.state.value.calls[known...].contains(["A"]) {
                    try Task.checkCancellation()
                    try await submitBoth(number)
                    number += 2
                }
            }
            #expect(tracker.state.value.calls.suffix(2) == [["AB"], ["A"]])
        }
    }

    @Test(
        "if only events of the broken table arrive, nothing waits behind them, and they are not parked",
        .promise("outage")
    )
    func alone() async throws {
        let tracker = TableTracker(broken: ["A"])
        try await withQuarantine { quarantine, lines in
            let harness = try PipelineHarness([tracker], quarantine: quarantine)
            try await harness.runWithTime { pipeline in
                pipeline.accept("A", 0..<3)
                await tracker.waitForCalls(Self.attemptsInAnHour)
                let kept = try lines()
                #expect(kept.isEmpty)
                #expect(pipeline.statistics[tracker: "alpha"]?.status == .blocked)
                pipeline.accept("AB", 3..<4)
                await pipeline.flush()
            }
            #expect(tracker.delivered == [3])
            #expect(try lines().count == 3)
        }
    }

    @Test(
        "events that are needed to tell a broken table from an outage come from the journal, too",
        .promise("broken-table")
    )
    func companyFromJournal() async throws {
        let tracker = TableTracker(broken: ["A"])
        let files = SimulatedFileSystem(seed: 1)
        try await withQuarantine { quarantine, lines in
            let queue = Pipeline.Queue(capacityInEvents: 21, fullPolicy: .spill)
            let harness = try PipelineHarness([tracker], journal: files, queue: queue, quarantine: quarantine)
            try await harness.runWithTime { pipeline in
                for number in 0..<40 {
                    try await pipeline.submit(PipelineHarness.batch(number < 20 ? "A" : "AB", number..<number + 1))
                }
                await pipeline.flush()
            }
            #expect(tracker.delivered == Array(20..<40))
            #expect(try lines().count == 20)
            #expect(harness.pipeline.statistics[tracker: "alpha"]?.pendingEvents == 0)
        }
        // What was parked is settled: nothing comes again after a restart.
        let again = TableTracker()
        try await PipelineHarness([again], journal: files, queue: .init(fullPolicy: .spill)).runWithTime { pipeline in
            try await pipeline.submit(PipelineHarness.batch("A", 40..<41))
            await pipeline.flush()
        }
        #expect(again.delivered == [40])
    }

    @Test("without a quarantine, nothing is parked", .promise("full-quarantine"))
    func discarding() async throws {
        let tracker = TableTracker(broken: ["A"])
        let harness = try PipelineHarness([tracker])
        // Both are in the first delivery.
        harness.pipeline.accept("A", 0..<3)
        harness.pipeline.accept("AB", 3..<5)
        try await harness.runWithTime { _ in
            await tracker.waitForCalls(Self.attemptsInAnHour)
        }
        #expect(harness.pipeline.statistics[tracker: "alpha"]?.parked == 0)
        #expect(harness.pipeline.statistics[tracker: "alpha"]?.pendingEvents == 3)
    }

    @Test(
        "if the quarantine is full, the tracker stalls and reports why, and nothing is lost",
        .promise("full-quarantine")
    )
    func fullQuarantine() async throws {
        let tracker = TableTracker(broken: ["A"])
        try await withQuarantine(capacityInBytes: 1_000) { quarantine, lines in
            let harness = try PipelineHarness([tracker], quarantine: quarantine)
            try await harness.runWithTime { pipeline in
                pipeline.accept("A", 0..<50)
                var next = 50
                var statistics = pipeline.statistics[tracker: "alpha"]
                // The reason lasts until the next attempt, which needs company to find it again.
                while statistics?.reason?.contains("The quarantine has 0 bytes") != true {
                    try Task.checkCancellation()
                    if tracker.delivered.count == next - 50 {
                        pipeline.accept("AB", next..<next + 1)
                        next += 1
                    }
                    await Task.yield()
                    statistics = pipeline.statistics[tracker: "alpha"]
                }
                #expect(statistics?.status == .blocked)
                #expect(statistics?.reason?.contains("quarantine.capacityInBytes") == true)
                #expect(statistics?.parked == 0)
                #expect((statistics?.pendingEvents ?? 0) >= 50)
                tracker.state.update { $0.broken = [] }
                await pipeline.flush()
                #expect(tracker.delivered.sorted() == Array(0..<next))
            }
            #expect(try lines().isEmpty)
            #expect(harness.pipeline.statistics[tracker: "alpha"]?.parked == 0)
        }
    }
}
