import Foundation
import ServerTestSupport
import TestSupport
import Testing

@Suite("The metrics of serve", .timeLimit(.minutes(5)))
struct MetricsEndpointTests {
    private static let plan = Plans.shop(minimumQuantity: 1).replacing("console", with: "postgres")

    private static func event(_ quantity: Int) -> String { #"{"name":"Sold","payload":{"quantity":\#(quantity)}}"# }

    /// A server with a database whose table refuses a quantity of 13.
    private func start(
        in folder: TestFolder,
        _ database: TestDatabase,
        journal: String = "journal"
    ) async throws -> (ServingSluice, PrivatePort) {
        let server = try await ServingSluice.start(
            ["--no-console", "--postgres", database.url, "--journal", journal],
            in: folder,
            plan: "plan"
        )
        return (server, try await PrivatePort(of: server))
    }

    private func prepare(_ folder: TestFolder) async throws -> TestDatabase {
        try folder.write(Self.plan, to: "plan/shop.plist")
        let database = try await PrivatePostgres.shared().makeDatabase()
        let migrate = ["migrate", "--events", "plan", "--postgres", database.url]
        #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
        try await database.run("alter table analytics.sold add constraint unlucky check (quantity <> 13)")
        return database
    }

    @Test("equal the truth after a known load, and are what Prometheus' own tools accept")
    func truth() async throws {
        let folder = try TestFolder()
        let database = try await prepare(folder)
        let (server, port) = try await start(in: folder, database)
        try await sendLoad(to: server)
        var metrics: [String: Double] = [:]
        repeat {
            metrics = try await port.metrics(in: folder)
            try await waitBriefly()
        } while metrics["sluice_tracker_events_settled_total tracker=postgres"] != 4
        for (series, value) in Self.expected { #expect(metrics[series] == value, "\(series)") }
        // What depends on the machine has the right order of magnitude.
        #expect(try #require(metrics["sluice_journal_bytes"]) > 400)
        #expect(try #require(metrics["process_resident_memory_bytes"]) > 1e6)
        #expect(try #require(metrics["process_cpu_seconds_total"]) > 0)
        #expect(try #require(metrics["process_open_fds"]) > 5)
        #expect(try #require(metrics["sluice_journal_sync_duration_seconds_count"]) >= 3)
        try await checkNames(metrics)
        let text = folder.url.appending(path: "metrics.txt")
        let check = try await Command.run("bash", ["-c", "promtool check metrics < '\(text.path)' 2>&1"])
        #expect(check.text == "", "\(check.text)")
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    /// Four valid events, one of which PostgreSQL refuses, four invalid ones, and two other requests.
    private func sendLoad(to server: ServingSluice) async throws {
        #expect(try await server.post(Self.event(1)).status == 200)
        #expect(try await server.post("[\(Self.event(2)),\(Self.event(0)),\(Self.event(13))]").status == 200)
        #expect(try await server.post(#"[{"name":"Invented"},{"name":"Sold"},7]"#).status == 422)
        let track = #"{"type":"track","event":"Sold","userId":"u","properties":{"quantity":5}}"#
        let segment = try await server.request(
            "/v1/track",
            ["-H", "Content-Type: application/json", "--data-binary", track]
        )
        #expect(segment.status == 200)
        #expect(try await server.request("/livez").status == 200)
        #expect(try await server.request("/nowhere").status == 404)
    }

    /// What the metrics say after this load.
    private static let expected: [String: Double] = [
        "sluice_events_accepted_total event=Sold": 4,
        "sluice_events_accepted_total event=(unknown)": 0,
        "sluice_events_rejected_total code=out-of-range event=Sold": 1,
        "sluice_events_rejected_total code=missing-required event=Sold": 1,
        "sluice_events_rejected_total code=unknown-event event=(unknown)": 1,
        "sluice_events_rejected_total code=wrong-type event=(unknown)": 1,
        "sluice_events_unrouted_total": 0,
        "sluice_quarantine_events_kept_total": 5,
        "sluice_http_requests_total dialect=sluice status=200": 2,
        "sluice_http_requests_total dialect=sluice status=422": 1,
        "sluice_http_requests_total dialect=segment status=200": 1,
        "sluice_http_requests_total dialect=other status=200": 1,
        "sluice_http_requests_total dialect=other status=404": 1,
        "sluice_http_request_duration_seconds_count dialect=sluice": 3,
        "sluice_http_request_duration_seconds_count dialect=segment": 1,
        "sluice_tracker_events_enqueued_total tracker=postgres": 4,
        "sluice_tracker_events_delivered_total tracker=postgres": 3,
        "sluice_tracker_events_refused_total tracker=postgres": 1,
        "sluice_tracker_events_dropped_total tracker=postgres": 0,
        "sluice_tracker_lag_events tracker=postgres": 0,
        "sluice_tracker_lag_seconds tracker=postgres": 0,
        "sluice_tracker_queue_events tracker=postgres": 0,
        "sluice_tracker_status status=delivering tracker=postgres": 1,
        "sluice_tracker_status status=blocked tracker=postgres": 0,
        "sluice_journal_commit_duration_seconds_count": 3,
        "sluice_pipeline_ready": 1,
        "sluice_build_info version=0.1.0": 1,
        "sluice_plan_info events=1 version=": 1,
        "sluice_metrics_dropped_series_total": 0,
    ]

    /// Every metric of the documentation is there, except those of `sluice load`, and no other.
    private func checkNames(_ metrics: [String: Double]) async throws {
        let known = try await documentedMetrics()
        let bases = Set(
            metrics.keys.map { key in
                String(key.split(separator: " ")[0]).replacing(/_(bucket|sum|count)$/, with: "")
            }
        )
        #expect(bases.subtracting(known) == [])
        #expect(known.subtracting(bases) == [])
    }

    private func documentedMetrics() async throws -> Set<String> {
        let table = try await Sluice.output(of: ["metrics"])
        let names = table.matches(of: /(?m)^\| `(\w+)`/).map { String($0.1) }
        return Set(names.filter { !$0.hasPrefix("sluice_load_") })
    }

    @Test("show the lag of a tracker whose destination is down, also after a restart, until it has caught up")
    func lag() async throws {
        let folder = try TestFolder()
        let database = try await prepare(folder)
        try await database.run("alter table analytics.sold rename to hidden")
        var (server, port) = try await start(in: folder, database)
        #expect(try await server.post("[\(Self.event(1)),\(Self.event(2))]").status == 200)
        let tracker = " tracker=postgres"
        /// Asks until a series has a value.
        func wait(for series: String, _ isReached: (Double) -> Bool) async throws -> [String: Double] {
            while true {
                let metrics = try await port.metrics(in: folder)
                if let value = metrics[series + tracker], isReached(value) { return metrics }
                try await waitBriefly()
            }
        }
        let lagging = try await wait(for: "sluice_tracker_lag_seconds") { $0 > 0 }
        #expect(lagging["sluice_tracker_lag_events" + tracker] == 2)
        let health = try await port.request("/readyz")
        #expect(health.status == 200)
        #expect(health.body.contains(#""name":"postgres""#) && health.body.contains(#""lagEvents":2"#))
        let before = try #require(lagging["sluice_tracker_lag_seconds" + tracker])
        server.process.send(SIGKILL)
        _ = try await server.process.waitForEnd()

        (server, port) = try await start(in: folder, database)
        let after = try await wait(for: "sluice_tracker_lag_seconds") { $0 > before }
        #expect(after["sluice_tracker_lag_events" + tracker] == 2)
        try await database.run("alter table analytics.hidden rename to sold")
        let caughtUp = try await wait(for: "sluice_tracker_lag_events") { $0 == 0 }
        #expect(caughtUp["sluice_tracker_lag_seconds" + tracker] == 0)
        #expect(caughtUp["sluice_tracker_events_delivered_total" + tracker] == 2)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }
}
