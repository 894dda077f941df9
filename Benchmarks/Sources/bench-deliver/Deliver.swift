import Foundation
import PlanReading
import Sluice
import SluiceExec
import SluiceFile
import SluiceWebhook

/// Passes deliveries to a tracker, one after another and without a pipeline, or their bytes to a ceiling.
///
/// `bench-deliver PLAN FILE PASSES SIDE [ARGUMENT…]`, where FILE has one event on each line. The check, whose lines are delivered, is not
/// counted. Prints events/s over all passes.
///
/// - Trackers: `exec COMMAND…`, `webhook URL` and `file PATH`.
/// - Their ceilings: `cat FILE`, `post URL`, and `append FILE` or `deflate`.
@main
struct Deliver {
    /// The number of events in a batch.
    private static let batch = 100

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 5, let passes = Int(arguments[3]), passes > 0 else {
            throw BenchmarkError("usage: bench-deliver PLAN FILE PASSES SIDE [ARGUMENT…]")
        }
        guard let plan = PlanReader().read(paths: [arguments[1]]).plan else {
            throw BenchmarkError("the plan in \(arguments[1]) has errors; see sluice lint")
        }
        let text = FileManager.default.contents(atPath: arguments[2]) ?? Data()
        let deliveries = try deliveries(of: text, EventCatalog(plan: plan))
        let elapsed = try await elapsed(deliveries, passes, arguments[4], Array(arguments[5...]))
        let events = passes * deliveries.reduce(0) { $0 + $1.count }
        print(Int(Double(events) / (elapsed / .seconds(1))))
    }

    /// Makes deliveries of as many events as a pipeline passes to a tracker that lags.
    private static func deliveries(of text: Data, _ catalog: EventCatalog) throws -> [Delivery] {
        let validator = EventValidator(catalog: catalog)
        let lines = text.split(separator: UInt8(ascii: "\n"))
        let slices = try stride(from: 0, to: lines.count, by: batch).map { start in
            let body = Array(lines[start..<min(start + batch, lines.count)].joined(separator: [UInt8(ascii: "\n")]))
            let checked = try body.withUnsafeBytes { try validator.check($0, as: .lines) }
            guard let batch = checked.batch, checked.rejections.isEmpty else {
                throw BenchmarkError("an event was rejected")
            }
            return EventSlice(batch)
        }
        guard !slices.isEmpty else { throw BenchmarkError("there are no events") }
        let size = DeliveryLimits().maximumEvents / batch
        return stride(from: 0, to: slices.count, by: size).map { start in
            Delivery(Array(slices[start..<min(start + size, slices.count)]))
        }
    }

    /// Measures a side, from its second delivery on.
    private static func elapsed(
        _ deliveries: [Delivery],
        _ passes: Int,
        _ side: String,
        _ arguments: [String]
    ) async throws -> Duration {
        var ceiling: Ceiling { Ceiling(deliveries, passes: passes) }
        return switch (side, arguments.first) {
        case ("exec", _?): try await deliver(deliveries, passes, to: ExecTracker.exec(arguments))
        case ("webhook", let url?): try await deliver(deliveries, passes, to: WebhookTracker.webhook(url))
        case ("file", let path?): try await deliver(deliveries, passes, to: FileTracker.file(path))
        case ("cat", let path?): try ceiling.cat(to: path)
        case ("post", let url?): try await ceiling.post(to: url)
        case ("append", let path?): try ceiling.append(to: path)
        case ("deflate", nil): try ceiling.deflate()
        default: throw BenchmarkError("'\(side)' is no side, or has other arguments")
        }
    }

    // Like the pipeline's workers, it runs on the pool, and not on the main thread.
    @concurrent
    private static func deliver(
        _ deliveries: [Delivery],
        _ passes: Int,
        to tracker: some Tracker
    ) async throws -> Duration {
        try await tracker.start(for: deliveries[0].slices[0].batch.catalog)
        // By then the program runs, the connection is open, and the file is there.
        try await deliver(deliveries[0], to: tracker)
        let start = ContinuousClock.now
        for _ in 0..<passes {
            for delivery in deliveries { try await deliver(delivery, to: tracker) }
        }
        let elapsed = ContinuousClock.now - start
        await tracker.stop()
        return elapsed
    }

    private static func deliver(_ delivery: Delivery, to tracker: some Tracker) async throws {
        let outcome = await tracker.deliver(delivery)
        guard outcome.retry == nil, outcome.refusals.isEmpty else {
            throw BenchmarkError("not everything was delivered: \(outcome.retry.map { "\($0.reason)" } ?? "refused")")
        }
    }
}

/// Why the measurement failed.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
