import Foundation
import TestSupport
import Testing

/// The dashboard in headless Chromium, with real events.
@Suite("The dashboard", .timeLimit(.minutes(5)))
struct DashboardTests {
    @Test("shows events, rejections, and a tracker that cannot deliver, is accessible, and pauses by keyboard")
    func dashboard() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 3).replacing("console", with: "postgres"), to: "plan/shop.plist")
        let database = try await PrivatePostgres.shared().makeDatabase()
        let migrate = ["migrate", "--events", "plan", "--postgres", database.url]
        #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
        let server = try await ServingSluice.start(
            ["--no-console", "--postgres", database.url],
            in: folder,
            plan: "plan"
        )
        let port = try await PrivatePort(of: server)
        let input = Pipe()
        let page = try ClientScript.start("dashboard", [port.url], in: folder, input: .pipe(input))
        _ = try await page.output?.line(containing: "watching")
        let events = [3, 4, 5, 1].map { #"{"name":"Sold","payload":{"quantity":\#($0)}}"# }
        #expect(try await server.post("[" + events.joined(separator: ",") + "]").status == 200)
        _ = try await page.output?.line(containing: "ready")
        try await database.run("alter table analytics.sold rename to hidden")
        #expect(try await server.post(#"{"name":"Sold","payload":{"quantity":6}}"#).status == 200)
        try input.fileHandleForWriting.close()
        #expect(try await page.waitForEnd() == .exit(0), "\(page.errors.lines.suffix(20))")
        let steps = page.output?.lines ?? []
        let expected = ["watching", "tail", "catalogue", "rejected", "chart", "accessible", "ready"]
        #expect(Array(steps.prefix(7)) == expected)
        // The last error is in the destination's own words.
        #expect(steps.contains { $0.contains(#"lacks the table "analytics"."sold""#) }, "\(steps)")
        #expect(steps.last == "paused")
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }
}
