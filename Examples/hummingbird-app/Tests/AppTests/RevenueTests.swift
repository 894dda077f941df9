import App
import Sluice
import SluiceTesting
import Testing

/// The custom tracker.
@Suite struct RevenueTests {
    @Test("the tracker fulfils the tracker contract, and counts an event that is delivered again only once")
    func contract() async throws {
        let ledger = RevenueLedger()
        try await TrackerContract(
            traits: .init(deduplicates: true),
            makeTracker: { RevenueTracker(ledger: ledger) },
            delivered: { await ledger.bookedIDs }
        ).verify()
    }

    @Test("only the most recent ids are stored, so that memory is bounded")
    func recentIDs() {
        let ids = (0..<4).map { EventID(high: 0, low: $0) }
        var recent = RecentIDs(capacity: 3)
        let wereNew = ids.map { recent.insert($0) }
        #expect(wereNew == [true, true, true, true])
        #expect(recent.ids == Array(ids[1...]))
        let areNew = [ids[3], ids[0]].map { recent.insert($0) }
        #expect(areNew == [false, true])
    }

    @Test("the revenue of each restaurant is the total of its orders without the cancelled ones")
    func revenue() async throws {
        let ledger = RevenueLedger()
        let pipeline = try Pipeline(
            catalog: AppEvents.catalog,
            trackers: [RevenueTracker(ledger: ledger)],
            logger: TestApp.logger
        )
        let shown = try await TestApp.run(pipeline, ledger: ledger) { client in
            let first = try await client.placeOrder()
            _ = try await client.placeOrder()
            let tofu = #"{"restaurantId":"golden-wok","items":[{"dish":"Mapo Tofu","quantity":3}]}"#
            _ = try await client.post("/orders", tofu)
            _ = try await client.post("/orders/\(first)/cancel", #"{"reason":"ordered twice"}"#)
            await pipeline.flush()
            return try await client.get("/revenue").json([Shown].self)
        }
        #expect(
            shown == [
                Shown(restaurantId: "da-enzo", orders: 1, totalInPence: 1900),
                Shown(restaurantId: "golden-wok", orders: 1, totalInPence: 3375),
            ]
        )
    }

    private struct Shown: Decodable, Equatable {
        let restaurantId: String
        let orders: Int
        let totalInPence: Int
    }
}
