import ServerTestSupport
import TestSupport
import Testing

@Suite("the recipes of Analytics.md", .timeLimit(.minutes(5)))
struct AnalyticsPageTests {
    @Test("each recipe has the answer that a script computes, also after late and repeated events")
    func recipes() async throws {
        let folder = try TestFolder()
        let recipes = try await Recipes(seed: 7, in: folder)
        let database = try await PrivatePostgres.shared().makeDatabase()
        let migration = try await Sluice.run(
            ["migrate", "--events", Sluice.plan, "--postgres", database.url],
            in: folder
        )
        #expect(migration.ending == .exit(0), "\(migration.errors)")
        let files = ["first.ndjson", "second.ndjson"]
        try await recipes.load(files, into: database)
        let blocks = try MarkdownPage(path: "Documentation/Operate/Analytics.md").texts("sql")
        for (question, block) in zip(Recipes.Question.allCases, blocks) {
            let sql = block.replacing("2026-10-01", with: recipes.since).replacing("2026-11-01", with: recipes.until)
            let query = sql.split(separator: ";")[0]
            let rows = try await database.run("SELECT \(question.columns) FROM (\n\(query)\n) answer")
            let expected = try await recipes.answer(
                to: question,
                after: files,
                steps: ["Item Purchased", "Item Returned"]
            )
            #expect(expected.count > 1)
            #expect(rows.sorted() == expected, "\(question)")
        }
        #expect(blocks.count >= Recipes.Question.allCases.count)
    }
}
