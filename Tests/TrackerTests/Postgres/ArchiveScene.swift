import EventModel
import EventSchema
import EventValidation
import Foundation
import ServerTestSupport
import SluiceExec
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

/// A database with a month that has expired, and a folder for its archive.
struct ArchiveScene {
    static let rows = 5000

    let fixture: PostgresFixture
    let folder: ProgramFolder
    /// The name of the partition that has expired.
    let expired: String

    init() async throws {
        folder = try ProgramFolder()
        let properties = [
            property("number", .integer, required: false), property("ratio", .number, required: false),
            property("price", .decimal, required: false), property("text", .string, required: false),
            property("gift", .boolean, required: false), property("paid", .timestamp, required: false),
            property("day", .date, required: false), property("cart", .uuid, required: false),
            property("lines", .array, required: false), property("never", .decimal, required: false),
        ]
        fixture = try await PostgresFixture([event("Bought", properties)], partitions: .month)
        let months = TimePartition.ofNewTable(by: .month)
        let past = try #require(months.first)
        expired = past.name(of: "bought")
        // Other months that expire are empty.
        try await fixture.database.run(
            """
            INSERT INTO analytics.bought
                (id, occurred_at, received_at, number, ratio, price, text, gift, paid, day, cart, lines)
            SELECT gen_random_uuid(), '\(past.first)T00:00:00Z'::timestamptz + g * interval '7.000001 s', now(),
                9000000000000000 + g, g / 7.0, g / 8.0, CASE WHEN g % 3 > 0 THEN 'Zoë ' || g END, g % 5 = 0,
                now() + g * interval '1 s', '2020-02-29'::date + g, gen_random_uuid(),
                jsonb_build_array(g, 'ö', jsonb_build_object('b', 1, 'a', NULL))
            FROM generate_series(1, \(Self.rows)) g;
            ALTER TABLE analytics.bought ADD COLUMN "by ""the"" hand" integer[];
            UPDATE analytics.bought SET "by ""the"" hand" = ARRAY[1, 2] WHERE number % 2 = 0
            """
        )
    }

    var archives: String { folder.path("archives") }

    /// Runs the maintenance with a program.
    func maintain(
        _ command: [String],
        timeout: Duration = .seconds(120),
        now: Timestamp = .now(),
        _ change: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> MaintenanceReport {
        var configuration = PostgresConfiguration(connection: fixture.database.url)
        configuration.retentionMonths = 12
        configuration.archive.command = command
        configuration.archive.folder = archives
        configuration.archive.timeout = timeout
        change(&configuration)
        return try await PostgresMaintainer(configuration).maintain(
            fixture.catalog.plan,
            now: now,
            programs: ExecProgramRunner(logger: ProgramFolder.silent)
        )
    }

    /// Does the same with a script, in which `$1` is the scene's folder, and `reference` the program of the examples.
    ///
    /// The script is for the expired month with rows only; an empty one is left as it is.
    func maintain(script: String, timeout: Duration = .seconds(120)) async throws -> MaintenanceReport {
        let reference = try Self.reference.map { "'\($0)'" }.joined(separator: " ")
        let text = """
            case "$SLUICE_ARCHIVE_PARTITION" in *\(expired)*) ;; *) exit 77 ;; esac
            reference() { \(reference); }
            \(script)
            """
        let root = folder.path("")
        var report = try await maintain(["/bin/sh", "-c", text, "sh", root], timeout: timeout)
        report.problems.removeAll { $0.message.contains("exit status 77") }
        return report
    }

    /// The program of the examples, in the environment that `make setup-test` installs.
    static var reference: [String] {
        get throws {
            let python = RepositoryFile.url(".run/archive/bin/python").path
            try #require(
                FileManager.default.isExecutableFile(atPath: python),
                "the packages are not installed: run `make setup-test`"
            )
            return [python, RepositoryFile.url("Examples/archive/parquet.py").path]
        }
    }

    /// How many rows DuckDB reads in the archive, if they fit its receipt.
    func rowsOfArchive(_ suffix: String = "") async throws -> String {
        let python = try #require(try Self.reference.first)
        let check = RepositoryFile.url("Tests/Support/Clients/archive_receipt.py").path
        let result = try await Command.run(python, [check, "\(archives)/bought/\(expired)\(suffix)"])
        return result.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Expects that every row is in the detached table.
    func expectEveryRow(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let count = try await fixture.count("analytics_partitions.\(expired)")
        #expect(count == Self.rows, sourceLocation: sourceLocation)
    }

    /// Whether the expired partition is gone.
    func isDropped() async throws -> Bool {
        try await fixture.database.run("SELECT to_regclass('analytics_partitions.\(expired)') IS NULL") == ["t"]
    }
}
