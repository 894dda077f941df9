import Foundation
import ServerTestSupport
import TestPromises
import Testing

@Suite("The memory of the process", .timeLimit(.minutes(5)))
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

    @Test("a body of as many invalid events as possible takes little memory", .promise("memory-limits"))
    func memory() async throws {
        let folder = try TestFolder()
        try folder.write("[{}]", to: "one.json")
        try folder.write("[\(Array(repeating: "{}", count: 87_000).joined(separator: ","))]", to: "many.json")
        let server = try await ServingSluice.start("--no-admin", in: folder)
        func post(_ file: String) async throws -> Int {
            let type = "Content-Type: application/cloudevents-batch+json"
            return try await server.request("/v1/events", ["-H", type, "--data-binary", "@\(folder.path(file))"]).status
        }
        #expect(try await post("one.json") == 422)
        let before = try server.process.peakMemoryInKibibytes()
        for _ in 0..<3 { #expect(try await post("many.json") == 413) }
        let growth = try server.process.peakMemoryInKibibytes() - before
        #expect(growth < 64 << 10, "\(growth) KiB")
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }
}
