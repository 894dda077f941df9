#if os(Linux)
import ServerTestSupport
import Foundation
import TestPromises
import Testing

/// Events for which the process gets no memory are not rejected, because nothing is wrong with them.
@Suite("Out of memory for an event", .timeLimit(.minutes(5)))
struct NoMemoryTests {
    /// Enough to receive an event of nearly 1 MiB, but not enough to parse it.
    private let furtherKibibytes = 8 << 10

    private let small = #"{"name":"Sold","payload":{"quantity":1}}"#
    private let large =
        #"{"name":"Sold","payload":{"quantity":1,"note":""# + String(repeating: "x", count: 1_040_000) + #""}}"#

    @Test(
        "serve answers 503 to an event that it has no memory to parse, and accepts it once there is memory again",
        .promise("memory-limits")
    )
    func serve() async throws {
        let folder = try TestFolder()
        let plan = try folder.write(Plans.shop(minimumQuantity: 1), to: "events/shop.plist")
        let file = try folder.write(large, to: "large.ndjson")
        let sluice = try await ServingSluice.start(in: folder, plan: plan)
        #expect(try await sluice.post(small).status == 200)
        try await sluice.process.output?.waitForLines(1)
        try await sluice.process.limitMemory(toFurtherKibibytes: furtherKibibytes)
        let answer = try await sluice.post(file: file, "-i")
        #expect(answer.status == 503)
        #expect(answer.body.contains("retry-after: 1"))
        #expect(answer.body.contains(#"{"error":{"code":"no-memory","#))
        #expect(try await sluice.post(small).status == 200)
        try await sluice.process.limitMemory(toFurtherKibibytes: nil)
        #expect(try await sluice.post(file: file).status == 200)
        sluice.process.send(SIGTERM)
        #expect(try await sluice.process.waitForEnd() == .exit(0))
        #expect(sluice.process.output?.lines.count == 3)
    }

    @Test(
        "serve answers 503 to a body that it has no memory to inflate, and accepts it once there is memory again",
        .promise("memory-limits")
    )
    func gzip() async throws {
        let folder = try TestFolder()
        let plan = try folder.write(Plans.shop(minimumQuantity: 1), to: "events/shop.plist")
        let lines = String(repeating: String(repeating: " ", count: 1023) + "\n", count: 4095) + small
        _ = try folder.write(lines, to: "lines.ndjson")
        _ = try await Command.run("gzip", [folder.url.appending(path: "lines.ndjson").path])
        let file = folder.url.appending(path: "lines.ndjson.gz").path
        let sluice = try await ServingSluice.start(in: folder, plan: plan)
        #expect(try await sluice.post(small).status == 200)
        try await sluice.process.output?.waitForLines(1)
        // Not enough to inflate 4 KiB of gzip.
        try await sluice.process.limitMemory(toFurtherKibibytes: 3 << 10)
        let answer = try await sluice.post(file: file, "-i", "-H", "Content-Encoding: gzip")
        #expect(answer.status == 503)
        #expect(answer.body.contains(#"{"error":{"code":"no-memory","#))
        #expect(try await sluice.post(small).status == 200)
        try await sluice.process.limitMemory(toFurtherKibibytes: nil)
        #expect(try await sluice.post(file: file, "-H", "Content-Encoding: gzip").status == 200)
        sluice.process.send(SIGTERM)
        #expect(try await sluice.process.waitForEnd() == .exit(0))
        #expect(sluice.process.output?.lines.count == 3)
    }

    @Test("replay without enough memory reports that it could not validate its input, and exits with 1")
    func replay() async throws {
        let folder = try TestFolder()
        let plan = try folder.write(Plans.shop(minimumQuantity: 1), to: "events/shop.plist")
        let input = Pipe()
        let process = try SluiceProcess(
            ["replay", "--events", plan, "--format", "json", "--json", "--log-level", "error"],
            in: folder,
            input: .pipe(input)
        )
        try input.fileHandleForWriting.write(contentsOf: Data((small + "\n").utf8))
        try await process.output?.waitForLines(1)
        try await process.limitMemory(toFurtherKibibytes: furtherKibibytes)
        try input.fileHandleForWriting.write(contentsOf: Data((large + "\n").utf8))
        try input.fileHandleForWriting.close()
        let ending = try await process.waitForEnd()
        #expect(ending == .exit(1))
        let run = Finished(ending: ending, output: process.output?.lines ?? [], errors: process.errors.lines)
        let report = try run.report()
        #expect(report.rejected == 0)
        #expect(report.accepted == 1)
        #expect(report.failures == ["-: There was not enough memory to check events. [no-memory]"])
    }
}
#endif
