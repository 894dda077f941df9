import CAllocations
import Foundation
import Sluice

/// Builds, checks and encodes typed events on one thread, in batches of 1,000.
///
/// - `bench-track encode EVENTS` prints events/s, by the processor time of the thread.
/// - `bench-track allocations EVENTS` prints the number of allocations for 1,000 events.
/// - `bench-track queue EVENTS` tracks them through a pipeline to a tracker that discards them, and prints events/s.
/// - `bench-track journal EVENTS FOLDER TASKS` tracks them through a pipeline with a journal, each task one at a time, and prints events/s.
@main
struct Track {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3, let events = Int(arguments[2]), events >= 1000 else {
            throw BenchmarkError("usage: bench-track encode|allocations|queue|journal EVENTS [FOLDER TASKS]")
        }
        switch arguments[1] {
        case "encode": try encode(events)
        case "allocations": try countAllocations(of: events)
        case "queue": try await queue(events)
        case "journal" where arguments.count == 5:
            try await journal(events, in: arguments[3], by: Int(arguments[4]) ?? 1)
        default: throw BenchmarkError("there is no '\(arguments[1])'")
        }
    }

    private static func encode(_ events: Int) throws {
        var encoder = Encoder()
        _ = try encoder.encode(batches: 10)
        let start = processorSeconds()
        let count = try encoder.encode(batches: events / 1000)
        print(Int(Double(count) / (processorSeconds() - start)))
    }

    private static func countAllocations(of events: Int) throws {
        guard allocations_are_counted() == 1 else { throw BenchmarkError("allocations are counted with glibc only") }
        var encoder = Encoder()
        // The first batches determine the size that later ones reserve.
        _ = try encoder.encode(batches: 10)
        let start = allocations_of_thread()
        let count = try encoder.encode(batches: events / 1000)
        print(Double(allocations_of_thread() - start) * 1000 / Double(count))
    }

    private static func queue(_ events: Int) async throws {
        let pipeline = try Pipeline(catalog: BenchTrackEvents.catalog, trackers: [DiscardTracker()])
        async let running: Void = pipeline.run()
        try await pipeline.track(contentsOf: Purchases(count: 100_000))
        await pipeline.flush()
        let start = ContinuousClock.now
        try await pipeline.track(contentsOf: Purchases(count: events))
        await pipeline.flush()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        pipeline.shutdown()
        try await running
        guard pipeline.statistics.trackers.first?.delivered == 100_000 + events else {
            throw BenchmarkError("not every event was delivered")
        }
        print(Int(Double(events) / seconds))
    }

    private static func journal(_ events: Int, in folder: String, by tasks: Int) async throws {
        let pipeline = try Pipeline(
            catalog: BenchTrackEvents.catalog,
            trackers: [DiscardTracker()],
            journal: .directory(folder)
        )
        async let running: Void = pipeline.run()
        for event in Purchases(count: 100) { try await pipeline.track(event, userID: "17850") }
        let start = ContinuousClock.now
        let each = events / tasks
        try await withThrowingTaskGroup { group in
            for _ in 0..<tasks {
                group.addTask {
                    for event in Purchases(count: each) { try await pipeline.track(event, userID: "17850") }
                }
            }
            try await group.waitForAll()
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        pipeline.shutdown()
        try await running
        guard pipeline.statistics.trackers.first?.delivered == 100 + each * tasks else {
            throw BenchmarkError("not every event was delivered")
        }
        print(Int(Double(each * tasks) / seconds))
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Creates batches of typed events, one after the other.
private struct Encoder: ~Copyable {
    private var builder = EventBatchBuilder(catalog: BenchTrackEvents.catalog)

    mutating func encode(batches: Int) throws -> Int {
        let context = EventContext(userID: "17850")
        var count = 0
        for _ in 0..<batches {
            for event in Purchases(count: 1000) { try builder.append(event, context: context) }
            count += builder.finish()?.count ?? 0
        }
        return count
    }
}

/// Purchases whose fields vary as those of real purchases do.
private struct Purchases: Sequence, IteratorProtocol {
    private static let stockCodes = (10..<100).map { "851\($0)A" }
    private static let descriptions = ["WHITE HANGING HEART T-LIGHT HOLDER", "GLASS STAR FROSTED T-LIGHT HOLDER", nil]
    private var remaining: Int

    init(count: Int) {
        remaining = count
    }

    mutating func next() -> BenchTrackEvents.ItemPurchased? {
        guard remaining > 0 else { return nil }
        remaining -= 1
        return BenchTrackEvents.ItemPurchased(
            invoiceNo: "536365",
            stockCode: Self.stockCodes[remaining % 90],
            description: Self.descriptions[remaining % 3],
            quantity: 1 + remaining % 12,
            unitPrice: ExactDecimal(coefficient: 255 + remaining % 100, scale: 2) ?? 0,
            country: .unitedKingdom
        )
    }
}

/// Completes every delivery at once.
private struct DiscardTracker: Tracker {
    let name = "discard"

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome { .delivered }
}

/// Why the measurement failed.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
