import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// Runs the SQL on the pages of the documentation.
@Suite("the documentation's SQL", .timeLimit(.minutes(5)))
struct SQLTests {
    /// The pages with SQL that stand for a state of a database which another test produces.
    private static let elsewhere = ["Sources/Sluice/Sluice.docc/FromAnEmptyFolder.md"]

    private static func pages() throws -> [String] {
        let root = RepositoryFile.url("")
        let tracked = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
        let folders = ["Documentation", "Sources", "deploy", "Examples"].flatMap { folder in
            FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)?
                .compactMap { ($0 as? URL)?.path(percentEncoded: false) } ?? []
        }
        let paths = folders.filter { $0.hasSuffix(".md") && !$0.contains("/.build/") }
            .map { String($0.dropFirst(root.path(percentEncoded: false).count)) }
        return (tracked + paths).sorted()
    }

    @Test("every block of SQL on a page runs, in the order of the page, on a database with the tables of the plan")
    func blocks() async throws {
        let server = try await PrivatePostgres()
        var count = 0
        for path in try Self.pages() where !Self.elsewhere.contains(path) {
            let blocks = try MarkdownPage(path: path).texts("sql")
            guard !blocks.isEmpty else { continue }
            let database = try await server.makeDatabase()
            let folder = try TestFolder()
            let migrate = ["migrate", "--events", Sluice.plan + "/retail.plist", "--postgres", database.url]
            #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
            for block in blocks {
                // The pages call the database `shop`.
                let sql = block.replacing("DATABASE shop", with: "DATABASE \(database.name)")
                await #expect(throws: Never.self, "\(path): \(sql)") { try await database.run(sql) }
                count += 1
            }
            let roles = try await database.run("SELECT rolname FROM pg_roles WHERE rolname = 'sluice'")
            if !roles.isEmpty { try await database.run("DROP OWNED BY sluice; DROP ROLE sluice") }
        }
        #expect(count >= 3)
    }

    @Test(
        "migrate --grant-to grants exactly what the page for operators lists, also on tables to come, and it suffices"
    )
    func grants() async throws {
        let server = try await PrivatePostgres()
        let folder = try TestFolder()
        func privileges(_ database: TestDatabase) async throws -> [String] {
            try await database.run(
                """
                SELECT 'table', table_name, privilege_type FROM information_schema.role_table_grants WHERE grantee = 'sluice'
                UNION ALL SELECT 'column', table_name || '.' || column_name, privilege_type
                FROM information_schema.role_column_grants g WHERE grantee = 'sluice' AND NOT EXISTS (
                    SELECT FROM information_schema.role_table_grants t WHERE t.grantee = 'sluice'
                        AND t.table_name = g.table_name AND t.privilege_type = g.privilege_type)
                UNION ALL SELECT 'schema', 'analytics', has_schema_privilege('sluice', 'analytics', 'USAGE')::text
                UNION ALL SELECT 'database', '', has_database_privilege('sluice', current_database(), 'TEMPORARY')::text
                ORDER BY 1, 2, 3
                """
            )
        }
        func migrate(_ database: TestDatabase, _ plan: String, _ options: String...) async throws -> Finished {
            try await Sluice.run(
                ["migrate", "--events", plan, "--postgres", database.url] + options,
                in: folder,
                environment: ["SLUICE_POSTGRES_PARTITIONS": "month"]
            )
        }
        // One event, because the page names the table of one.
        let plan = Plans.shop(minimumQuantity: 1).replacing("console", with: "postgres")
        try folder.write(plan.replacing(">Sold<", with: ">Item Purchased<"), to: "plan/shop.plist")
        let byHand = try await server.makeDatabase()
        let missing = try await migrate(byHand, "plan", "--grant-to", "sluice")
        #expect(missing.ending == .exit(1))
        #expect(missing.errors.last?.contains("CREATE ROLE") == true, "\(missing.errors)")
        for block in try MarkdownPage(path: "Documentation/Operate/Operations.md").texts("sql")
        where !block.contains("pg_signal") {
            try await byHand.run(block.replacing("DATABASE shop", with: "DATABASE \(byHand.name)"))
        }
        let granted = try await server.makeDatabase()
        let script = try await migrate(granted, "plan", "--grant-to", "sluice", "--plan-only")
        #expect(script.output.contains { $0.hasPrefix("GRANT TEMPORARY ON DATABASE") })
        let run = try await migrate(granted, "plan", "--grant-to", "sluice")
        #expect(run.ending == .exit(0), "\(run.errors)")
        #expect(run.output.last == "granted 'sluice' what serve and load need")
        #expect(try await privileges(granted) == privileges(byHand))
        let scripted = try await server.makeDatabase()
        try await scripted.run(
            script.output.joined(separator: "\n").replacing("\"\(granted.name)\"", with: "\"\(scripted.name)\"")
        )
        #expect(try await privileges(scripted) == privileges(byHand))
        // A table that a later migration creates without the option.
        try folder.write(plan.replacing(">Sold<", with: ">Seen<"), to: "plan/seen.plist")
        #expect(try await migrate(granted, "plan").output.contains("created seen"))
        let check = try await Sluice.run(
            ["check", "--events", "plan", "--timeout", "60", "--postgres", granted.url(role: "sluice")],
            in: folder,
            environment: ["SLUICE_LOAD_GROUP": "g", "SLUICE_LOAD_FROM": "kafka://localhost:1/t"]
        )
        #expect(check.ending == .exit(0), "\(check.output)")
    }
}
