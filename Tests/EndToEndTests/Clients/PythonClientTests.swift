import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// The Python SDKs of Segment, RudderStack, PostHog and CloudEvents, unmodified.
@Suite("The SDKs of other products", .timeLimit(.minutes(5)))
struct PythonClientTests {
    /// A server that writes to a database of its own, and whose only key is `PythonClientTests.key`.
    private struct Shop {
        let folder: TestFolder
        let database: TestDatabase
        let server: ServingSluice

        init(limits: [String] = [], settings: [String: String] = [:]) async throws {
            folder = try TestFolder()
            try folder.write(PythonClientTests.plan, to: "shop.plist")
            try folder.write(PythonClientTests.key, to: "key.txt")
            let key = try await Sluice.run(
                ["keys", "import", "shop"] + limits,
                in: folder,
                input: .file(folder.url.appending(path: "key.txt"))
            )
            #expect(key.ending == .exit(0))
            database = try await PrivatePostgres.shared().makeDatabase()
            let migrate = ["migrate", "--events", "shop.plist", "--postgres", database.url]
            #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
            server = try await ServingSluice.start(
                "--postgres",
                database.url,
                "--no-console",
                in: folder,
                plan: folder.path("shop.plist"),
                environment: settings
            )
            // A shutdown does not wait for a tracker that has not started.
            _ = try await server.process.errors.line(containing: "The tracker has started.")
        }

        /// Sends orders with an SDK, through a proxy that treats the first requests with these faults.
        ///
        /// - Returns: The ids of the orders that the SDK reported as failed, as a JSON array, and the number of its requests.
        func send(
            _ count: Int,
            by vendor: String,
            options: [String] = [],
            key: String = PythonClientTests.key,
            faults: [String] = []
        ) async throws -> (failed: [String], requests: Int) {
            let proxy = try ClientScript.start("faults", [server.url] + faults, in: folder)
            defer { kill(proxy.processID, SIGKILL) }
            let url = try #require(await proxy.output?.line(containing: "http://"))
            let failed = try await ClientScript.run("orders", [vendor, url, key, "\(count)"] + options, in: folder)
            return (failed, (proxy.output?.lines.count ?? 1) - 1)
        }

        /// Ends the server, which delivers what it has.
        func stop() async throws {
            kill(server.process.processID, SIGTERM)
            #expect(try await server.process.waitForEnd() == .exit(0))
        }

        func storedNumbers() async throws -> [String] {
            try await database.run("select number from analytics.order_completed order by number")
        }

        /// Two of fifty do not follow the plan, which the answer says, and the SDK does not mind.
        static func validNumbers(of count: Int) -> [String] {
            (0..<count).filter { $0 % 50 != 7 && $0 % 50 != 8 }.map(String.init)
        }
    }

    private static let key = "shop-key-of-the-tests"
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
        "a time has the moment that the program meant, however it and the SDK write it",
        .promise("client-times"),
        arguments: ["segment", "rudderstack", "posthog", "posthog-v1"]
    )
    func times(vendor: String) async throws {
        let shop = try await Shop()
        let moments = try await ClientScript.run("times", [vendor, shop.server.url, Self.key], in: shop.folder)
        try await shop.stop()
        // The client's clock is right, so no time is corrected.
        let stored = try await shop.database.run(
            """
            select extract(epoch from occurred_at), context->>'originalTimestamp' is null
            from analytics.order_completed order by number
            """
        )
        // Segment's SDK writes milliseconds.
        let unit = vendor == "segment" ? 1000 : 1
        let written = stored.map { $0.split(separator: "|") }
        #expect(written.allSatisfy { $0.last == "t" }, "\(stored)")
        let times = written.compactMap { $0.first.flatMap { Double($0) } }.map {
            Int(($0 * 1_000_000).rounded()) / unit
        }
        #expect(times == moments.compactMap(Int.init).map { $0 / unit })
    }

    @Test(
        "every valid event that the SDK believes delivered is in PostgreSQL once, whatever happens on the way",
        .promise("repeated-event"),
        arguments: ["segment", "rudderstack", "posthog", "posthog-v1"],
        ["plain", "gzip"]
    )
    func delivery(vendor: String, encoding: String) async throws {
        let shop = try await Shop()
        let faults = ["429", "503", "ok", "cut", "lost", "ok", "lost", "503"]
        let options = encoding == "gzip" ? ["gzip"] : []
        let output = try await shop.send(200, by: vendor, options: options, faults: faults).failed
        // The SDK repeated what failed, and gave up nothing. PostHog's newer API also tells it which events were rejected.
        let failed = try JSONDecoder().decode([String].self, from: Data(output.joined().utf8))
        #expect(failed.count == (vendor == "posthog-v1" ? 8 : 0))
        try await shop.stop()

        let valid = Shop.validNumbers(of: 200)
        #expect(try await shop.storedNumbers() == valid)
        let users = try await shop.database.run(
            "select count(*) from analytics.order_completed where user_id = 'user-' || number % 5"
        )
        #expect(users == ["\(valid.count)"])
        let kept = try await Sluice.run("quarantine", "list", "--json", in: shop.folder)
        // PostHog's SDK replaces NaN by null, so the property is missing.
        let code = vendor.hasPrefix("posthog") ? "missing-required" : "malformed-json"
        #expect(kept.output.contains { $0.contains(code) })
    }

    @Test(
        "what exceeds the limit of a key is sent again by the SDK, and is in PostgreSQL once",
        arguments: ["segment", "rudderstack", "posthog", "posthog-v1"]
    )
    func limit(vendor: String) async throws {
        let shop = try await Shop(limits: ["--rate", "40", "--burst", "20"])
        let output = try await shop.send(100, by: vendor).failed
        let failed = try JSONDecoder().decode([String].self, from: Data(output.joined().utf8))
        #expect(failed.count == (vendor == "posthog-v1" ? 4 : 0))
        try await shop.stop()
        #expect(try await shop.storedNumbers() == Shop.validNumbers(of: 100))
    }

    @Test(
        "an SDK with an unknown key reports each event as failed, after one attempt for each batch",
        arguments: ["segment", "rudderstack", "posthog", "posthog-v1"]
    )
    func unknownKey(vendor: String) async throws {
        let shop = try await Shop()
        let (output, requests) = try await shop.send(40, by: vendor, key: "another-key")
        let failed = try JSONDecoder().decode([String].self, from: Data(output.joined().utf8))
        #expect(failed.count == 40)
        // Two to four batches; an SDK that repeats them does so ten times.
        #expect(requests < 10)
        try await shop.stop()
        #expect(try await shop.storedNumbers().isEmpty)
    }

    @Test("CloudEvents of the Python SDK are in PostgreSQL once, in all three modes")
    func cloudEvents() async throws {
        let shop = try await Shop(settings: [
            "SLUICE_HTTP_CLOUD_EVENTS_TYPE_PREFIX": "com.example.",
            "SLUICE_HTTP_CLOUD_EVENTS_SUBJECT_IS_USER_ID": "true",
        ])
        _ = try await ClientScript.run("cloudevents_orders", [shop.server.url, Self.key, "30"], in: shop.folder)
        try await shop.stop()
        let rows = try await shop.database.run("select number, user_id from analytics.order_completed order by number")
        #expect(rows == (0..<30).map { "\($0)|user-\($0 % 5)" })
    }
}
