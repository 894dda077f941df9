import EventModel
import EventQuarantine
import EventValidation
import Loader
import Logging
import PipelineTestSupport
import SluiceKafka
import SluiceTesting
import Synchronization
import TestCases
import Testing
import TrackerKit

@Suite("Loading a batch")
struct BatchLoadingTests {
    /// A tracker that stores no positions.
    private final class PlainTracker: Tracker {
        let name = "console"
        private let received = Mutex<[EventID]>([])
        private let underWay = Atomic<Int>(0)
        private let overlaps = Atomic<Bool>(false)

        var ids: [EventID] { received.withLock { $0 } }
        /// Whether two deliveries were under way at once.
        var hasOverlapped: Bool { overlaps.load(ordering: .relaxed) }

        func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
            if underWay.wrappingAdd(1, ordering: .relaxed).newValue > 1 { overlaps.store(true, ordering: .relaxed) }
            // Others have time to begin.
            for _ in 0..<1000 where !hasOverlapped { await Task.yield() }
            received.withLock { $0 += delivery.map(\.id) }
            underWay.subtract(1, ordering: .relaxed)
            return .delivered
        }
    }

    private typealias Load = PartitionLoad<ConsumedRecord>

    private static let now: Int64 = 1_700_000_000_000
    private let partition = LoadedPartition(loader: "l", cluster: "c", topic: "t", number: 0)
    private let tracker = PlainTracker()
    private let files = HookedFileSystem(SimulatedFileSystem(seed: 1))
    private let loading: BatchLoading

    init() throws {
        let now = { @Sendable in Timestamp(microseconds: Self.now * 1000) }
        loading = BatchLoading(
            into: tracker,
            catalog: .sample,
            quarantine: try Quarantine(
                verdicts: SimulatedFileSystem(seed: 2),
                refusals: files,
                capacities: (1 << 20, 1 << 20),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                now: now
            ),
            owner: "test",
            limits: LoadLimits(),
            clock: RelativeClock(ManualClock()),
            now: now
        )
    }

    /// Loads records that Kafka has at these offsets.
    private func load(_ records: [ConsumedRecord]) async throws -> BatchReport {
        let first = try #require(batch(from: records))
        return await loading.load(first, in: partition)
    }

    private func batch(from records: [ConsumedRecord]) -> Load.Batch? {
        var load = Load(partition, limits: LoadLimits())
        _ = load.nextOperation(now: .zero)
        load.located(records[0].offset, now: .zero)
        _ = load.nextOperation(now: .zero)
        let position = StoredPosition(nextOffset: records[0].offset, lastRecord: nil)
        load.claimed(.granted(epoch: 1, position), now: .zero)
        _ = load.nextOperation(now: .zero)
        load.compared(.matches, now: .zero)
        for record in records where load.receive(record) != .taken(skipped: nil) { _ = load.receive(record) }
        guard case .load(let batch) = load.nextOperation(now: .zero) else { return nil }
        return batch
    }

    private func record(
        _ offset: Int64,
        _ value: String = #"{"name":"Ping","time":"2024-01-01T00:00:00Z","payload":{}}"#,
        age: Duration = .zero,
        otherPlan: Bool = false
    ) -> ConsumedRecord {
        let header = SourceRecord.Header(name: "ce_sluiceplan", value: Array("another".utf8))
        return ConsumedRecord(
            SourceRecord(offset: offset, key: nil, value: Array(value.utf8), headers: otherPlan ? [header] : []),
            timestamp: Self.now - Int64(age / .milliseconds(1))
        )
    }

    @Test(
        "a refused record that could not be stored is stored by the next attempt, and only then is the batch committed"
    )
    func fullDisk() async throws {
        let records = [record(0), record(1, "{}")]
        files.failWrites(true)
        let failed = try await load(records)
        #expect(failed.words == "failed")
        files.failWrites(false)
        let report = try await load(records)
        #expect(report.words == "committed before 2")
        #expect(report.refused == 1)
        #expect(report.loaded == 1)
    }

    @Test(
        "an invalid record of another plan waits until it is five minutes old; one from the far future does not wait",
        arguments: [(-301, false), (-299, true), (0, true), (299, true), (301, false)]
    )
    func otherPlan(age: Int, waits: Bool) async throws {
        let report = try await load([
            record(5), record(6, "{}", age: .seconds(age), otherPlan: true), record(7),
        ])
        #expect(report.words == (waits ? "committed before 6, then waits" : "committed before 8"))
        #expect(report.refused == (waits ? 0 : 1))
    }

    @Test(
        "a value that is no single event is refused at its own place: empty, a tombstone, two lines, a byte order mark"
    )
    func notOneEvent() async throws {
        let valid = #"{"name":"Ping","time":"2024-01-01T00:00:00Z","payload":{}}"#
        for value in ["", " ", "\u{FEFF}", "\u{FEFF} ", valid + "\n" + valid, "\u{FEFF}" + valid] {
            let before = tracker.ids.count
            let report = try await load([record(0, value), record(1), record(2, "{}"), record(3)])
            #expect(report.words == "committed before 4")
            #expect(report.refused == 2)
            #expect(report.loaded == 2)
            #expect(tracker.ids.count == before + 2)
        }
    }

    @Test("an event without an id gets the same one each time, and another one at another offset")
    func derivedIDs() async throws {
        _ = try await load([record(0), record(1), record(4), record(5)])
        let together = tracker.ids
        #expect(Set(together).count == 4)
        for offset in [Int64(0), 1, 4, 5] { _ = try await load([record(offset)]) }
        #expect(tracker.ids.suffix(4) == together[...])
    }

    @Test("a tracker gets one delivery at a time, although two partitions are loaded at once")
    func oneAtATime() async throws {
        async let first = load([record(0), record(1)])
        async let second = load([record(7), record(8)])
        let reports = try await [first, second]
        #expect(reports.map(\.loaded) == [2, 2])
        #expect(tracker.ids.count == 4)
        #expect(!tracker.hasOverlapped)
    }
}

extension BatchReport {
    fileprivate var words: String {
        switch outcome {
        case .committed(let end, _, nil): "committed before \(end)"
        case .committed(let end, _, _?): "committed before \(end), then waits"
        case .failed: "failed"
        default: "something else"
        }
    }
}
