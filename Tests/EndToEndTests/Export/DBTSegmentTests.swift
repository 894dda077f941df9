import Foundation
import ServerTestSupport
import TestSupport
import Testing

@Suite("sluice migrate --segment-views and dbt-segment", .timeLimit(.minutes(5)))
struct DBTSegmentTests {
    private static let pages = (0..<40).map { number in
        """
        {"messageId":"m\(number)","anonymousId":"device \(number % 7)"\(number % 3 == 0 ? #","userId":"u1""# : ""),\
        "properties":{"title":"Shop","referrer":"https://www.google.com/"},"context":{"ip":"192.0.2.1",\
        "userAgent":"Mozilla/5.0 (iPhone; x)","campaign":{"source":"mail"},\
        "page":{"url":"https://shop.example/a?gclid=7","path":"/a"}},"type":"page"}
        """
    }

    @Test("an unmodified package for Segment's warehouses builds on the views, and again after more events")
    func package() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        let plan = try RepositoryFile.text("Sources/SluiceCommand/Init/Resources/segment.plist")
        try folder.write(plan.replacing(">console<", with: ">postgres<"), to: "plan/segment.plist")
        let migrate = ["migrate", "--events", "plan", "--postgres", database.url, "--segment-views"]
        let migration = try await Sluice.run(migrate, in: folder)
        #expect(migration.ending == .exit(0), "\(migration.errors)")
        #expect(migration.output.filter { $0.contains("segment.") }.count == 4)
        #expect(try await Sluice.run(migrate, in: folder).output == ["Nothing to do: the database matches the plan."])

        try FileManager.default.createDirectory(atPath: folder.path("shop"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: RepositoryFile.url("Tests/Support/Clients/dbt_packages"),
            to: folder.url.appending(path: "shop/dbt_packages")
        )
        try FileManager.default.removeItem(atPath: folder.path("shop/dbt_packages/README.md"))
        try folder.write(
            "{name: shop, profile: sluice, vars: {segment_page_views_table: segment.pages}}",
            to: "shop/dbt_project.yml"
        )
        let profile = try RepositoryFile.text("Sources/PlanTools/Exports/DBT/Project/profiles.yml")
        try folder.write(profile, to: "shop/profiles.yml")
        for count in [20, 40] {
            let server = try await ServingSluice.start(
                ["--postgres", database.url, "--no-console", "--no-journal", "--no-admin"],
                in: folder,
                plan: "plan"
            )
            let body = #"{"batch":[\#(Self.pages[(count - 20)..<count].joined(separator: ","))]}"#
            let options = ["-H", "Content-Type: application/json", "--data-binary", body]
            #expect(try await server.request("/v1/batch", options).status == 200)
            server.process.send(SIGTERM)
            #expect(try await server.process.waitForEnd() == .exit(0))
            #expect(try await database.run("SELECT count(*) FROM segment.pages") == ["\(count)"])
            let build = try await DBT.run(["build"], in: "shop", of: folder, on: database)
            #expect(build.ending == .exit(0), "\(build.output.suffix(30))")
            #expect(build.output.last?.contains("PASS=23 WARN=0 ERROR=0 SKIP=0") == true, "\(build.output.suffix(3))")
            let found = try await database.run(
                """
                SELECT sum(page_views), min(utm_source), max(first_page_url_host), min(referrer_source), max(device),
                    max(gclid) FROM answers.segment_web_sessions
                """
            )
            #expect(found == ["\(count)|mail|shop.example|Google|iPhone|7"])
        }
    }
}
