import Foundation
import Sluice
import SluicePostgres

@main
struct Shop {
    static func main() async throws {
        let database = ProcessInfo.processInfo.environment["DATABASE_URL"] ?? "postgres:///shop"
        try await Pipeline.run(
            catalog: ShopEvents.catalog,
            trackers: [.console(), .postgres(database)],
            journal: "data/journal"
        ) { pipeline in
            try await pipeline.track(
                ShopEvents.ItemPurchased(article: "teapot", quantity: 1, unitPrice: 19.95, country: .unitedKingdom),
                userID: "17850"
            )
            try await EventContext.with(EventContext(userID: "12583", sessionID: "s-1")) {
                try await pipeline.track(
                    contentsOf: [
                        ShopEvents.ItemPurchased(article: "teapot", quantity: 2, unitPrice: 19.95, country: .france),
                        ShopEvents.ItemPurchased(article: "cup", quantity: 6, unitPrice: 2.55, country: .france),
                    ]
                )
            }

            await pipeline.flush()

            // No type can say that a quantity is at least 1; `track` checks it.
            do {
                try await pipeline.track(
                    ShopEvents.ItemPurchased(article: "cup", quantity: 0, unitPrice: 2.55, country: .france)
                )
            } catch {
                print("Not taken: \(error)")
            }
        }
    }
}
