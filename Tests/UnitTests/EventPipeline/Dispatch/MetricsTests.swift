import EventJournal
import EventModel
import EventPipeline
import EventQuarantine
import EventValidation
import Metrics
import MetricsTestKit
import PipelineTestSupport
import SluiceTesting
import Synchronization
import TestCases
import TestPromises
import Testing
import TrackerKit

@Suite("The metrics of a pipeline count", .timeLimit(.minutes(5)))
struct MetricsTests {
    let metrics = TestMetrics()

    private func total(_ label: String, tracker: String? = nil) throws -> Int64 {
        guard let tracker else { return metrics.counterTotal(label: label) }
        return try metrics.expectCounter(label, [("tracker", tracker)]).totalValue
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

    @Test("events that are accepted, delivered, retried and refused, and the duration of deliveries")
    func delivered() async throws {
        let alpha = ScriptedTracker(name: "alpha", [.failPartly([0, 2]), .refuse([1]), .stall])
        let beta = ScriptedTracker(name: "beta")
        let configuration = Pipeline.Configuration(delivery: .init(linger: .zero))
        let harness = try withMetricsFactory(metrics) {
            try PipelineHarness([alpha, beta], configuration: configuration)
        }
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
        let harness = try withMetricsFactory(metrics) {
            try PipelineHarness([tracker], configuration: configuration)
        }
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

    @Test("events that waited for room once they are accepted, and not if they are withdrawn")
    func waiting() async throws {
        let tracker = ScriptedTracker(name: "alpha")
        let configuration = Pipeline.Configuration(queue: .init(capacityInEvents: 2))
        let harness = try withMetricsFactory(metrics) {
            try PipelineHarness([tracker], configuration: configuration)
        }
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

    @Test("accepted events by name, in whatever order they come, and also those of another catalog")
    func acceptedByName() throws {
        let harness = try withMetricsFactory(metrics) { try PipelineHarness([]) }
        let mixed = ["A", "B", "B", "A", "AB"].enumerated().map { ScriptedEvent($1, number: $0) }
        let own = EventBatch.scripted(catalog: PipelineHarness.catalog, events: mixed)
        let others = EventCatalog.scripted(["Z": ["alpha"], "B": ["beta"]])
        let foreign = EventBatch.scripted(catalog: others, events: [.init("Z", number: 9), .init("B", number: 10)])
        for batch in [own, foreign] { _ = harness.pipeline.submit(batch) { _ in } }
        let counts = ["A", "B", "AB", "(unknown)"].map { name in
            metrics.counterTotal(label: "sluice_events_accepted_total", dimensions: [("event", name)])
        }
        #expect(counts == [2, 3, 1, 1])
    }

    @Test("rejected events by name and code, those that are not stored included, and no name that a sender made up")
    func rejectedByNameAndCode() throws {
        let validator = EventValidator(
            catalog: PipelineHarness.catalog,
            maximumEvents: 100,
            maximumRejections: 100,
            maximumExplained: 1
        )
        let events = Array(repeating: #"{"name":"A","payload":1}"#, count: 3) + [#"{"name":"made up"}"#, "7"]
        let checked = try validator.check("[" + events.joined(separator: ",") + "]")
        let harness = try withMetricsFactory(metrics) { try PipelineHarness([]) }
        harness.pipeline.quarantine([], of: checked.rejected, explained: [], source: "http", sender: "web")
        harness.pipeline.quarantine(checked.rejections, source: "a file")
        func count(_ event: String, _ code: String) -> Int64 {
            metrics.counterTotal(
                label: "sluice_events_rejected_total",
                dimensions: [("event", event), ("code", code)]
            )
        }
        let described = Int64(checked.rejections.count { $0.name == "A" })
        #expect(count("A", "wrong-type") == 3 + described)
        #expect(
            count("(unknown)", "unknown-event") == 1
                + Int64(checked.rejections.count { $0.violations[0].code == .unknownEvent })
        )
        #expect(try total("sluice_events_rejected_total") == Int64(checked.rejected.count + checked.rejections.count))
    }

    @Test("commits and syncs of the journal, and record the sizes of queues and journal when asked")
    func journal() async throws {
        let files = SimulatedFileSystem(seed: 1)
        let queue = Pipeline.Queue(capacityInEvents: 10, fullPolicy: .spill)
        let harness = try withMetricsFactory(metrics) {
            try PipelineHarness([ScriptedTracker(name: "alpha")], journal: files, queue: queue)
        }
        try await harness.runWithTime { pipeline in
            for number in 0..<3 { try await pipeline.submit(PipelineHarness.batch("A", number..<number + 1)) }
            await pipeline.flush()
            pipeline.recordGauges()
        }
        #expect(try metrics.expectTimer("sluice_journal_commit_duration_seconds").values.count == 3)
        #expect(try metrics.expectTimer("sluice_journal_sync_duration_seconds").values.count >= 3)
        #expect(try metrics.expectGauge("sluice_pipeline_ready").lastValue == 1)
        #expect(try metrics.expectGauge("sluice_tracker_lag_events", [("tracker", "alpha")]).lastValue == 0)
        #expect(try metrics.expectGauge("sluice_journal_segments").lastValue == 1)
        let bytes = try #require(try metrics.expectGauge("sluice_journal_bytes").lastValue)
        let room = try #require(try metrics.expectGauge("sluice_journal_room_bytes").lastValue)
        #expect(bytes > 0)
        #expect(Int(bytes + room) == JournalConfiguration.small().maximumBytes)
    }

    @Test("events that have no tracker")
    func unrouted() throws {
        let harness = try withMetricsFactory(metrics) { try PipelineHarness([]) }
        harness.pipeline.accept("AB", 0..<3)
        #expect(try total("sluice_events_accepted_total") == 3)
        #expect(try total("sluice_events_unrouted_total") == 3)
    }

    @Test("events that do not follow the plan, and how many of them the quarantine stores and loses")
    func rejected() async throws {
        let checked = try EventValidator(catalog: .sample).check("[1,2,3]")
        try await withMetricsFactory(metrics) {
            // A quarter of it has room for the first two.
            try await withQuarantine(capacityInBytes: 2_400) { quarantine, lines in
                let harness = try PipelineHarness([], quarantine: quarantine)
                harness.pipeline.quarantine(Array(checked.rejections.prefix(2)), source: "http")
                await quarantine.drain()
                harness.pipeline.quarantine(Array(checked.rejections.suffix(1)), source: "http")
                await quarantine.drain()
                let kept = try lines()
                #expect(kept.count == 2)
            }
        }
        #expect(try total("sluice_events_rejected_total") == 3)
        #expect(try total("sluice_quarantine_events_kept_total") == 2)
        #expect(try total("sluice_quarantine_events_lost_total") == 1)
        #expect(try total("sluice_events_accepted_total") == 0)
    }

    /// A journal with events that the tracker `alpha` has not got, and perhaps cannot get any more.
    private func journalWithBacklog(_ count: Int) async throws -> SimulatedFileSystem {
        let files = SimulatedFileSystem(seed: 1)
        let dead = ScriptedTracker(name: "alpha", Array(repeating: .fail, count: 1000))
        let queue = Pipeline.Queue(capacityInEvents: 10, fullPolicy: .spill)
        try await PipelineHarness([dead], journal: files, queue: queue).runWithTime { pipeline in
            for number in 0..<count { try await pipeline.submit(PipelineHarness.batch("A", number..<number + 1)) }
        }
        return files
    }

    /// Runs a pipeline over the journal until everything is settled.
    private func run(
        _ files: SimulatedFileSystem,
        _ tracker: some Tracker,
        further: Range<Int>,
        afterOpening change: () throws -> Void = {}
    ) async throws -> Pipeline {
        let queue = Pipeline.Queue(capacityInEvents: 10, fullPolicy: .spill)
        let harness = try withMetricsFactory(metrics) {
            try PipelineHarness([tracker], journal: files, queue: queue)
        }
        try change()
        try await harness.runWithTime { pipeline in
            for number in further { try await pipeline.submit(PipelineHarness.batch("A", number..<number + 1)) }
            await pipeline.flush()
        }
        return harness.pipeline
    }

    @Test("after a restart, events read back from the journal before they are settled", .promise("damaged-journal"))
    func backlog() async throws {
        let files = try await journalWithBacklog(50)
        let depths = Mutex<[Int64]>([])
        let tracker = ObservingTracker { delivery in
            let enqueued = try? total("sluice_tracker_events_enqueued_total", tracker: "alpha")
            let settled = try? total("sluice_tracker_events_settled_total", tracker: "alpha")
            depths.withLock { $0.append((enqueued ?? 0) - (settled ?? 0) - Int64(delivery.count)) }
        }
        let pipeline = try await run(files, tracker, further: 50..<60)
        #expect(depths.withLock { $0 }.count > 5)
        #expect(depths.withLock { $0 }.allSatisfy { $0 >= 0 })
        let counted = try totals(of: "alpha")
        #expect(counted["events_enqueued"] == 60)
        #expect(counted["events_settled"] == 60)
        #expect(counted["events_delivered"] == 60)
        #expect(pipeline.statistics[tracker: "alpha"]?.enqueued == 60)
        #expect(try total("sluice_events_accepted_total") == 10)
    }

    @Test(
        "events that damage took as dropped, also those of before a restart",
        .promise("damaged-journal"),
        arguments: ["lines", "a header", "a segment that is gone", "a segment that cannot be read"]
    )
    func damaged(what: String) async throws {
        let files = try await journalWithBacklog(50)
        let name = try #require(files.names().compactMap { SegmentName($0) }.sorted().dropFirst().first).text
        let tracker = ScriptedTracker(name: "alpha")
        let pipeline = try await run(files, tracker, further: 50..<60) {
            switch what {
            case "lines": files[name]?[70] ^= 1
            case "a header": files[name]?[10] ^= 1
            case "a segment that is gone": try files.remove(name)
            default: files.withState { _ = $0.unreadable.insert(name) }
            }
        }
        let missing = 60 - tracker.deliveredNumbers.count
        #expect(missing > 0)
        let counted = try totals(of: "alpha")
        #expect(counted["events_enqueued"] == 60)
        #expect(counted["events_settled"] == 60)
        #expect(counted["events_dropped"] == Int64(missing))
        let statistics = try #require(pipeline.statistics[tracker: "alpha"])
        #expect(statistics.dropped == missing)
        #expect(statistics.pendingEvents == 0)
    }
}

/// Delivers everything, and looks at something before.
private struct ObservingTracker: Tracker {
    let name = "alpha"
    let look: @Sendable (Delivery) -> Void

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        look(delivery)
        return .delivered
    }
}
