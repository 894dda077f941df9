import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

@Suite("sluice maintain --archive", .timeLimit(.minutes(5)))
struct MaintainArchiveTests {
    /// An event `Sold` with a quantity, which goes to PostgreSQL.
    private static let plan = Plans.shop(minimumQuantity: 1)
        .replacing("<string>console</string>", with: "<string>postgres</string>")

    private let folder: TestFolder
    private let database: TestDatabase

    init() async throws {
        folder = try TestFolder()
        database = try await PrivatePostgres.shared().makeDatabase()
        try folder.write(Self.plan, to: "plan/sold.plist")
    }

    private func arguments(_ command: [String]) -> [String] {
        command + ["--events", folder.path("plan"), "--postgres", database.url]
    }

    private func maintenance(_ program: [String]) -> [String] {
        arguments(
            ["maintain", "--archive"] + program
                + ["--archive-folder", folder.path("archives"), "--retention-months", "12"]
        )
    }

    /// The tables that are no partitions of `sold` any more, and are not dropped.
    private func detached() async throws -> [String] {
        try await database.run(
            """
            SELECT relname FROM pg_class WHERE relnamespace = 'analytics_partitions'::regnamespace AND relkind = 'r'
            AND NOT relispartition ORDER BY 1
            """
        )
    }

    @Test(
        "a run that is killed while it archives takes its program with it and leaves every row, and the next run archives them",
        .promise("archive-before-drop")
    )
    func killed() async throws {
        let environment = ["SLUICE_POSTGRES_PARTITIONS": "month"]
        let migration = try await Sluice.run(arguments(["migrate"]), in: folder, environment: environment)
        #expect(migration.ending == .exit(0))
        try await database.run(
            """
            INSERT INTO analytics.sold (id, occurred_at, received_at, quantity)
            SELECT gen_random_uuid(), now() - interval '400 days', now(), g FROM generate_series(1, 1000) g
            """
        )
        let script = try folder.write("echo \"I am $$\" >&2\nexec tail -f /dev/null", to: "hang.sh")
        let killed = try SluiceProcess(maintenance(["/bin/sh", script]), in: folder)
        let line = try await killed.errors.line(containing: "I am ")
        let processID = try #require(line.firstMatch(of: /I am (\d+)/).flatMap { Int32($0.1) })
        killed.send(SIGKILL)
        #expect(try await killed.waitForEnd() == .signal(SIGKILL))
        while kill(processID, 0) == 0 { try await waitBriefly() }
        let left = try await detached()
        let expired = try #require(left.first)
        #expect(try await database.run("SELECT count(*) FROM analytics_partitions.\(expired)") == ["1000"])

        let python = RepositoryFile.url(".run/archive/bin/python").path
        try #require(FileManager.default.isExecutableFile(atPath: python), "run `make setup-test`")
        let program = [python, RepositoryFile.url("Examples/archive/parquet.py").path]
        let archived = try await Sluice.run(maintenance(program), in: folder)
        #expect(archived.ending == .exit(0), "\(archived.errors)")
        let archive = folder.path("archives/sold/\(expired)")
        #expect(archived.output.contains("archived \(expired) in \(archive)"))
        #expect(try await detached() == [])
        let check = RepositoryFile.url("Tests/Support/Clients/archive_receipt.py").path
        #expect(try await Command.run(python, [check, archive]).text == "1000\n")
    }

    @Test("a program that fails ends the command with 1, which names the table and the program's last line")
    func failure() async throws {
        let environment = ["SLUICE_POSTGRES_PARTITIONS": "month"]
        _ = try await Sluice.run(arguments(["migrate"]), in: folder, environment: environment)
        let script = try folder.write("echo 'no space' >&2\nexit 7", to: "fail.sh")
        let run = try await Sluice.run(maintenance(["/bin/sh", script]), in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.output.contains("analyzed sold"))
        let left = try await detached()
        #expect(!left.isEmpty)
        for name in left {
            let problem = #"The expired table "analytics_partitions"."\#(name)" was not archived, and keeps its rows"#
            #expect(run.errors.joined().contains(problem))
        }
        #expect(run.errors.joined().contains("exit status 7. Its last line on standard error: no space"))
    }
}
