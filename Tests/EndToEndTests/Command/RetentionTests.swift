import Foundation
import ServerTestSupport
import TestPromises
import Testing

/// The settings of the journal's retention.
@Suite("sluice serve and its journal's retention", .timeLimit(.minutes(5)))
struct RetentionTests {
    private static let bytes = 200_000

    /// Sends events to a server with a small journal and an unreachable PostgreSQL; if nothing may be dropped, until it is full.
    private func serve(dropsUndelivered: Bool, in folder: TestFolder) async throws -> (
        SluiceProcess, statuses: Set<Int>
    ) {
        let serving = try await ServingSluice.start(
            ["--journal", "journal", "--no-console", "--postgres", "postgres://127.0.0.1:1/none"],
            in: folder,
            environment: [
                "SLUICE_JOURNAL_MAXIMUM_BYTES": "400000",
                "SLUICE_JOURNAL_RETENTION_BYTES": "\(Self.bytes)",
                "SLUICE_JOURNAL_RETENTION_AGE_HOURS": "1",
                "SLUICE_JOURNAL_RETENTION_DROP_UNDELIVERED": "\(dropsUndelivered)",
                "SLUICE_SHUTDOWN_TIMEOUT_SECONDS": "0",
                "SLUICE_QUEUE_CAPACITY_IN_EVENTS": "10",
            ]
        )
        let lines = try await RetailMonth.dayLines(1_500)
        var statuses: Set<Int> = []
        for start in stride(from: 0, to: lines.count, by: 100) {
            try folder.write(lines[start..<start + 100].joined(separator: "\n"), to: "part.ndjson")
            var status = 0
            repeat {
                status = try await serving.post(file: folder.path("part.ndjson")).status
                statuses.insert(status)
            } while status == 503 && dropsUndelivered
            if status == 503 { break }
        }
        if dropsUndelivered {
            _ = try await serving.process.errors.line(containing: "The journal's retention removes events")
        }
        serving.process.send(SIGTERM)
        #expect(try await serving.process.waitForEnd() == .exit(0))
        return (serving.process, statuses)
    }

    @Test(
        "dropUndelivered: an unreachable tracker loses the events beyond the limit, which are counted and logged",
        .promise("long-outage")
    )
    func drops() async throws {
        let folder = try TestFolder()
        let (process, statuses) = try await serve(dropsUndelivered: true, in: folder)
        #expect(statuses.isSubset(of: [200, 503]) && statuses.contains(200))
        let lost = try process.errors.lines.filter { $0.contains("The journal's retention removes events") }
            .map { line in
                let count = try #require(line.firstMatch(of: /events=(\d+)/)?.1)
                #expect(line.contains("tracker=postgres"))
                return try #require(Int(count))
            }
            .reduce(0, +)
        #expect(lost > 0 && lost < 1_500)
        let left = try await Sluice.run("journal", "cat", "journal", in: folder).output.count
        // Until PostgreSQL has reported its checkpoint, all its events are in the journal, and none in memory.
        #expect(lost + left == 1_500)
    }

    @Test("without dropUndelivered, the journal fills up, and nothing is lost", .promise("long-outage"))
    func keeps() async throws {
        let folder = try TestFolder()
        let (process, statuses) = try await serve(dropsUndelivered: false, in: folder)
        #expect(statuses == [200, 503])
        #expect(!process.errors.lines.contains { $0.contains("The journal's retention removes events") })
        let cat = try await Sluice.run("journal", "cat", "journal", in: folder)
        #expect(cat.ending == .exit(0) && cat.output.count % 100 == 0 && cat.output.count > 500)
    }

    @Test("invalid settings are named", arguments: ["AGE_HOURS=-1", "BYTES=0", "DROP_UNDELIVERED=maybe"])
    func invalid(setting: String) async throws {
        let parts = setting.split(separator: "=").map(String.init)
        let name = "SLUICE_JOURNAL_RETENTION_\(parts[0])"
        let run = try await Sluice.run("serve", "--journal", "j", in: TestFolder(), environment: [name: parts[1]])
        #expect(run.ending != .exit(0))
        #expect(run.errors.joined().contains("journal.retention.") || run.errors.joined().contains(name))
    }
}
