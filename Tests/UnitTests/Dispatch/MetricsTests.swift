import EventModel
import EventPipeline
import Metrics
import MetricsTestKit
import PipelineTestKit
import Testing

@Suite("The metrics of a pipeline count", .timeLimit(.minutes(1)))
struct MetricsTests {
    let metrics = TestMetrics()

    private func total(_ label: String, tracker: String? = nil) throws -> Int64 {
        try metrics.expectCounter(label, tracker.map { [("tracker", $0)] } ?? []).totalValue
    }

    /// What was counted for a tracker, by the middle of the counter's name; what is zero is left out.
    private func totals(of tracker: String) throws -> [String: Int64] {
        let names = [
            "events_enqueued", "events_settled", "events_delivered", "events_refused", "events_dropped",
            "events_retried", "deliveries",
        ]
        let counts = try names.map { ($0, try total("sluice_tracker_\($0)_total", tracker: tracker)) }
        return Dictionary(uniqueKeysWithValues: counts).filter { $0.value != 0 }
    }

    @Test("events that are accepted and delivered, retried and refused, and how long deliveries take")
    func delivered() async throws {
        let alpha = ScriptedTracker(name: "alpha", [.failPartly([0, 2]), .refuse([1]), .stall])
        let beta = ScriptedTracker(name: "beta")
        let configuration = Pipeline.Configuration(delivery: .init(linger: .zero))
        let harness = withMetricsFactory(metrics) { PipelineHarness([alpha, beta], configuration: configuration) }
        try await harness.run { pipeline, clock in
            pipeline.accept("A", 0..<5)
            await clock.waitForSleeper(for: .milliseconds(100))
            clock.advance(by: .milliseconds(100))
            await pipeline.flush()
            pipeline.accept("AB", 5..<6)
            await alpha.waitForDeliveries(3)
            clock.advance(by: .milliseconds(250))
            alpha.release()
            await pipeline.flush()
        }
        #expect(try total("sluice_events_accepted_total") == 6)
        #expect(try total("sluice_events_unrouted_total") == 0)
        #expect(try total("sluice_events_rejected_total") == 0)
        #expect(
            try totals(of: "alpha") == [
                "events_enqueued": 6, "events_settled": 6, "events_delivered": 5, "events_refused": 1,
                "events_retried": 2, "deliveries": 3,
            ]
        )
        #expect(
            try totals(of: "beta") == [
                "events_enqueued": 1, "events_settled": 1, "events_delivered": 1, "deliveries": 1,
            ]
        )
        let durations = try metrics.expectTimer("sluice_tracker_delivery_duration_seconds", [("tracker", "alpha")])
        #expect(durations.values == [0, 0, 250_000_000])
    }

    @Test("events that a full queue drops", arguments: [FullPolicy.dropNewest, .dropOldest])
    func dropped(policy: FullPolicy) async throws {
        let tracker = ScriptedTracker(name: "alpha")
        let configuration = Pipeline.Configuration(queue: .init(capacityInEvents: 2, fullPolicy: policy))
        let harness = withMetricsFactory(metrics) { PipelineHarness([tracker], configuration: configuration) }
        harness.pipeline.accept("A", 0..<2)
        harness.pipeline.accept("A", 2..<4)
        #expect(
            try totals(of: "alpha") == ["events_enqueued": 4, "events_settled": 2, "events_dropped": 2]
        )
        try await harness.run { pipeline, _ in await pipeline.flush() }
        #expect(
            try totals(of: "alpha") == [
                "events_enqueued": 4, "events_settled": 4, "events_dropped": 2, "events_delivered": 2, "deliveries": 1,
            ]
        )
        #expect(try total("sluice_events_accepted_total") == 4)
    }

    @Test("events that wait for room once they are taken, and not when they are withdrawn")
    func waiting() async throws {
        let tracker = ScriptedTracker(name: "alpha")
        let configuration = Pipeline.Configuration(queue: .init(capacityInEvents: 2))
        let harness = withMetricsFactory(metrics) { PipelineHarness([tracker], configuration: configuration) }
        harness.pipeline.accept("A", 0..<2)
        let taken = harness.pipeline.submit(PipelineHarness.batch("A", 2..<3)) { _ in }
        let withdrawn = try #require(harness.pipeline.submit(PipelineHarness.batch("A", 3..<4)) { _ in })
        #expect(taken != nil)
        harness.pipeline.withdraw(withdrawn)
        #expect(try total("sluice_events_accepted_total") == 2)
        try await harness.run { pipeline, _ in
            await tracker.waitForDelivered(2)
            await pipeline.flush()
        }
        #expect(try total("sluice_events_accepted_total") == 3)
        #expect(try totals(of: "alpha")["events_enqueued"] == 3)
    }

    @Test("events that have no tracker")
    func unrouted() throws {
        let harness = withMetricsFactory(metrics) { PipelineHarness([]) }
        harness.pipeline.accept("AB", 0..<3)
        #expect(try total("sluice_events_accepted_total") == 3)
        #expect(try total("sluice_events_unrouted_total") == 3)
    }

    @Test("events that do not follow the plan, and what the quarantine keeps of them and loses")
    func rejected() async throws {
        let checked = try EventValidator.sample().check("[1,2,3]")
        try await withMetricsFactory(metrics) {
            // Three quarters of it have room for the first two.
            try await withQuarantine(capacityInBytes: 668) { quarantine, lines in
                let harness = PipelineHarness([], quarantine: quarantine)
                harness.pipeline.quarantine(Array(checked.rejections.prefix(2)), source: "http")
                harness.pipeline.quarantine(Array(checked.rejections.suffix(1)), source: "http")
                let kept = try lines()
                #expect(kept.count == 2)
            }
        }
        #expect(try total("sluice_events_rejected_total") == 3)
        #expect(try total("sluice_quarantine_events_kept_total") == 2)
        #expect(try total("sluice_quarantine_events_lost_total") == 1)
        #expect(try total("sluice_events_accepted_total") == 0)
    }
}
