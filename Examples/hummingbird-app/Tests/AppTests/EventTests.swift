import App
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Sluice
import SluiceTesting
import Testing

/// The events that requests cause.
@Suite struct EventTests {
    private let recorder = RecordingTracker(name: "console")

    private func pipeline() throws -> Pipeline {
        try Pipeline(catalog: AppEvents.catalog, trackers: [recorder], logger: TestApp.logger)
    }

    @Test("placing and cancelling an order and viewing a menu are tracked with the user, the session and the request")
    func tracked() async throws {
        let id = try await TestApp.run(try pipeline()) { client in
            let id = try await client.placeOrder()
            let cancellation = try await client.post(
                "/orders/\(id)/cancel",
                #"{"reason":"took too long"}"#,
                headers: TestApp.customer
            )
            #expect(cancellation.status == .ok)
            #expect(try await client.get("/restaurants/golden-wok").status == .ok)
            #expect(try await client.get("/restaurants").status == .ok)
            return id
        }
        let orderID = try #require(EventID(id))
        #expect(recorder.events.map(\.name) == ["Order Placed", "Order Cancelled", "Menu Viewed"])
        let placed = AppEvents.OrderPlaced(
            items: [.init(dish: "Margherita", quantity: 2)],
            note: "no basil",
            orderId: orderID,
            restaurantId: "da-enzo",
            totalInPence: 1900
        )
        #expect(try recorder.events(AppEvents.OrderPlaced.self) == [placed])
        let cancelled = AppEvents.OrderCancelled(
            reason: .tookTooLong,
            orderId: orderID,
            restaurantId: "da-enzo",
            totalInPence: 1900
        )
        #expect(try recorder.events(AppEvents.OrderCancelled.self) == [cancelled])
        let viewed = AppEvents.MenuViewed(restaurantId: "golden-wok", dishes: 2)
        #expect(try recorder.events(AppEvents.MenuViewed.self) == [viewed])
        #expect(recorder.events.map(\.userID) == ["zoe", "zoe", nil])
        #expect(recorder.events.map(\.sessionID) == ["s-1", "s-1", nil])
        #expect(Set(recorder.events.map { $0.context["requestId"] }).count == 3)
    }

    @Test(
        "an order that violates the plan is rejected with the rule, and neither stored nor tracked",
        arguments: [
            (
                #"[{"dish":"Margherita","quantity":21}]"#,
                "$.payload.items[0].quantity: expected integer, at least 1 and at most 20, found a value out of range"
            ),
            (
                #"[{"dish":"Tiramisù","quantity":1},{"dish":"Margherita","quantity":0}]"#,
                "$.payload.items[1].quantity: "
            ),
            (
                "[]",
                "$.payload.totalInPence: expected integer, at least 1 and at most 1000000, found a value out of range"
            ),
        ]
    )
    func invalid(items: String, rule: String) async throws {
        let pipeline = try pipeline()
        try await TestApp.run(pipeline) { client in
            let response = try await client.post("/orders", #"{"restaurantId":"da-enzo","items":\#(items)}"#)
            #expect(response.status == .unprocessableContent)
            #expect(response.text.contains(rule), "\(response.text)")
        }
        #expect(recorder.events.isEmpty)
        #expect(pipeline.statistics.accepted == 0)
    }

    @Test(
        "a request that is invalid regardless of the plan tracks nothing",
        arguments: [
            ("/orders", #"{"restaurantId":"nobody","items":[{"dish":"Margherita","quantity":1}]}"#, 404),
            ("/orders", #"{"restaurantId":"da-enzo","items":[{"dish":"Mapo Tofu","quantity":1}]}"#, 422),
            (
                "/orders", #"{"restaurantId":"da-enzo","items":[{"dish":"Tiramisù","quantity":4611686018427387904}]}"#,
                400
            ),
            ("/orders/0190f3a4-0000-7000-8000-000000000001/cancel", #"{"reason":"ordered twice"}"#, 404),
            ("/orders/1/cancel", #"{"reason":"ordered twice"}"#, 404),
        ]
    )
    func wrongRequest(path: String, body: String, code: Int) async throws {
        let response = try await TestApp.run(try pipeline()) { try await $0.post(path, body) }
        #expect(response.status.code == code, "\(response.text)")
        #expect(recorder.events.isEmpty)
    }

    @Test("an order can be cancelled once, and only for a reason in the plan")
    func cancelledOnce() async throws {
        try await TestApp.run(try pipeline()) { client in
            let cancel = "/orders/\(try await client.placeOrder())/cancel"
            #expect(try await client.post(cancel, #"{"reason":"no reason"}"#).status == .badRequest)
            #expect(try await client.post(cancel, #"{"reason":"ordered twice"}"#).status == .ok)
            #expect(try await client.post(cancel, #"{"reason":"ordered twice"}"#).status == .conflict)
        }
        #expect(recorder.events.map(\.name) == ["Order Placed", "Order Cancelled"])
    }

    @Test("while events are not accepted, orders are neither placed nor cancelled, and can be retried")
    func notTaken() async throws {
        let pipeline = try pipeline()
        let router = buildRouter(pipeline: pipeline, ledger: RevenueLedger())
        try await Application(router: router, logger: TestApp.logger).test(.router) { client in
            let order = "/orders/\(try await client.placeOrder())"
            pipeline.shutdown()
            let placing = try await client.post("/orders", TestApp.order)
            #expect(placing.status == .serviceUnavailable)
            #expect(placing.headers[.retryAfter] == "1")
            let cancelling = try await client.post(order + "/cancel", #"{"reason":"ordered twice"}"#)
            #expect(cancelling.status == .serviceUnavailable)
            let kept = try await client.get(order)
            #expect(kept.text.contains(#""isCancelled":false"#), "\(kept.text)")
        }
        #expect(pipeline.statistics.accepted == 1)
    }

    @Test("while the queue is full, placing an order waits, and a menu is shown at once", .timeLimit(.minutes(1)))
    func backpressure() async throws {
        let stalled = ScriptedTracker(name: "console", [.stall])
        let queue = Pipeline.Queue(capacityInEvents: 1, fullPolicy: .wait)
        let pipeline = try Pipeline(
            catalog: AppEvents.catalog,
            trackers: [stalled],
            configuration: .init(queue: queue),
            logger: TestApp.logger
        )
        try await TestApp.run(pipeline) { client in
            _ = try await client.placeOrder()
            await stalled.waitForDeliveries(1)

            async let second = client.placeOrder()
            while pipeline.statistics.waitingBatches == 0 { await Task.yield() }
            #expect(try await client.get("/restaurants/da-enzo").status == .ok)
            #expect(pipeline.statistics.accepted == 1)

            stalled.release()
            _ = try await second
        }
        #expect(stalled.delivered.count == 2, "both orders were delivered, and the look at the menu was not counted")
    }
}
