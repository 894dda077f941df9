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
import TestPromises
import Testing
import TrackerKit

/// What a loader takes for evidence that a part of its destination is broken, and not the destination.
@Suite("Partitions that show each other whether the destination works")
struct PartitionEvidenceTests {
    /// A tracker that does not accept the events of the partitions that are broken.
    private final class BrokenTracker: PartitionTracker {
        let name = "console"
        let longestLoad = Duration.seconds(60)
        let broken = Mutex<Set<Int32>>([0])

        func lane(ofPartition number: Int32) -> Int { 0 }

        func claim(
            _ partition: LoadedPartition,
            start: Int64,
            owner: String
        ) async throws(TrackerError) -> PartitionClaim {
            PartitionClaim(epoch: 1, position: StoredPosition(nextOffset: start, lastRecord: nil))
        }

        func renew(_ partition: LoadedPartition, epoch: Int64) async throws(TrackerError) -> PartitionClaim? {
            nil
        }

        func load(_ delivery: PartitionDelivery) async -> PartitionOutcome {
            guard broken.withLock({ $0.contains(delivery.partition.number) }) else {
                return .committed(refused: 0, broken: [], stuck: 0)
            }
            guard delivery.refusing == ["table"], delivery.acceptsOthers else {
                return .broken(["table"], acceptsOthers: delivery.acceptsOthers, Self.error)
            }
            return .committed(refused: delivery.events.count, broken: ["table"], stuck: delivery.events.count)
        }

        func acceptLoss(
            _ loss: AcceptedLoss,
            of partition: LoadedPartition,
            epoch: Int64
        ) async throws(TrackerError) -> Bool {
            true
        }

        func loadedPartitions(ofLoader loader: String) async throws(TrackerError) -> [LoadedPartitionStatus] {
            []
        }

        func refusedRecords(
            ofLoader loader: String?,
            after key: RefusedRecordKey?,
            limit: Int
        ) async throws(TrackerError) -> [StoredRefusal] {
            []
        }

        func refusedRecordOrigins(ofLoader loader: String?) async throws(TrackerError) -> [RefusedRecordOrigin] { [] }

        func removeRefused(_ keys: [RefusedRecordKey]) async throws(TrackerError) -> Int { 0 }

        func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
            .delivered
        }

        private static let error = TrackerError(code: .failed, message: "The table is full.", isRetryable: true)
    }

    private typealias Load = PartitionLoad<ConsumedRecord>

    private let tracker = BrokenTracker()
    private let clock = ManualClock()
    private let loading: BatchLoading
    private let limits = LoadLimits()

    init() throws {
        let now = { @Sendable in Timestamp(microseconds: 0) }
        loading = BatchLoading(
            into: tracker,
            catalog: .scripted(["Ping": ["console"]]),
            quarantine: try Quarantine(
                verdicts: SimulatedFileSystem(seed: 2),
                refusals: SimulatedFileSystem(seed: 1),
                capacities: (1 << 20, 1 << 20),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                now: now
            ),
            owner: "test",
            limits: limits,
            clock: RelativeClock(clock),
            now: now
        )
    }

    private func partition(_ number: Int32) -> LoadedPartition {
        LoadedPartition(loader: "l", cluster: "c", topic: "t", number: number)
    }

    /// A partition that is loaded from its first record on.
    private func makeLoad(_ number: Int32) -> Load {
        var load = Load(partition(number), limits: limits)
        _ = load.nextOperation(now: .zero)
        load.located(0, now: .zero)
        _ = load.nextOperation(now: .zero)
        load.claimed(.granted(epoch: 1, StoredPosition(nextOffset: 0, lastRecord: nil)), now: .zero)
        _ = load.nextOperation(now: .zero)
        load.compared(.matches, now: .zero)
        return load
    }

    /// Tries to load what a partition has, unless it pauses; returns whether anything was refused.
    private func attempt(_ load: inout Load) async -> Bool {
        guard case .load(let batch) = load.nextOperation(now: clock.now.offset) else { return false }
        let report = await loading.load(batch, in: load.partition)
        load.loaded(report.outcome, now: clock.now.offset)
        return report.refused > 0
    }

    private func record(_ offset: Int64) -> ConsumedRecord {
        let value = #"{"name":"Ping","payload":{}}"#
        return ConsumedRecord(
            SourceRecord(offset: offset, key: nil, value: Array(value.utf8), headers: []),
            timestamp: 0
        )
    }

    @Test(
        "what one partition loads shows that another one is stuck, which then waits for ten seconds, and no longer",
        .promise("loader-broken-table")
    )
    func otherPartition() async throws {
        var (stuck, other) = (makeLoad(0), makeLoad(1))
        _ = stuck.receive(record(0))
        // Alone, it may be an outage.
        for _ in 0..<60 {
            #expect(await attempt(&stuck) == false)
            clock.advance(by: .seconds(1))
        }
        let start = clock.now.offset
        for offset in Int64(0)..<60 {
            _ = other.receive(record(offset))
            #expect(await attempt(&other) == false)
            if await attempt(&stuck) { break }
            clock.advance(by: .seconds(1))
        }
        let waited = clock.now.offset - start
        #expect(waited >= limits.patience)
        // The pause before the first attempt with evidence is added.
        #expect(waited <= limits.patience + limits.retry.maximumPause + .seconds(1))
        #expect(stuck.committedOffset == 1)
    }

    @Test("it is enough that another partition loads a record once a minute")
    func rareRecords() async throws {
        var (stuck, other) = (makeLoad(0), makeLoad(1))
        _ = stuck.receive(record(0))
        for second in Int64(0)... {
            if second % 60 == 30 { _ = other.receive(record(second / 60)) }
            _ = await attempt(&other)
            if await attempt(&stuck) { break }
            clock.advance(by: .seconds(1))
            try #require(second < 180)
        }
        #expect(stuck.committedOffset == 1)
    }

    @Test(
        "an outage that begins while a partition waits refuses nothing, and ends the wait",
        .promise("loader-broken-table")
    )
    func outage() async throws {
        var (stuck, other) = (makeLoad(0), makeLoad(1))
        _ = stuck.receive(record(0))
        for offset in Int64(0)..<100 {
            if offset == 5 { tracker.broken.withLock { $0 = [0, 1] } }
            _ = other.receive(record(offset))
            _ = await attempt(&other)
            #expect(await attempt(&stuck) == false)
            clock.advance(by: .seconds(1))
        }
        #expect(stuck.committedOffset == 0)
        #expect(other.committedOffset == 5)
        tracker.broken.withLock { $0 = [] }
        while stuck.committedOffset == 0 || other.committedOffset == 5 {
            _ = await attempt(&other)
            #expect(await attempt(&stuck) == false)
            clock.advance(by: .seconds(1))
        }
    }
}
