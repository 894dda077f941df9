import ConsoleTracker
import EventModel
import EventPipeline
import PostgresTracker

/// The tracker of one's own that README speaks of.
struct MyTracker: SingleEventTracker {
    let name = "mine"

    func track(_ event: TrackedEvent) async throws {}
}

func shop() async throws {
    let pipeline = try Pipeline(
        catalog: .events,  // the plan, compiled in
        trackers: [.console(), .postgres("postgres://localhost/shop"), MyTracker()],
        journal: .directory("data/journal")
    )
    try await pipeline.track(
        ItemPurchased(stockCode: "85123A", quantity: 6, description: "WHITE HANGING HEART T-LIGHT HOLDER"),
        userId: "17850"
    )
}
