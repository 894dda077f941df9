import Foundation
import Testing

/// The memory that a replay needs.
@Suite("sluice replay's memory", .timeLimit(.minutes(5)))
struct MemoryTests {
    @Test("replay needs no more memory for a file ten times as long")
    func flat() async throws {
        let small = try await peakInKibibytes(months: 1)
        let large = try await peakInKibibytes(months: 10)
        print("peak memory of a replay: \(small) KiB for 42,481 events, \(large) KiB for 424,810")
        #expect(small > 1_000)
        #expect(large < small + 16 << 10)
    }

    /// The peak memory of a replay of this many months in one file.
    private func peakInKibibytes(months: Int) async throws -> Int {
        let folder = try TestFolder()
        let fifo = folder.path("months.gz")
        #expect(mkfifo(fifo, 0o600) == 0)
        // Concatenated gzip files are one gzip file. The pipe ends only when this process closes its writing side.
        let feeder = Process()
        feeder.executableURL = URL(fileURLWithPath: "/bin/sh")
        feeder.arguments = ["-c", "{ for i in $(seq \(months)); do cat '\(RetailMonth.path)'; done; cat; } >'\(fifo)'"]
        let hold = Pipe()
        feeder.standardInput = hold
        try feeder.run()
        ProcessWatch.add(feeder.processIdentifier)
        defer { ProcessWatch.forget(feeder.processIdentifier) }
        let process = try SluiceProcess(
            ["replay", fifo, "--events", Sluice.plan, "--format", "json"],
            in: folder,
            environment: ["SLUICE_QUEUE_CAPACITY_IN_EVENTS": "20000"],
            keepsOutput: false
        )
        // The last lines may be readable only after the end of their compressed block.
        try await process.output?.waitForLines(months * 42_481 - 2_000)
        let peak = try process.peakMemoryInKibibytes()
        try hold.fileHandleForWriting.close()
        #expect(try await process.waitForEnd() == .exit(0))
        return peak
    }
}
