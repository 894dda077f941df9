import Foundation
import ServerTestSupport
import Testing

/// The filters of `sluice replay`.
@Suite("sluice replay filters", .timeLimit(.minutes(5)))
struct ReplayFilterTests {
    @Test("--event selects events by name")
    func event() async throws {
        let folder = try TestFolder()
        let run = try await Sluice.replay(RetailMonth.dayPath, "--event", "Item Returned", in: folder)
        #expect(run.ending == .exit(0))
        #expect(run.output.count == 27)
        #expect(run.output.allSatisfy { $0.contains(#""name":"Item Returned""#) })
        let report = try run.report()
        #expect(report.read == 3_108)
        #expect(report.accepted == 27)
        #expect(report.skipped == 3_081)
        let both = try await Sluice.replay(
            RetailMonth.dayPath,
            "--event",
            "Item Returned",
            "--event",
            "Item Purchased",
            in: folder
        )
        #expect(both.output.count == 3_108)
    }

    @Test("--to selects trackers without regard to case, and the others cause no warning")
    func to() async throws {
        let folder = try TestFolder()
        let run = try await Sluice.run(
            "replay",
            RetailMonth.dayPath,
            "--events",
            Sluice.plan,
            "--to",
            "Console",
            "--event",
            "Item Returned",
            in: folder
        )
        #expect(run.ending == .exit(0))
        #expect(run.output.count == 27)
        #expect(!run.errors.contains { $0.contains("is not configured") })
    }

    @Test("--dry-run validates everything, delivers nothing and quarantines nothing")
    func dryRun() async throws {
        let folder = try TestFolder()
        try folder.write("{broken\n" + (try await RetailMonth.dayLines(5)).joined(separator: "\n"), to: "six.ndjson")
        // There is no server; a dry run does not connect.
        let run = try await Sluice.replay(
            "six.ndjson",
            "--dry-run",
            "--postgres",
            "postgres://127.0.0.1:1/none",
            in: folder
        )
        #expect(run.ending == .exit(2))
        let report = try run.report()
        #expect(report.read == 6)
        #expect(report.accepted == 5)
        #expect(report.rejectedByCode == ["malformed-json": 1])
        #expect(report.delivered == [:])
        #expect(run.output.count == 1)
        // No error about the events that were not quarantined.
        #expect(run.errors == [])
        #expect(!FileManager.default.fileExists(atPath: folder.path("quarantine")))
    }

    @Test("--rate limits the number of events per second")
    func rate() async throws {
        let folder = try TestFolder()
        try folder.write(try await RetailMonth.dayLines(60).joined(separator: "\n"), to: "sixty.ndjson")
        let run = try await Sluice.replay("sixty.ndjson", "--rate", "100", in: folder)
        #expect(run.output.count == 60)
        #expect(try run.report().seconds >= 0.5)
    }

    @Test("without --json, replay prints its report as a table, with the number of events that filters excluded")
    func table() async throws {
        let folder = try TestFolder()
        let run = try await Sluice.run(
            "replay",
            RetailMonth.dayPath,
            "--events",
            Sluice.plan,
            "--event",
            "Item Returned",
            "--dry-run",
            in: folder
        )
        let rows = run.output.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(rows.prefix(4) == ["read 3108", "accepted 27", "excluded by filters 3081", "rejected 0"])
        #expect(Set(run.output.map(\.count)).count == 1)
        #expect(!run.output.joined().contains("\u{1B}"))
        #expect(!run.errors.joined().contains("\u{1B}"))
    }
}
