import App
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import ServiceLifecycle
import Sluice
import SluiceTesting
import Testing

/// The events that are not delivered yet when the service shuts down.
@Suite struct ShutdownTests {
    @Test("an order that was answered but not delivered is delivered after a restart, with the same id")
    func restart() async throws {
        try await TestApp.withFolder { folder in
            func pipeline(_ tracker: any Tracker) throws -> Pipeline {
                var configuration = Pipeline.Configuration.journaled
                // The outage does not end, so there is nothing to wait for.
                configuration.shutdownTimeout = .zero
                return try Pipeline(
                    catalog: AppEvents.catalog,
                    trackers: [tracker],
                    journal: .directory(folder + "/journal"),
                    configuration: configuration,
                    logger: TestApp.logger
                )
            }
            let broken = ScriptedTracker(name: "revenue", Array(repeating: .fail, count: 1000))
            try await TestApp.run(try pipeline(broken)) { client in
                _ = try await client.placeOrder()
                await broken.waitForDeliveries(1)
            }
            #expect(broken.delivered.isEmpty)

            let working = ScriptedTracker(name: "revenue")
            try await TestApp.run(try pipeline(working)) { _ in await working.waitForDelivered(1) }
            #expect(working.delivered == broken.deliveries.first)
        }
    }

    @Test("during a shutdown, the pipeline accepts the events of requests that are in progress")
    func order() async throws {
        let recorder = RecordingTracker(name: "console")
        let pipeline = try Pipeline(catalog: AppEvents.catalog, trackers: [recorder], logger: TestApp.logger)
        let router = buildRouter(pipeline: pipeline, ledger: RevenueLedger())
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        router.get("last-request") { _, _ in
            arrived.yield()
            // Returns when the server begins to shut down, which must be before the pipeline does.
            try await gracefulShutdown()
            try await pipeline.track(AppEvents.MenuViewed(restaurantId: "da-enzo", dishes: 2))
            return "tracked"
        }
        let app = buildApplication(router: router, pipeline: pipeline, logger: TestApp.logger)
        let request = try await app.test(.live) { client in
            let port = try #require(client.port)
            // The response comes after this closure has returned, which is when the shutdown begins.
            let request = Task {
                try await TestClient.withClient(host: "localhost", port: port) { try await $0.get("/last-request") }
            }
            _ = await arrivals.first { _ in true }
            return request
        }
        #expect(try await request.value.status == .ok)
        #expect(recorder.events.map(\.name) == ["Menu Viewed"])
    }
}
