import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// A replay that ends before its input does.
@Suite("sluice replay stops", .timeLimit(.minutes(5)))
struct ReplayStopTests {
    private let arguments = ["replay", "--events", Sluice.plan, "--format", "json", "--json"]

    @Test("after a signal, a replay delivers what it has read and exits with 1", arguments: [SIGTERM, SIGINT])
    func signal(_ signal: Int32) async throws {
        let folder = try TestFolder()
        let input = Pipe()
        let process = try SluiceProcess(arguments, in: folder, input: .pipe(input))
        let lines = try await RetailMonth.dayLines(5)
        try input.fileHandleForWriting.write(contentsOf: Data(lines.map { $0 + "\n" }.joined().utf8))
        try await process.output?.waitForLines(5)
        // The replay waits for more input.
        process.send(signal)
        #expect(try await process.waitForEnd() == .exit(1))
        let run = Finished(ending: .exit(1), output: process.output?.lines ?? [], errors: process.errors.lines)
        #expect(run.output.count == 5)
        let report = try run.report()
        #expect(report.delivered == ["console": 5])
        #expect(report.failures == ["stopped before everything was read and delivered"])
    }

    @Test("a replay ends with SIGPIPE after the reader of its output has exited")
    func closedReader() async throws {
        let folder = try TestFolder()
        let stdout = Pipe()
        let process = try SluiceProcess(
            arguments + [RetailMonth.path],
            in: folder,
            stdout: stdout,
            readsOutput: false
        )
        _ = try await process.errors.line(containing: "The tracker has started")
        try stdout.fileHandleForReading.close()
        #expect(try await process.waitForEnd() == .signal(SIGPIPE))
    }

    @Test("after a signal while a tracker is unreachable, a replay counts the undelivered events")
    func unreachable() async throws {
        let folder = try TestFolder()
        let process = try SluiceProcess(
            arguments + ["--postgres", "postgres://127.0.0.1:1/none", "--to", "postgres", RetailMonth.dayPath],
            in: folder,
            environment: ["SLUICE_SHUTDOWN_TIMEOUT_SECONDS": "0"]
        )
        _ = try await process.errors.line(containing: "will try again")
        process.send(SIGTERM)
        #expect(try await process.waitForEnd() == .exit(1))
        let report = try Finished(ending: .exit(1), output: process.output?.lines ?? [], errors: []).report()
        #expect(report.delivered == ["postgres": 0])
        #expect(report.undelivered == ["postgres": report.accepted])
    }

    @Test("quarantined events that are delivered after a signal are not sent again by the next replay")
    func quarantine() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        let destination = ["--postgres", database.url, "--to", "postgres"]
        func setPlan(minimumQuantity minimum: Int) throws {
            let plan = Plans.shop(minimumQuantity: minimum).replacingOccurrences(of: "console", with: "postgres")
            try folder.write(plan, to: "plan/shop.plist")
        }
        try setPlan(minimumQuantity: 1)
        let migrate = ["migrate", "--events", "plan", "--postgres", database.url]
        let migration = try await Sluice.run(migrate, in: folder)
        try #require(migration.ending == .exit(0), "\(migration.errors)")
        try folder.write(#"{"name":"Sold","payload":{"quantity":0}}"#, to: "sales.ndjson")
        #expect(try await Sluice.replay(["sales.ndjson"] + destination, in: folder, plan: "plan").ending == .exit(2))
        try setPlan(minimumQuantity: 0)

        let session = try database.server.openSession(database.name)
        try session.run("BEGIN; LOCK TABLE analytics.sold; SELECT 1;")
        let process = try SluiceProcess(
            ["replay", "quarantine", "--events", "plan", "--json", "--log-level", "debug"] + destination,
            in: folder
        )
        try await database.waitForSessions(1, waitingFor: "relation")
        process.send(SIGTERM)
        // The reading has ended, and the events that were read are delivered now.
        _ = try await process.errors.line(containing: "Service finished")
        try session.close()
        #expect(try await process.waitForEnd() == .exit(1))
        #expect(try await database.run("SELECT count(*) FROM analytics.sold") == ["1"])

        let again = try await Sluice.replay(["quarantine"] + destination, in: folder, plan: "plan")
        #expect(again.ending == .exit(0))
        #expect(try again.report().read == 0)
    }
}
