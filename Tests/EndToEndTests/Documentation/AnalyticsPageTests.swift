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
        let queries = blocks.prefix(Recipes.Question.allCases.count).map { block in
            String(block.split(separator: ";")[0])
                .replacing("2026-10-01", with: recipes.since).replacing("2026-11-01", with: recipes.until)
        }
        try #require(queries.count == Recipes.Question.allCases.count)
        let users = try #require(queries.last)
        for (question, query) in zip(Recipes.Question.allCases, queries) {
            var variants = [(query, isStitched: false)]
            if question != .users { variants.append((Self.stitched(query, users), isStitched: true)) }
            for (query, isStitched) in variants {
                let rows = try await database.run("SELECT \(question.columns) FROM (\n\(query)\n) answer")
                let expected = try await recipes.answer(
                    to: question,
                    after: files,
                    steps: ["Item Purchased", "Item Returned"],
                    isStitched: isStitched
                )
                #expect(expected.count > 1)
                #expect(rows.sorted() == expected, "\(question), stitched: \(isStitched)")
            }
        }
    }

    /// A recipe changed as the last one says, so that its persons have the users of their anonymous ids.
    private static func stitched(_ query: String, _ users: String) -> String {
        query
            .replacing(/FROM analytics\.\w+/) { "\($0.output) item LEFT JOIN users USING (anonymous_id)" }
            .replacing(
                "coalesce(user_id, anonymous_id)",
                with: "coalesce(item.user_id, users.user_id, item.anonymous_id)"
            )
            .replacing("WITH events AS (", with: "WITH users AS (\n\(users)\n), events AS (")
    }
}
