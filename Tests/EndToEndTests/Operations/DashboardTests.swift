import Foundation
import ServerTestSupport
import TestPromises
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
        let set = ["set", "delivery.maximumEvents", "500", "--for", "2h"]
        #expect(try await Sluice.run(set, in: folder).ending == .exit(0))
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

    @Test("says with the first answer after a delivery has failed that PostgreSQL is down")
    func outage() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1).replacing("console", with: "postgres"), to: "plan/shop.plist")
        let postgres = try await PrivatePostgres()
        let database = try await postgres.makeDatabase()
        let migrate = ["migrate", "--events", "plan", "--postgres", database.url]
        #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
        let server = try await ServingSluice.start(
            ["--no-console", "--postgres", database.url],
            in: folder,
            plan: "plan"
        )
        let input = Pipe()
        let port = try await PrivatePort(of: server)
        let page = try ClientScript.start("dashboard_outage", [port.url], in: folder, input: .pipe(input))
        _ = try await page.output?.line(containing: "delivering")
        try await postgres.stopImmediately()
        #expect(try await server.post(#"{"name":"Sold","payload":{"quantity":1}}"#).status == 200)
        _ = try await server.process.errors.line(containing: "A delivery failed")
        try input.fileHandleForWriting.close()
        #expect(try await page.waitForEnd() == .exit(0), "\(page.errors.lines.suffix(20))")
        #expect(page.output?.lines.last == "changed after 1")
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test(
        "shows a banner while the plan's files have problems, with their text escaped, and none once they are corrected",
        .promise("invalid-plan")
    )
    func planProblem() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        let server = try await ServingSluice.start(in: folder, plan: "plan")
        let port = try await PrivatePort(of: server)
        let page = try ClientScript.start("dashboard_plan", [port.url], in: folder)
        let output = try #require(page.output)
        _ = try await output.line(containing: "open")
        #expect(try await port.metrics(in: folder)["sluice_plan_files_refused"] == 0)
        let broken = Plans.broken.replacing("konsole", with: "&lt;img src=konsole&gt;")
        try folder.write(broken, to: "plan/shop.plist")
        let refused = try await output.line(containing: "refused")
        #expect(refused.contains("the earlier plan stays in use: plan/shop.plist:"), "\(refused)")
        #expect(refused.contains("<img src=konsole>"), "\(refused)")
        let metrics = try await port.metrics(in: folder)
        #expect(metrics["sluice_plan_files_refused"] == 1)
        #expect(metrics["sluice_plan_reloads_total outcome=refused"] == 1)
        try folder.write(Plans.shop(minimumQuantity: 2), to: "plan/shop.plist")
        let corrected = try await output.line(containing: "corrected")
        #expect(corrected.contains("plan without a version, 1 event;"), "\(corrected)")
        #expect(try await page.waitForEnd() == .exit(0), "\(page.errors.lines.suffix(20))")
        let after = try await port.metrics(in: folder)
        #expect(after["sluice_plan_files_refused"] == 0)
        #expect(after["sluice_plan_reloads_total outcome=replaced"] == 1)
        #expect(after["sluice_plan_reloads_total outcome=unchanged"] == 0)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    /// Sends events one by one until the server is gone; returns how many were accepted.
    private static func load(_ server: ServingSluice) async throws -> Int {
        var accepted = 0
        while true {
            let status = try await server.post(#"{"name":"Sold","payload":{"quantity":1}}"#).status
            if status == 200 { accepted += 1 } else if status == 0 { return accepted }
            try Task.checkCancellation()
        }
    }

    @Test("that is open while the process is restarted under load recovers by itself, and shows the new process")
    func restart() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        let first = try await ServingSluice.start(in: folder, plan: "plan")
        let port = try await PrivatePort(of: first)
        let input = Pipe()
        let page = try ClientScript.start("dashboard_restart", [port.url], in: folder, input: .pipe(input))
        let output = try #require(page.output)
        async let load = Self.load(first)
        _ = try await output.line(containing: "open")
        first.process.send(SIGTERM)
        #expect(try await first.process.waitForEnd() == .exit(0))
        #expect(try await load > 0)
        _ = try await output.line(containing: "gone")
        let address = String(port.url.dropFirst("http://".count))
        let second = try await ServingSluice.start(["--admin", address], in: folder, plan: "plan")
        for _ in 0..<3 {
            #expect(try await second.post(#"{"name":"Sold","payload":{"quantity":1}}"#).status == 200)
        }
        _ = try await output.line(containing: "back")
        try input.fileHandleForWriting.write(contentsOf: Data("3\n".utf8))
        try input.fileHandleForWriting.close()
        #expect(try await page.waitForEnd() == .exit(0), "\(page.errors.lines.suffix(20))")
        #expect(output.lines == ["open", "gone", "back", "figures"])
        second.process.send(SIGTERM)
        #expect(try await second.process.waitForEnd() == .exit(0))
    }
}
