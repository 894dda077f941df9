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

@Suite("Loading a batch")
struct BatchLoadingTests {
    /// A tracker that stores no positions.
    private final class PlainTracker: Tracker {
        let name = "console"
        private let received = Mutex<[EventID]>([])

        var ids: [EventID] { received.withLock { $0 } }

        func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
            received.withLock { $0 += delivery.map(\.id) }
            return .delivered
        }
    }

    private typealias Load = PartitionLoad<ConsumedRecord>

    private static let now: Int64 = 1_700_000_000_000
    private let partition = LoadedPartition(loader: "l", cluster: "c", topic: "t", number: 0)
    private let tracker = PlainTracker()
    private let loading: BatchLoading

    init() throws {
        let now = { @Sendable in Timestamp(microseconds: Self.now * 1000) }
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
            clock: RelativeClock(ManualClock()),
            now: now
        )
    }

    /// Loads records that Kafka has at these offsets.
    private func load(_ records: [ConsumedRecord]) async throws -> BatchReport {
        await loading.load(try #require(Load.batch(from: records, of: partition)), in: partition)
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
        "an invalid record of another plan waits until it is five minutes old; one from the far future does not wait",
        .promise("newer-plan"),
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

    @Test(
        "a value that begins with the byte order mark of another encoding is refused, wherever it is in the batch",
        .promise("unusual-input")
    )
    func otherEncoding() async throws {
        let marks: [[UInt8]] = [[0xFF, 0xFE], [0xFE, 0xFF], [0xFF, 0xFE, 0, 0], [0, 0, 0xFE, 0xFF]]
        for mark in marks {
            let wide = ConsumedRecord(
                SourceRecord(offset: 0, key: nil, value: mark + Array("{}".utf8), headers: []),
                timestamp: 0
            )
            #expect(try await load([wide]).refused == 1)
            let tombstone = ConsumedRecord(SourceRecord(offset: 0, key: nil, value: nil, headers: []), timestamp: 0)
            func moved(_ record: ConsumedRecord, to offset: Int64) -> ConsumedRecord {
                ConsumedRecord(
                    SourceRecord(offset: offset, key: nil, value: record.value.map { [UInt8]($0) }, headers: []),
                    timestamp: 0
                )
            }
            let report = try await load([tombstone, moved(wide, to: 1), record(2), moved(wide, to: 3), record(4)])
            #expect(report.words == "committed before 5")
            #expect(report.refused == 3)
            #expect(report.loaded == 2)
        }
    }

    @Test(
        "an event without an id gets the same one each time, and another one at another offset",
        .promise("derived-ids")
    )
    func derivedIDs() async throws {
        _ = try await load([record(0), record(1), record(4), record(5)])
        let together = tracker.ids
        #expect(Set(together).count == 4)
        for offset in [Int64(0), 1, 4, 5] { _ = try await load([record(offset)]) }
        #expect(tracker.ids.suffix(4) == together[...])
    }
}
