import EventJournal
import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// `sluice serve` with a journal and PostgreSQL, whose checkpoint takes precedence over the journal's cursor.
@Suite("sluice serve and PostgreSQL's checkpoint", .timeLimit(.minutes(5)))
struct CheckpointTests {
    private static let plan = Sluice.plan + "/retail.plist"
    private let ids = (0..<20).map { _ in UUID().uuidString.lowercased() }.sorted()

    private func migrate(_ database: TestDatabase, in folder: TestFolder, _ options: String...) async throws {
        let run = try await Sluice.run(
            ["migrate", "--events", Self.plan, "--postgres", database.url] + options,
            in: folder
        )
        #expect(run.ending == .exit(0))
    }

    /// Runs a server while `body` runs, then ends it with `signal`.
    private func serve(
        _ database: TestDatabase,
        in folder: TestFolder,
        endingBy signal: Int32,
        _ body: (ServingSluice) async throws -> Void
    ) async throws {
        let server = try await ServingSluice.start(
            "--no-console",
            "--journal",
            "journal",
            "--postgres",
            database.url,
            in: folder,
            plan: Self.plan
        )
        try await server.waitUntilReady()
        try await body(server)
        server.process.send(signal)
        #expect(try await server.process.waitForEnd() == (signal == SIGKILL ? .signal(signal) : .exit(0)))
    }

    private func post(_ ids: some Sequence<String>, to server: ServingSluice, then database: TestDatabase) async throws
    {
        for id in ids {
            let event = """
                {"id":"\(id)","name":"Item Purchased","payload":{"invoiceNo":"536365","stockCode":"85123A",\
                "quantity":6,"unitPrice":2.55,"country":"United Kingdom"}}
                """
            #expect(try await server.post(event).status == 200)
        }
        try await waitUntilStored(Set(ids), in: database)
    }

    private func waitUntilStored(_ ids: Set<String>, in database: TestDatabase) async throws {
        while !ids.isSubset(of: try await database.run("select id from analytics.item_purchased")) {
            try await waitBriefly()
        }
    }

    @Test("a lost cursor causes no duplicates, and a restored database gets the events again that it lost")
    func lostAndRestored() async throws {
        let (folder, database) = (try TestFolder(), try await PrivatePostgres.shared().makeDatabase())
        try await migrate(database, in: folder)
        try await database.noteInserts(into: "analytics.item_purchased")

        try await serve(database, in: folder, endingBy: SIGKILL) { try await post(ids[..<10], to: $0, then: database) }
        try FileManager.default.removeItem(atPath: folder.path("journal/postgres.cursor"))
        try await serve(database, in: folder, endingBy: SIGTERM) { try await post(ids[10...], to: $0, then: database) }
        #expect(try await database.notedInserts() == ids)
        let inspected = try await Sluice.run("journal", "inspect", "journal", in: folder)
        let journal = inspected.output.first { $0.hasPrefix("journal ") }?.dropFirst("journal ".count)
        let row = try await database.run("SELECT journal, tracker, next_sequence FROM analytics._sluice_checkpoints")
        #expect(row == ["\(journal ?? "-")|postgres|20"])

        // The state of a backup that was made after the fifth event.
        try await database.run(
            """
            DELETE FROM analytics.item_purchased WHERE id > '\(ids[4])';
            UPDATE analytics._sluice_checkpoints SET next_sequence = 5
            """
        )
        try await serve(database, in: folder, endingBy: SIGTERM) { server in
            try await waitUntilStored(Set(ids), in: database)
            let warning = try await server.process.errors.line(containing: "checkpoint is behind its cursor")
            #expect(warning.contains("sequence=5"))
        }
        #expect(try await database.notedInserts() == (ids + ids[5...]).sorted())
    }

    @Test("a database without a checkpoint table is an error that names sluice migrate")
    func notMigrated() async throws {
        let (folder, database) = (try TestFolder(), try await PrivatePostgres.shared().makeDatabase())
        let first = "migrations/0001_schema.sql"
        try folder.write(try String(contentsOf: RepositoryFile.url(first), encoding: .utf8), to: "0001_schema.sql")
        try await migrate(database, in: folder, "--migrations", folder.url.path)
        let server = try await ServingSluice.start(
            ["--no-console", "--journal", "journal", "--postgres", database.url],
            in: folder,
            plan: Self.plan
        )
        let said = try await server.process.errors.line(containing: "The tracker is blocked")
        #expect(
            said.contains(#"The database lacks the table "analytics"."_sluice_checkpoints"; run `sluice migrate`."#)
        )
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }
}
