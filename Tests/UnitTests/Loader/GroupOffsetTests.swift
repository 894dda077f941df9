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

@Suite("Loading a batch into a tracker without positions")
struct GroupOffsetTests {
    /// A tracker that does not accept some events.
    private final class PickyTracker: Tracker {
        let name = "console"
        private let received = Mutex<[String]>([])
        /// Why events with a name are to be tried again.
        private let obstacles = Mutex<[String: TrackerError]>([:])
        private let repairs = Mutex<[String: Int]>([:])
        private let underWay = Atomic<Int>(0)
        private let overlaps = Atomic<Bool>(false)
        private let knowsStuck = Atomic<Bool>(false)
        /// Whether it says which events it does not accept although it accepts others.
        var knowsStuckEvents: Bool {
            get { knowsStuck.load(ordering: .relaxed) }
            set { knowsStuck.store(newValue, ordering: .relaxed) }
        }

        /// The names of the events that were accepted.
        var accepted: [String] { received.withLock(\.self) }
        /// Whether two deliveries were under way at once.
        var hasOverlapped: Bool { overlaps.load(ordering: .relaxed) }

        func refuse(_ name: String, _ error: TrackerError?) { obstacles.withLock { $0[name] = error } }

        /// Accepts events with a name again, after some deliveries.
        func repair(_ name: String, afterDeliveries count: Int) { repairs.withLock { $0[name] = count } }

