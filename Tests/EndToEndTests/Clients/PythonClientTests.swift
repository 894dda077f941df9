import Foundation
import TestSupport
import Testing

/// The Python SDKs of Segment, RudderStack and PostHog, unmodified.
@Suite("The SDKs of Segment, RudderStack and PostHog", .timeLimit(.minutes(5)))
struct PythonClientTests {
    private static let plan = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0">
        <dict>
            <key>events</key>
            <dict>
                <key>Order Completed</key>
                <dict>
                    <key>registeredTrackers</key><array><string>postgres</string></array>
                    <key>payload</key>
                    <dict>
                        <key>number</key><dict><key>type</key><string>integer</string></dict>
                        <key>total</key><dict><key>type</key><string>number</string></dict>
                        <key>coupon</key><dict><key>type</key><string>string</string><key>required</key><false/></dict>
                    </dict>
                </dict>
            </dict>
        </dict>
        </plist>
        """

    @Test(
        "every valid event that the SDK believes delivered is in PostgreSQL once, whatever happens on the way",
        arguments: ["segment", "rudderstack", "posthog"],
        ["plain", "gzip"]
    )
    func delivery(vendor: String, encoding: String) async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan, to: "shop.plist")
        let database = try await PrivatePostgres.shared().makeDatabase()
        let migrate = ["migrate", "--events", "shop.plist", "--postgres", database.url]
        #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
        let server = try await ServingSluice.start(
            "--postgres",
            database.url,
            "--no-console",
            in: folder,
            plan: folder.path("shop.plist")
        )
        let faults = ["429", "503", "ok", "cut", "lost", "ok", "lost", "503"]
        let proxy = try ClientScript.start("faults", [server.url] + faults, in: folder)
        let url = try #require(await proxy.output?.line(containing: "http://"))

        let count = 200
        let options = [vendor, url, "\(count)"] + (encoding == "gzip" ? ["gzip"] : [])
        let output = try await ClientScript.run("orders", options, in: folder)
        // The SDK repeated what failed, and gave up nothing.
        #expect(output == ["[]"])
        kill(proxy.processID, SIGKILL)
        kill(server.process.processID, SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))

        // Two of fifty do not follow the plan, which the answer says, and the SDK does not mind.
        let valid = (0..<count).filter { $0 % 50 != 7 && $0 % 50 != 8 }
        let stored = try await database.run("select number from analytics.order_completed order by number")
        #expect(stored == valid.map(String.init))
        let users = try await database.run(
            "select count(*) from analytics.order_completed where user_id = 'user-' || number % 5"
        )
        #expect(users == ["\(valid.count)"])
        let kept = try await Sluice.run("quarantine", "list", "--json", in: folder)
        // PostHog's SDK replaces NaN by null, so the property is missing.
        let code = vendor == "posthog" ? "missing-required" : "malformed-json"
        #expect(kept.output.contains { $0.contains(code) })
    }
}
