import Foundation
import PlanReading
import Sluice

/// Parses, checks and encodes the events of a file in batches, on one thread.
///
/// `bench-check PLAN FILE LINES PASSES`, where FILE has one event on each line, and a batch is LINES of them. Prints
/// events/s over all passes, by the thread's processor time, so that other load on the machine has less effect.
@main
struct Check {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let size = Int(arguments[3]), size > 0, let passes = Int(arguments[4]) else {
            throw BenchmarkError("usage: bench-check PLAN FILE LINES PASSES")
        }
        guard let plan = PlanReader().read(paths: [arguments[1]]).plan else {
            throw BenchmarkError("the plan in \(arguments[1]) has errors; see sluice lint")
        }
        let bodies = batches(of: size, from: FileManager.default.contents(atPath: arguments[2]) ?? Data())
        let validator = EventValidator(catalog: EventCatalog(plan: plan))
        var events = 0
        let start = processorSeconds()
        for _ in 0..<passes {
            for body in bodies {
                let checked = try body.withUnsafeBytes { try validator.check($0, as: .lines) }
                guard checked.rejections.isEmpty else {
                    throw BenchmarkError("an event was rejected: \(checked.rejections[0].violations)")
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

    private static func batches(of size: Int, from text: Data) -> [[UInt8]] {
        let lines = text.split(separator: UInt8(ascii: "\n"))
        return stride(from: 0, to: lines.count, by: size).map { start in
            Array(lines[start..<min(start + size, lines.count)].joined(separator: [UInt8(ascii: "\n")]))
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
