import Foundation
import TestPromises
import TestSupport
import Testing

/// The run's length, brokers and seed; `make scale-test` sets them.
private enum Chaos {
    private static let environment = ProcessInfo.processInfo.environment

    static let seconds = environment["SLUICE_SCALE_SECONDS"].flatMap(Int.init) ?? 45
    /// The brokers; `nil` for a mock cluster.
    static let brokers = environment["SLUICE_SCALE_BROKERS"].flatMap { $0.isEmpty ? nil : $0 }
    /// An empty topic that exists; `nil` to create one.
    static let topic = environment["SLUICE_SCALE_TOPIC"].flatMap { $0.isEmpty ? nil : $0 }
    static let seed = environment["SLUICE_SCALE_SEED"].flatMap(UInt64.init) ?? .random(in: 0...999_999)
    /// The mock cluster keeps 5 MiB of a partition; a record has about 600 bytes.
    static let recordsInSecond = min(1000, brokers == nil ? 45_000 / max(1, seconds) : .max)
    /// Whether the logs of the loaders are printed even if the test passes.
    static let printsLog = environment["SLUICE_SCALE_LOG"] != nil
    static let partitions: Int32 = 8
    static let loaders = 4

    /// librdkafka's properties for the brokers, as name=value, separated by spaces.
    static let properties: [String: String] = {
        let pairs = (environment["SLUICE_SCALE_PROPERTIES"] ?? "").split(separator: " ").compactMap { pair in
            pair.firstIndex(of: "=").map { (String(pair[..<$0]), String(pair[pair.index(after: $0)...])) }
        }
        return Dictionary(pairs) { $1 }
    }()

    static func makeTopic() async throws -> SharedTopic {
        guard let brokers else { return try SharedTopic(partitions: partitions) }
        return try await SharedTopic(
            brokers: brokers,
            existing: topic,
            partitions: partitions,
            properties: properties
        )
    }
}

/// Loaders that crash, freeze and lose their connections while a producer writes; each record must count exactly once.
@Suite("sluice load and chaos", .timeLimit(.minutes(Chaos.seconds / 60 + 4)))
struct LoaderChaosTests {
    @Test(
        "whatever happens to loaders, brokers and PostgreSQL, each record is loaded or refused exactly once",
        .promise("loader-crash")
    )
    func chaos() async throws {
        print("seed \(Chaos.seed); run again with SLUICE_SCALE_SEED=\(Chaos.seed)")
        let (topic, postgres) = (try await Chaos.makeTopic(), try await PrivatePostgres())
        let scene = try await LoadScene(topic, in: postgres)
        try await scene.keepEveryRow(refusing: ChaosProducer.refusedPrice)
        let fleet = try LoaderFleet(Chaos.loaders, of: scene, in: postgres, seed: Chaos.seed)
        let producer = ChaosProducer(topic: topic, recordsInSecond: Chaos.recordsInSecond)
        async let written = producer.run(for: .seconds(Chaos.seconds), seed: Chaos.seed &+ 1)
        do {
            try await fleet.injectFaults(for: .seconds(Chaos.seconds))
            let start = ContinuousClock.now
            let ids = try await written
            let messages = try await topic.messages()
            try await scene.waitForAll(messages.count)
            let rest = ContinuousClock.now - start
            try await fleet.stop()
            try await check(messages, ids, scene)
            let faults = fleet.faults.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key)" }
            print("\(messages.count) records, \(ids.count) of them events; \(faults.joined(separator: ", "))")
            print("\(fleet.faultsWhileLoading) faults hit loaders while they loaded")
            print("the last record was loaded \(rest) after the last fault")
            if Chaos.printsLog { print(fleet.log) }
        } catch {
            print(fleet.log)
            throw error
        }
    }

    /// Compares the tables with the topic, as a client of its own reads it, and that with what was written.
    private func check(_ messages: [KafkaMessage], _ ids: [String], _ scene: LoadScene) async throws {
        let events = messages.filter { $0.header(ChaosProducer.header) == nil }
            .compactMap { $0.header("ce_id") }.sorted()
        let stored = try await scene.stored("loaded_id")
        #expect(Set(stored) == Set(ids), "the events are not those that were written")
        // The mock cluster keeps an idempotent producer's repetitions, and each of them is a record of its own.
        #expect(stored.count == events.count)
        // Sorted as uuid by PostgreSQL, which is the order of the text as well.
        #expect(stored == events, "rows are missing or there twice")
        if scene.topic.mock == nil { #expect(stored.count == ids.count) }
        let poison = messages.filter { $0.header(ChaosProducer.header) != nil }
        #expect(try await scene.refused() == poison.map { "\($0.partition)/\($0.offset)" })
        let kinds = Set(poison.compactMap { $0.header(ChaosProducer.header) })
        #expect(kinds == Set(ChaosProducer.Poison.allCases.map(\.rawValue)))
        var ends: [Int32: Int64] = [:]
        for message in messages { ends[message.partition] = message.offset + 1 }
        #expect(try await scene.positions() == ends.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
    }
}

extension LoadScene {
    /// The sum of the stored positions.
    func progress() async throws -> Int {
        let sum = try await database.run("SELECT coalesce(sum(next_offset), 0) FROM analytics._sluice_loader_offsets")
        return sum.first.flatMap { Int($0) } ?? 0
    }

    /// Waits until as many records are loaded or refused, or the test's time limit has passed.
    fileprivate func waitForAll(_ count: Int) async throws {
        let query = """
            SELECT (SELECT count(*) FROM \(Self.table)) + (SELECT count(*) FROM analytics._sluice_refused) >= \(count)
            """
        try await wait(for: query, toBe: ["t"])
    }
}
