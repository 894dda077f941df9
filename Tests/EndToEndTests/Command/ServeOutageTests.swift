import Foundation
import ServerTestSupport
import TestPromises
import Testing

/// `sluice serve` when readers, destinations or disks fail.
@Suite("sluice serve during failures", .timeLimit(.minutes(5)))
struct ServeOutageTests {
    @Test(
        "a reader that stops reading the console's output delays nothing else, and gets everything once it continues",
        .promise("slow-tracker")
    )
    func stalledReader() async throws {
        let folder = try TestFolder()
        let stdout = Pipe()
        let server = try await ServingSluice.start(in: folder, stdout: stdout, readsOutput: false)
        let lines = try await RetailMonth.dayLines()
        try folder.write(lines.joined(separator: "\n"), to: "day.ndjson")
        // Many times the capacity of a pipe.
        for _ in 0..<3 { #expect(try await server.post(file: folder.path("day.ndjson")).status == 200) }
        try await server.waitUntilReady()
        let output = OutputLog(reading: stdout.fileHandleForReading, keepsLines: true)
        try await output.waitForLines(3 * 3_108)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        await output.waitForEnd()
        #expect(output.lines.count == 3 * 3_108)
        #expect(Set(ids(of: output.lines)).count == 3 * 3_108)
    }

    @Test("a reader that exits loses only its own output, also if it read standard error")
    func closedReader() async throws {
        let folder = try TestFolder()
        let stdout = Pipe()
        let server = try await ServingSluice.start(
            in: folder,
            environment: ["SLUICE_SHUTDOWN_TIMEOUT_SECONDS": "0"],
            stdout: stdout,
            readsOutput: false
        )
        try stdout.fileHandleForReading.close()
        let line = try await RetailMonth.dayLines(1)[0]
        #expect(try await server.post(line).status == 200)
        _ = try await server.process.errors.line(containing: "Writing to the output failed")
        #expect(try await server.post(line).status == 200)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        let said = "Stopped. 2 events accepted; console: 0 delivered, 2 left in the journal."
        #expect(server.process.errors.lines.last == said)
    }

    @Test(
        "without a journal, a queue that stays full is answered with 503 and Retry-After, and nothing of the body is accepted",
        .promise("slow-tracker")
    )
    func full() async throws {
        let folder = try TestFolder()
        let stdout = Pipe()
        let server = try await ServingSluice.start(
            "--no-journal",
            "--max-wait",
            "0",
            in: folder,
            environment: ["SLUICE_QUEUE_CAPACITY_IN_EVENTS": "3000", "SLUICE_SHUTDOWN_TIMEOUT_SECONDS": "0"],
            stdout: stdout,
            readsOutput: false
        )
        try folder.write(try await RetailMonth.dayLines(1_000).joined(separator: "\n"), to: "thousand.ndjson")
        var taken = 0
        var answer = try await server.post(file: folder.path("thousand.ndjson"), "-i")
        while answer.status == 200, taken < 100_000 {
            taken += 1_000
            answer = try await server.post(file: folder.path("thousand.ndjson"), "-i")
        }
        #expect(answer.status == 503)
        #expect(answer.body.lowercased().contains("retry-after: "))
        #expect(taken >= 3_000)
        #expect(taken <= 5_000)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        #expect(server.process.errors.lines.last?.hasPrefix("Stopped. \(taken) events accepted;") == true)
    }

    @Test(
        "after kill -9, the quarantine has every rejection that was written, and the next start continues after it",
        .promise("slow-quarantine")
    )
    func killed() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        let bad = #"{"name":"Sold","payload":{"quantity":0}}"#
        try folder.write(String(repeating: bad + "\n", count: 2_000), to: "bad.ndjson")
        let first = try await ServingSluice.start(in: folder, plan: "plan")
        #expect(try await first.post(file: folder.path("bad.ndjson")).status == 422)
        try await folder.waitForQuarantined(2_000)
        first.process.send(SIGKILL)
        #expect(try await first.process.waitForEnd() == .signal(SIGKILL))
        let kept = folder.quarantined()
        #expect(kept.count == 2_000)
        let second = try await ServingSluice.start(in: folder, plan: "plan")
        #expect(try await second.post(bad).status == 422)
        second.process.send(SIGTERM)
        #expect(try await second.process.waitForEnd() == .exit(0))
        #expect(folder.quarantined().count == 2_001)
        try folder.write(Plans.shop(minimumQuantity: 0), to: "plan/shop.plist")
        let replay = try await Sluice.replay("quarantine", in: folder, plan: "plan")
        #expect(replay.ending == .exit(0))
        #expect(Set(ids(of: replay.output)).count == 2_001)
    }

    #if os(Linux)
    @Test("a shutdown that hangs in a call that cannot be cancelled exits with 1 at the deadline, with an error")
    func shutdownDeadline() async throws {
        let folder = try TestFolder()
        let accept = try await HangingCall(.accept4, in: folder)
        let environment = ["SLUICE_SHUTDOWN_TIMEOUT_SECONDS": "1"].merging(accept.environment) { $1 }
        let server = try await ServingSluice.start(in: folder, environment: environment)
        try accept.hang()
        async let unanswered = server.request("/livez")
        try await accept.waitUntilHanging()
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(1))
        // 10 s for connections, 1 s for the queues, 5 s each for trackers, journal and quarantine, and 1 s more.
        let said = "The shutdown took longer than 27 s. Every acknowledged event is in the journal."
        #expect(server.process.errors.lines.last == said)
        #expect(try await unanswered.status == 0)
    }
    #endif

    @Test("input that a log line quotes is escaped")
    func logEscapes() async throws {
        let server = try await ServingSluice.start(
            "--postgres",
            "host=/nowhere\u{1B}[2J",
            in: try TestFolder(),
            environment: ["SLUICE_SHUTDOWN_TIMEOUT_SECONDS": "0"]
        )
        let line = try await server.process.errors.line(containing: "The tracker could not start and will try again")
        #expect(line.contains(#"/nowhere\u001b[2J"#))
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        #expect(!server.process.errors.text.contains("\u{1B}"))
    }
}
