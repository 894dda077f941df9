import EventModel
import EventSchema
import EventValidation
import Foundation
import ServerTestSupport
import SluiceExec
import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: archives of expired partitions", .timeLimit(.minutes(5)))
struct PartitionArchiveTests {
    @Test("a month is archived by the program of the examples, and dropped; DuckDB reads what the receipt states")
    func reference() async throws {
        let scene = try await ArchiveScene()
        let report = try await scene.maintain(ArchiveScene.reference)
        #expect(report.problems.map(\.message) == [])
        let archive = "\(scene.archives)/bought/\(scene.expired)"
        #expect(report.changes.contains("archived \(scene.expired) in \(archive)"))
        #expect(report.changes.contains("removed \(scene.expired)"))
        #expect(try await scene.isDropped())
        #expect(try await scene.rowsOfArchive() == "\(ArchiveScene.rows)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(scene.archives)/.partial") == [])
        let again = try await scene.maintain(["/bin/false"])
        #expect(again.changes == ["analyzed bought"] && again.problems.isEmpty)
    }

    /// What a program can do instead of archiving, and how that is reported.
    private static let failures: [(script: String, problem: String)] = [
        (
            "echo 'disk full' >&2; exit 3",
            "The program ended with exit status 3. Its last line on standard error: disk full"
        ),
        ("reference && kill -9 $$", "The program ended with signal 9."),
        ("exit 0", "receipt.json cannot be used: No such file or directory."),
        ("reference && rm $SLUICE_ARCHIVE_FOLDER/receipt.json", "No such file or directory."),
        ("echo '{' >$SLUICE_ARCHIVE_FOLDER/receipt.json", "it is no JSON object"),
        ("echo '{}' >$SLUICE_ARCHIVE_FOLDER/receipt.json", "it lacks 'rows', 'ids' or 'columns'"),
        (
            #"echo '{"rows":1,"ids":"","columns":{"id":{"nulls":0,"min":1}}}' >$SLUICE_ARCHIVE_FOLDER/receipt.json"#,
            "'min', 'max' and 'sum' are not all texts"
        ),
    ]

    @Test(
        "a program that fails, or is killed, leaves every row, and the next run archives them",
        .promise("archive-before-drop")
    )
    func failures() async throws {
        let scene = try await ArchiveScene()
        for (script, problem) in Self.failures {
            let report = try await scene.maintain(script: script)
            #expect(report.problems.count == 1)
            let message = try #require(report.problems.first?.message)
            #expect(message.contains(problem), "\(script)")
            #expect(
                message.contains(#""analytics_partitions"."\#(scene.expired)" was not archived, and keeps its rows"#)
            )
            // What loads need was done all the same.
            #expect(report.changes.contains("analyzed bought"))
            try await scene.expectEveryRow()
        }
        let slow = try await scene.maintain(script: "exec tail -f /dev/null", timeout: .seconds(1))
        #expect(slow.problems.first?.message.contains("The program took longer than 1 s") == true)
        let missing = try await scene.maintain(["no-such-program"])
        #expect(missing.problems.first?.message.contains("'no-such-program' was not found in PATH") == true)
        try await scene.expectEveryRow()

        // Of a month that was archived, and then made again.
        let other = "archives/bought/\(scene.expired)"
        try FileManager.default.createDirectory(atPath: scene.folder.path(other), withIntermediateDirectories: true)
        try scene.folder.write(#"{"rows":0,"ids":"","columns":{}}"#, to: "\(other)/receipt.json")
        #expect(try await scene.maintain(ArchiveScene.reference).problems.isEmpty)
        #expect(try await scene.isDropped())
        #expect(try await scene.rowsOfArchive("-2") == "\(ArchiveScene.rows)")
    }

    @Test("a receipt that does not fit leaves every row, whatever differs", .promise("archive-before-drop"))
    func receipts() async throws {
        let scene = try await ArchiveScene()
        let folder = scene.folder
        _ = try await scene.maintain(script: "reference && cp $SLUICE_ARCHIVE_FOLDER/receipt.json $1/stated && exit 1")
        let stated = folder.text("stated")
        try await scene.expectEveryRow()

        let use = "cp $1/changed $SLUICE_ARCHIVE_FOLDER/receipt.json"
        for (difference, change) in Self.changes {
            var receipt = try #require(try JSONSerialization.jsonObject(with: Data(stated.utf8)) as? [String: Any])
            change(&receipt)
            try folder.write(
                String(decoding: try JSONSerialization.data(withJSONObject: receipt), as: UTF8.self),
                to: "changed"
            )
            let problems = try await scene.maintain(script: use).problems
            #expect(
                problems.count == 1 && problems[0].message.contains("does not fit the rows: \(difference) differs.")
            )
            try await scene.expectEveryRow()
        }

        // A receipt says something about all rows, also those that were changed after it was written.
        try await scene.fixture.database.run(
            "UPDATE analytics_partitions.\(scene.expired) SET number = number + 1 WHERE number = 9000000000000007"
        )
        try folder.write(stated, to: "changed")
        let late = try await scene.maintain(script: use).problems
        #expect(late.count == 1 && late[0].message.contains(#"the sum of the column "number" differs"#))
        try await scene.expectEveryRow()
    }