        func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
            if underWay.wrappingAdd(1, ordering: .relaxed).newValue > 1 { overlaps.store(true, ordering: .relaxed) }
            // Others have time to begin.
            for _ in 0..<1000 where !hasOverlapped { await Task.yield() }
            defer { underWay.subtract(1, ordering: .relaxed) }
            let names = delivery.map(\.name)
            let obstacles = obstacles.withLock(\.self)
            let left = names.indices.filter { obstacles[names[$0]] != nil }
            received.withLock { $0 += names.filter { obstacles[$0] == nil } }
            for (name, count) in repairs.withLock(\.self) {
                repairs.withLock { $0[name] = count > 1 ? count - 1 : nil }
                if count == 1 { refuse(name, nil) }
            }
            guard let reason = left.first.flatMap({ obstacles[names[$0]] }) else { return .delivered }
            let stuck = delivery.positionsByName(of: left).compactMap { name, positions in
                obstacles[name].map { DeliveryOutcome.Stuck(positions: positions, reason: $0, isWholeName: true) }
            }
            return DeliveryOutcome(
                retry: .init(
                    positions: left,
                    reason: reason,
                    stuck: knowsStuckEvents && left.count < delivery.count ? stuck : []
                )
            )
        }
    }

    private static let missing = TrackerError(code: .notPrepared, message: "There is no such topic.", isRetryable: true)
    private static let down = TrackerError(code: .unavailable, message: "The broker is away.", isRetryable: true)
    private static let slow = TrackerError(code: .timeout, message: "There is no answer.", isRetryable: true)
    private static let denied = TrackerError(code: .misconfigured, message: "The login failed.", isRetryable: false)
    private static let other = "Other"
    private static let late = "Late"

    private let tracker = PickyTracker()
    private let files = HookedFileSystem(SimulatedFileSystem(seed: 1))
    private let clock = ManualClock()
    private let quarantine: Quarantine
    private let loading: BatchLoading
    private let limits = LoadLimits()

    init() throws {
        let now = { @Sendable in Timestamp(microseconds: 0) }
        quarantine = try Quarantine(
            verdicts: SimulatedFileSystem(seed: 2),
            refusals: files,
            capacities: (1 << 22, 1 << 22),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            now: now
        )
        loading = BatchLoading(
            into: tracker,
            catalog: .scripted(["Ping": ["console"], Self.other: ["console"], Self.late: ["console"]]),
            quarantine: quarantine,
            owner: "test",
            limits: limits,
            clock: RelativeClock(clock),
            now: now
        )
    }

    /// Loads records with the events of these names, or with these values, from an offset on; as if Kafka had sent them to a new
    /// loader.
    private func load(_ values: [String], from start: Int64 = 0, partition: Int32 = 0) async throws -> BatchReport {
        let records = values.enumerated().map { index, value in
            let text = value.hasPrefix("{") ? value : #"{"name":"\#(value)","payload":{}}"#
            return ConsumedRecord(
                SourceRecord(offset: start + Int64(index), key: nil, value: Array(text.utf8), headers: []),
                timestamp: 0
            )
        }
        let partition = LoadedPartition(loader: "l", cluster: "c", topic: "t", number: partition)
        return await loading.load(try #require(PartitionLoad.batch(from: records, of: partition)), in: partition)
    }

    @Test(
        "an invalid record that could not be stored is stored by a later attempt, and only then is anything delivered",
        .promise("tracker-without-offsets")
    )
    func fullDisk() async throws {
        files.failWrites(true)
        for _ in 0..<3 { #expect(try await load(["Ping", "{}"]).words == "failed") }
        #expect(tracker.accepted == [])
        files.failWrites(false)
        let report = try await load(["Ping", "{}"])
        #expect(report.words == "committed before 2")
        #expect((report.loaded, report.refused) == (1, 1))
        #expect(tracker.accepted == ["Ping"])
    }

    @Test(
        "what was delivered is not delivered again while the rest waits, which is kept after the time for parking",
        .promise("tracker-without-offsets")
    )
    func partial() async throws {
        tracker.refuse(Self.other, Self.missing)
        let names = ["Ping", Self.other, "Ping"]
        #expect(try await load(names).words == "failed")
        clock.advance(by: limits.patience - .seconds(1))
        #expect(try await load(names).words == "failed")
        #expect(tracker.accepted == ["Ping", "Ping"])
        #expect(quarantine.statistics.kept == 0)
        clock.advance(by: .seconds(1))
        let report = try await load(names)
        #expect(report.words == "committed before 3")
        #expect((report.loaded, report.refused) == (2, 1))
        #expect(tracker.accepted == ["Ping", "Ping"])
        #expect(quarantine.statistics.kept == 1)
    }

    @Test(
        "events like those that were parked are parked at once while the tracker accepts others, but none of them",
        .promise("tracker-without-offsets")
    )
    func parkedAtOnce() async throws {
        tracker.refuse(Self.other, Self.missing)
        _ = try await load(["Ping", Self.other])
        clock.advance(by: limits.patience)
        #expect(try await load(["Ping", Self.other]).refused == 1)
        #expect(try await load([Self.other, "Ping"], from: 2).refused == 1)
        // Nothing shows that the tracker is available.
        #expect(try await load([Self.other], from: 7, partition: 1).words == "failed")
        #expect(try await load(["Ping"], from: 4).loaded == 1)
        #expect(try await load([Self.other], from: 7, partition: 1).refused == 1)
        tracker.refuse(Self.other, nil)
        #expect(try await load([Self.other], from: 5).loaded == 1)
        tracker.refuse(Self.other, Self.missing)
        #expect(try await load([Self.other, "Ping"], from: 6).words == "failed")
    }

    @Test("events wait by name, and each name is parked for its own reason")
    func names() async throws {
        tracker.refuse(Self.other, Self.missing)
        #expect(try await load(["Ping", Self.other]).words == "failed")
        clock.advance(by: limits.patience - .seconds(1))
        tracker.refuse(Self.late, Self.missing)
        #expect(try await load(["Ping", Self.other, Self.late, "Ping"]).words == "failed")
        clock.advance(by: .seconds(1))
        #expect(try await load(["Ping", Self.other, Self.late, "Ping"]).words == "failed")
        #expect(quarantine.statistics.kept == 1)
        tracker.refuse(Self.late, nil)
        let report = try await load(["Ping", Self.other, Self.late, "Ping"])
        #expect((report.loaded, report.refused) == (3, 1))
        #expect(tracker.accepted == ["Ping", "Ping", Self.late])
    }

    @Test(
        "a tracker that is unavailable, or accepts nothing, loses nothing to the quarantine however long it lasts",
        .promise("tracker-without-offsets"),
        arguments: [down, slow, missing]
    )
    func outage(error: TrackerError) async throws {
        #expect(try await load(["Ping"]).loaded == 1)
        clock.advance(by: .seconds(1))
        tracker.refuse("Ping", error)
        for _ in 0..<3 {
            #expect(try await load(["Ping", "Ping"], from: 1).words == "failed")
            clock.advance(by: limits.patience)
        }
        tracker.refuse("Ping", nil)
        #expect(try await load(["Ping", "Ping"], from: 1).loaded == 2)
        #expect(quarantine.statistics.kept == 0)
    }

    @Test(
        "an outage that begins within a batch parks nothing",
        .promise("tracker-without-offsets"),
        arguments: [down, slow]
    )
    func outageWithinBatch(error: TrackerError) async throws {
        tracker.refuse(Self.other, Self.missing)
        tracker.refuse(Self.late, error)
        for _ in 0..<3 {
            #expect(try await load(["Ping", Self.other, Self.late]).words == "failed")
            clock.advance(by: limits.patience)
        }
        #expect(quarantine.statistics.kept == 0)
    }

    @Test(
        "events wait anew once a tracker accepts others that had accepted nothing, and what it accepts late is delivered once"
    )
    func recovery() async throws {
        tracker.refuse(Self.other, Self.missing)
        tracker.refuse(Self.late, Self.missing)
        #expect(try await load([Self.other, Self.late]).words == "failed")
        clock.advance(by: limits.patience * 2)
        tracker.refuse(Self.other, nil)
        for _ in 0..<2 { #expect(try await load([Self.other, Self.late]).words == "failed") }
        #expect(quarantine.statistics.kept == 0)
        tracker.refuse(Self.late, nil)
        #expect(try await load([Self.other, Self.late]).loaded == 2)
        #expect(tracker.accepted == [Self.other, Self.late])
    }

    @Test("a name that is accepted on its own, while another one still waits, is delivered once")
    func acceptedAlone() async throws {
        tracker.refuse(Self.late, Self.missing)
        #expect(try await load(["Ping", Self.late]).words == "failed")
        clock.advance(by: .seconds(1))
        tracker.refuse(Self.other, Self.missing)
        #expect(try await load(["Ping", Self.late, Self.other]).words == "failed")
        clock.advance(by: limits.patience - .seconds(1))
        // Its topic appears between the two attempts.
        tracker.repair(Self.late, afterDeliveries: 1)
        for _ in 0..<2 { #expect(try await load(["Ping", Self.late, Self.other]).words == "failed") }
        #expect(tracker.accepted == ["Ping", Self.late])
    }

    @Test("a tracker that accepts nothing any more, from the middle of a batch on, parks no further batch")
    func deniedWithinBatch() async throws {
        tracker.refuse(Self.other, Self.missing)
        #expect(try await load(["Ping", Self.other]).words == "failed")
        tracker.refuse("Ping", Self.missing)
        clock.advance(by: limits.patience)
        #expect(try await load(["Ping", Self.other]).refused == 1)
        for _ in 0..<3 {
            #expect(try await load([Self.other, "Ping", Self.other], from: 2).words == "failed")
            clock.advance(by: limits.patience)
        }
        #expect(quarantine.statistics.kept == 1)
    }

    @Test("a partition with nothing but unaccepted events parks them while the tracker accepts those of others")
    func evidence() async throws {
        tracker.refuse(Self.other, Self.missing)
        #expect(try await load([Self.other]).words == "failed")
        clock.advance(by: .seconds(1))
        #expect(try await load(["Ping"], partition: 1).loaded == 1)
        clock.advance(by: .seconds(1))
        #expect(try await load([Self.other]).words == "failed")
        clock.advance(by: limits.patience)
        #expect(try await load([Self.other]).refused == 1)
    }

    @Test(
        "events that are stuck while others are accepted are parked, even if their topic times out",
        .promise("tracker-without-offsets"),
        arguments: [down, slow, missing]
    )
    func stuck(error: TrackerError) async throws {
        tracker.knowsStuckEvents = true
        tracker.refuse(Self.other, error)
        #expect(try await load(["Ping", Self.other]).words == "failed")
        clock.advance(by: limits.patience - .seconds(1))
        #expect(try await load(["Ping", Self.other]).words == "failed")
        #expect(quarantine.statistics.kept == 0)
        clock.advance(by: .seconds(1))
        let report = try await load(["Ping", Self.other])
        #expect((report.loaded, report.refused) == (1, 1))
        // The next ones do not wait.
        #expect(try await load(["Ping", Self.other], from: 2).refused == 1)
        // If it may have become unavailable, an event that it has accepted is sent again, to find out.
        #expect(tracker.accepted.count == (error.isOutage ? 3 : 2))
        #expect(Set(tracker.accepted) == ["Ping"])
    }

    @Test(
        "events that are stuck when an outage begins are not parked before the tracker accepts others again",
        arguments: [down, slow]
    )
    func stuckInOutage(error: TrackerError) async throws {
        tracker.knowsStuckEvents = true
        tracker.refuse(Self.other, error)
        #expect(try await load(["Ping", Self.other]).words == "failed")
        tracker.refuse("Ping", error)
        for _ in 0..<3 {
            clock.advance(by: limits.patience)
            #expect(try await load(["Ping", Self.other]).words == "failed")
        }
        #expect(quarantine.statistics.kept == 0)
        tracker.refuse("Ping", nil)
        tracker.refuse(Self.other, nil)
        #expect(try await load(["Ping", Self.other]).loaded == 2)
    }

    @Test(
        "events that were stuck are not parked while the tracker accepts nothing for another reason",
        .promise("tracker-without-offsets"),
        arguments: [down, slow, denied]
    )
    func staleEvidence(error: TrackerError) async throws {
        tracker.knowsStuckEvents = true
        tracker.refuse(Self.other, Self.missing)
        #expect(try await load(["Ping", Self.other]).words == "failed")
        tracker.refuse("Ping", error)
        tracker.refuse(Self.other, error)
        for _ in 0..<3 {
            clock.advance(by: limits.patience)
            #expect(try await load(["Ping", Self.other]).words == "failed")
        }
        #expect(quarantine.statistics.kept == 0)
        tracker.refuse("Ping", nil)
        tracker.refuse(Self.other, nil)
        #expect(try await load(["Ping", Self.other]).loaded == 2)
    }

    @Test("a record that was kept in a larger batch is counted with its own, and kept once")
    func smallerBatch() async throws {
        tracker.refuse("Ping", Self.down)
        #expect(try await load(["Ping", "Ping", "{}"]).words == "failed")
        tracker.refuse("Ping", nil)
        let first = try await load(["Ping", "Ping"])
        #expect((first.loaded, first.refused) == (2, 0))
        let second = try await load(["{}", "Ping"], from: 2)
        #expect((second.loaded, second.refused) == (1, 1))
        #expect(quarantine.statistics.kept == 1)
    }

    @Test("many refused records are kept with few syncs")
    func syncs() async throws {
        let syncs = Watched(0)
        files.setHook { syncs.update { $0 += 1 } }
        let report = try await load(Array(repeating: "{}", count: 1200))
        #expect(report.refused == 1200)
        #expect(quarantine.statistics.kept == 1200)
        #expect((1...6).contains(syncs.value))
    }

    @Test("a tracker gets one delivery at a time, although two partitions are loaded at once")
    func oneAtATime() async throws {
        async let first = load(["Ping", "Ping"])
        async let second = load(["Ping", "Ping"], from: 7, partition: 1)
        let reports = try await [first, second]
        #expect(reports.map(\.loaded) == [2, 2])
        #expect(tracker.accepted.count == 4)
        #expect(!tracker.hasOverlapped)
    }
}
