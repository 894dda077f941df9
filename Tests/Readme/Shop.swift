import Sluice
import SluicePostgres

/// The tracker of one's own that README speaks of.
struct MyTracker: SingleEventTracker {
    let name = "mine"

    func track(_ event: TrackedEvent) async throws {}
}

func shop() async throws {
    try await Pipeline.run(
        catalog: ShopEvents.catalog,
        trackers: [.console(), .postgres("postgres:///shop"), MyTracker()],
        journal: "data/journal"
    ) { pipeline in
        try await pipeline.track(ShopEvents.ItemPurchased(stockCode: "85123A", quantity: 6), userID: "17850")
    }
}

func shopOfThePage() async throws {
    try await Pipeline.run(
        catalog: ShopEvents.catalog,
        trackers: [.console(), .postgres("postgres:///shop")],
        journal: "data/journal"
    ) { pipeline in
        try await pipeline.track(ShopEvents.ItemPurchased(stockCode: "85123A", quantity: 6), userID: "17850")
    }
}

func shopInAComment() async throws {
    try await Pipeline.run(catalog: ShopEvents.catalog, trackers: [.console()], journal: "data/journal") { pipeline in
        try await pipeline.track(ShopEvents.ItemPurchased(stockCode: "85123A", quantity: 6), userID: "17850")
    }
}