    /// The changes of a receipt, by what is then found to differ.
    private static let changes: [(difference: String, change: @Sendable (inout [String: Any]) -> Void)] = [
        ("the number of rows", { $0["rows"] = ArchiveScene.rows - 1 }),
        ("the digest of the ids", { $0["ids"] = String(repeating: "0", count: 64) }),
        (#"the column "cart""#, { change(&$0, "cart", nil) }),
        (#"the number of NULLs in the column "text""#, { change(&$0, "text", ["nulls": 0]) }),
        (#"the minimum of the column "text""#, { change(&$0, "text", ["min": "Zoe 1"]) }),
        (
            #"the maximum of the column "occurred_at""#,
            { change(&$0, "occurred_at", ["max": "2020-01-01T00:00:00.000000Z"]) }
        ),
        (#"the maximum of the column "ratio""#, { change(&$0, "ratio", ["max": "714.2857"]) }),
        (#"the minimum of the column "gift""#, { change(&$0, "gift", ["min": "true"]) }),
        (#"the sum of the column "number""#, { change(&$0, "number", ["sum": "45000000000012502501"]) }),
        (#"the sum of the column "price""#, { change(&$0, "price", ["sum": "1562812.51"]) }),
        (#"the sum of the column "price""#, { change(&$0, "price", ["sum": NSNull()]) }),
        (#"the minimum of the column "never""#, { change(&$0, "never", ["min": "0"]) }),
    ]

    /// Changes members of a column, or removes it.
    private static func change(_ receipt: inout [String: Any], _ column: String, _ members: [String: Any]?) {
        var columns = receipt["columns"] as? [String: Any] ?? [:]
        let own = columns[column] as? [String: Any] ?? [:]
        columns[column] = members.map { own.merging($0) { $1 } }
        receipt["columns"] = columns
    }

    @Test("an archive whose table was not dropped before the end of a run is not made again")
    func completeArchive() async throws {
        let scene = try await ArchiveScene()
        let folder = scene.folder
        _ = try await scene.maintain(script: "reference && cp $SLUICE_ARCHIVE_FOLDER/receipt.json $1/stated && exit 1")
        let archive = "archives/bought/\(scene.expired)"
        try FileManager.default.createDirectory(atPath: folder.path(archive), withIntermediateDirectories: true)
        try folder.write(folder.text("stated"), to: "\(archive)/receipt.json")
        let report = try await scene.maintain(script: "exit 1")
        #expect(report.changes.contains("removed \(scene.expired), which was archived before"))
        #expect(try await scene.isDropped())
    }

    @Test(
        "the program gets the connection and what to archive as environment variables, and no password as an argument"
    )
    func environment() async throws {
        let scene = try await ArchiveScene()
        let text = #"case "$SLUICE_ARCHIVE_PARTITION" in *\#(scene.expired)*) env >"$1/env" ;; esac; exit 1"#
        let root = scene.folder.path("")
        _ = try await scene.maintain(["/bin/sh", "-c", text, "sh", root]) { $0.password = "a b=c" }
        let variables = scene.folder.text("env").split(separator: "\n").map(String.init)
        let month = try #require(TimePartition.ofNewTable(by: .month).first)
        let expected = [
            "PGHOST=127.0.0.1", "PGPORT=\(scene.fixture.database.server.port)", "PGUSER=postgres",
            "PGDATABASE=\(scene.fixture.database.name)", "PGPASSWORD=a b=c", "SLUICE_ARCHIVE_SCHEMA=analytics",
            "SLUICE_ARCHIVE_TABLE=bought", #"SLUICE_ARCHIVE_PARTITION="analytics_partitions"."\#(scene.expired)""#,
            "SLUICE_ARCHIVE_FROM=\(month.first)T00:00:00Z", "SLUICE_ARCHIVE_TO=\(month.end)T00:00:00Z",
            "SLUICE_ARCHIVE_FOLDER=\(scene.archives)/.partial/analytics_partitions.\(scene.expired)",
        ]
        #expect(expected.filter { !variables.contains($0) } == [])
    }

    @Test(
        "a row cannot be added while the receipt is compared, and a session that reads the table does not prevent that"
    )
    func reading() async throws {
        let scene = try await ArchiveScene()
        // Detached, and left by a run without an archive.
        _ = try await scene.maintain(script: "exit 1")
        let reader = try scene.fixture.database.server.openSession(scene.fixture.database.name)
        try reader.run("BEGIN; SELECT count(*) FROM analytics_partitions.\(scene.expired);")
        async let report = scene.maintain(ArchiveScene.reference)
        let database = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        let waiting = "pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock' AND \(database)"
        while try await scene.fixture.count(waiting) == 0 { try await waitBriefly() }
        let relation = "relation = 'analytics_partitions.\(scene.expired)'::regclass"
        #expect(try await scene.fixture.count("pg_locks WHERE granted AND mode = 'ShareLock' AND \(relation)") == 1)
        try reader.close()
        #expect(try await report.problems.isEmpty)
        #expect(try await scene.isDropped())
    }
}
