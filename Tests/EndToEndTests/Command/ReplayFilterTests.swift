import Foundation
import ServerTestSupport
import SluiceCommand
import SluiceTesting
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

    @Test("--since includes its time and --until excludes it, so that together they select exactly one day")
    func time() async throws {
        let folder = try TestFolder()
        let day = try await Sluice.replay(
            RetailMonth.path,
            "--since",
            "2010-12-01T00:00:00Z",
            "--until",
            "2010-12-02T00:00:00Z",
            in: folder
        )
        #expect(try RetailMonth.facts(of: day.output).purchased == 3_081)
        #expect(try RetailMonth.facts(of: day.output).returned == 27)
        // The first invoice, at 08:26, has seven lines. The second and third follow at 08:28.
        let first = try await Sluice.replay(
            RetailMonth.dayPath,
            "--since",
            "2010-12-01T08:26:00Z",
            "--until",
            "2010-12-01T09:28:00+01:00",
            in: folder
        )
        #expect(first.output.count == 7)
        let after = try await Sluice.replay(RetailMonth.dayPath, "--since", "2011-01-01T00:00:00Z", in: folder)
        #expect(after.ending == .exit(0))
        #expect(after.output == [])
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

    @Test("--rate does not catch up after a pause in the input")
    func rateAfterPause() async {
        let clock = ManualClock()
        var rate = ReplayRate(eventsPerSecond: 100, clock: clock)
        // The pause in the input.
        clock.advance(by: .seconds(60))
        async let sleepers: [Duration] = {
            await clock.waitForSleepers(1)
            defer { clock.advance(by: .seconds(60)) }
            return clock.sleepers
        }()
        await rate.wait(for: 50)
        #expect(await sleepers == [.milliseconds(500)])
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
