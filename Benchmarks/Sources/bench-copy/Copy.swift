import Foundation
import PlanReading
import Sluice
@_spi(Benchmarks) import SluicePostgres

/// Encodes canonical lines as rows of PostgreSQL's binary COPY, on one thread and without a server.
///
/// `bench-copy PLAN FILE LINES PASSES`, where FILE has one event on each line, and a batch is LINES of them. Prints events/s over all
/// passes, by the thread's processor time; the check, whose lines are encoded, is not counted.
@main
struct Copy {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let size = Int(arguments[3]), size > 0, let passes = Int(arguments[4]) else {
            throw BenchmarkError("usage: bench-copy PLAN FILE LINES PASSES")
        }
        guard let plan = PlanReader().read(paths: [arguments[1]]).plan else {
            throw BenchmarkError("the plan in \(arguments[1]) has errors; see sluice lint")
        }
        let catalog = EventCatalog(plan: plan)
        let batches = try batches(of: size, from: FileManager.default.contents(atPath: arguments[2]) ?? Data(), catalog)
        var encoding = RowEncoding(catalog: catalog)
        let start = processorSeconds()
        for _ in 0..<passes {
            for batch in batches {
                guard encoding.encode(batch) else { throw BenchmarkError("an event has no row") }
            }
        }
        let events = passes * batches.reduce(0) { $0 + $1.count }
        print(Int(Double(events) / (processorSeconds() - start)))
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func batches(of size: Int, from text: Data, _ catalog: EventCatalog) throws -> [EventBatch] {
        let validator = EventValidator(catalog: catalog)
        let lines = text.split(separator: UInt8(ascii: "\n"))
        return try stride(from: 0, to: lines.count, by: size).map { start in
            let body = Array(lines[start..<min(start + size, lines.count)].joined(separator: [UInt8(ascii: "\n")]))
            let checked = try body.withUnsafeBytes { try validator.check($0, as: .lines) }
            guard let batch = checked.batch, checked.rejections.isEmpty else {
                throw BenchmarkError("an event was rejected")
            }
            return batch
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
