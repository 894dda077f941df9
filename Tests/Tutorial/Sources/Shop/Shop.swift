import ConsoleTracker
import EventPipeline
import Foundation
import PostgresTracker

@main
struct Shop {
    static func main() async throws {
        let database = ProcessInfo.processInfo.environment["DATABASE_URL"] ?? "postgres://localhost/shop"
        let pipeline = try Pipeline(
            catalog: .events,
            trackers: [.console(), .postgres(database)],
            journal: .directory("data/journal")
        )

        // Events are delivered while the pipeline runs; in a service, its service group runs it.
        async let running: Void = pipeline.run()

        try await pipeline.track(
            ItemPurchased(article: "teapot", quantity: 1, unitPrice: 19.95, country: .unitedKingdom),
            userId: "17850"
        )
        try await EventContext.with(EventContext(userId: "12583", sessionId: "s-1")) {
            try await pipeline.track(
                contentsOf: [
                    ItemPurchased(article: "teapot", quantity: 2, unitPrice: 19.95, country: .france),
                    ItemPurchased(article: "cup", quantity: 6, unitPrice: 2.55, country: .france),
                ]
            )
        }

        await pipeline.flush()

        // That a quantity is at least 1 no type can say; it is checked when the event is tracked.
        do {
            try await pipeline.track(ItemPurchased(article: "cup", quantity: 0, unitPrice: 2.55, country: .france))
        } catch {
            print("Not taken: \(error)")
        }

        pipeline.shutdown()
        try await running
    }
}
