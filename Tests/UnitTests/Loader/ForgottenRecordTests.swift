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

@Suite("Records of erased people in a loader")
struct ForgottenRecordTests {
    /// A tracker that notes how many events it got.
    private final class CountingTracker: Tracker {
        let name = "console"
        private let received = Mutex(0)

        var count: Int { received.withLock { $0 } }

        func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
            received.withLock { $0 += delivery.count }
            return .delivered
        }
    }

    private typealias Load = PartitionLoad<ConsumedRecord>

    private let partition = LoadedPartition(loader: "l", cluster: "c", topic: "t", number: 0)
    private let tracker = CountingTracker()
    private let loading: BatchLoading

    init() throws {
        let now = { @Sendable in Timestamp(microseconds: 1_800_000_000_000_000) }
        let key = try #require(HashKey(Array("0123456789abcdef".utf8)))
        let request = try #require(Timestamp("2026-11-05T12:00:00Z"))
        let register = TombstoneRegister()
        let early = try #require(Timestamp("2020-01-01T00:00:00Z"))
        let tombstones = [
            Tombstone(of: "ada", .user, requestedAt: request, key: key),
            Tombstone(of: "eve", .user, requestedAt: early, key: key),
        ]
        register.replace(with: Tombstones(tombstones, key: key))
        loading = BatchLoading(
            into: tracker,
            catalog: .sample,
            quarantine: try Quarantine(
                verdicts: SimulatedFileSystem(seed: 2),
                refusals: SimulatedFileSystem(seed: 1),
                capacities: (1 << 20, 1 << 20),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                now: now
            ),
            owner: "test",
            limits: LoadLimits(),
            tombstones: register,
            clock: RelativeClock(ManualClock()),
            now: now
        )
    }

    private func record(_ offset: Int64, _ name: String, receivedAt: String, user: String) -> ConsumedRecord {
        let id = EventID(high: 0x0190_0000_0000_7000, low: 0x8000_0000_0000_0000 | UInt64(offset))
        let times = #""time":"2026-11-01T00:00:00Z","receivedAt":"\#(receivedAt)""#
        let value = #"{"id":"\#(id)","name":"\#(name)",\#(times),"userId":"\#(user)","payload":{}}"#
        return ConsumedRecord(
            SourceRecord(offset: offset, key: nil, value: Array(value.utf8), headers: []),
            timestamp: 1_700_000_000_000
        )
    }

    @Test("a record without a time of receipt counts as received at its time in Kafka", .promise("erased-person"))
    func withoutReceipt() async throws {
        let records = try ["2019-12-31T23:59:59Z", "2020-01-01T00:00:01Z"].enumerated().map { offset, time in
            let value = #"{"name":"Ping","userId":"eve","payload":{}}"#
            return ConsumedRecord(
                SourceRecord(offset: Int64(offset), key: nil, value: Array(value.utf8), headers: []),
                timestamp: try #require(Timestamp(time)).microseconds / 1_000
            )
        }
        let report = await loading.load(try #require(Load.batch(from: records, of: partition)), in: partition)
        #expect(report.words == "committed before 2")
        #expect(report.loaded == 1)
        #expect(report.forgotten == 1)
    }

    @Test(
        "what was received before the request is neither loaded nor kept as refused, and the position moves past it",
        .promise("erased-person")
    )
    func dropping() async throws {
        let old = "2026-11-05T11:00:00Z"
        let records = [
            record(5, "Ping", receivedAt: old, user: "bob"), record(6, "Ping", receivedAt: old, user: "ada"),
            record(7, "Unheard Of", receivedAt: old, user: "ada"),
            record(8, "Unheard Of", receivedAt: old, user: "bob"),
            record(9, "Ping", receivedAt: "2026-11-05T12:00:01Z", user: "ada"),
            record(10, "Ping", receivedAt: old, user: "ada"),
        ]
        let report = await loading.load(try #require(Load.batch(from: records, of: partition)), in: partition)
        #expect(report.words == "committed before 11")
        #expect(tracker.count == 2)
        #expect(report.loaded == 2)
        #expect(report.refused == 1)
        #expect(report.forgotten == 3)
    }
}
