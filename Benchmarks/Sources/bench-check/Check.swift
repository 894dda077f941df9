import Foundation
import PlanReading
import Sluice
@_spi(Benchmarks) import SluiceHTTP

/// Parses, checks and encodes the events of a file in batches, on one thread.
///
/// `bench-check PLAN FILE LINES PASSES [segment | rejected]`, where FILE has one event on each line, and a batch is LINES of them;
/// with `segment`, FILE has messages of Segment's clients, and a batch is the body of a request. Events may be rejected only with
/// `rejected`. Prints events/s over all passes, by the thread's processor time, so that other load on the machine has less effect.
@main
struct Check {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 5, let size = Int(arguments[3]), size > 0, let passes = Int(arguments[4]) else {
            throw BenchmarkError("usage: bench-check PLAN FILE LINES PASSES [segment | rejected]")
        }
        guard let plan = PlanReader().read(paths: [arguments[1]]).plan else {
            throw BenchmarkError("the plan in \(arguments[1]) has errors; see sluice lint")
        }
        let isSegment = arguments.dropFirst(5).contains("segment")
        let mayReject = arguments.dropFirst(5).contains("rejected")
        let file = FileManager.default.contents(atPath: arguments[2]) ?? Data()
        let bodies = batches(of: size, from: file, asMessages: isSegment)
        let catalog = EventCatalog(plan: plan)
        let validator = EventValidator(catalog: catalog)
        let segment = SegmentCheck(catalog: catalog)
        var events = 0
        let start = processorSeconds()
        for _ in 0..<passes {
            for body in bodies {
                let checked =
                    isSegment
                    ? try segment.check(body) : try body.withUnsafeBytes { try validator.check($0, as: .lines) }
                guard mayReject != checked.rejections.isEmpty else {
                    let first = checked.rejections.first.map { "an event was rejected: \($0.violations)" }
                    throw BenchmarkError(first ?? "no event of a batch was rejected")
                }
                events += checked.count
            }
        }
        print(Int(Double(events) / (processorSeconds() - start)))
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func batches(of size: Int, from text: Data, asMessages: Bool) -> [[UInt8]] {
        let lines = text.split(separator: UInt8(ascii: "\n"))
        return stride(from: 0, to: lines.count, by: size).map { start in
            let batch = lines[start..<min(start + size, lines.count)]
            guard asMessages else { return Array(batch.joined(separator: [UInt8(ascii: "\n")])) }
            let messages = Array(batch.joined(separator: [UInt8(ascii: ",")]))
            return Array(#"{"batch":["#.utf8) + messages + Array(#"],"sentAt":"2026-01-01T00:00:00.000Z"}"#.utf8)
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
