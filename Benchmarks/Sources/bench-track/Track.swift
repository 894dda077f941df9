import EventModel
import EventPipeline
import EventSchema
import Foundation

struct ItemPurchased: AnalyticsEvent {
    enum Country: String {
        case unitedKingdom = "United Kingdom", france = "France"
        var ordinal: Int {
            switch self {
            case .unitedKingdom: 0;
            case .france: 1
            }
        }
    }
    var invoiceNo: String
    var stockCode: String
    var description: String?
    var quantity: Int
    var unitPrice: Double
    var country: String
    static let catalog = EventCatalog(plan: PlanReader().read(paths: ["events"]).plan!)
    static let definitionIndex = catalog.definitions.firstIndex { $0.name == "Item Purchased" }!
    func encode(into payload: inout PayloadEncoder) {
        payload.string(invoiceNo)
        payload.string(stockCode)
        payload.string(description)
        payload.integer(quantity)
        payload.number(unitPrice)
        payload.string(country)
    }
}
func cpu() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
@main struct Track {
    static func main() throws {
        var builder = EventBatchBuilder(catalog: ItemPurchased.catalog)
        let rounds = 3000
        let codes = (0..<100).map { "8512\($0)A" }
        for _ in 0..<3 {
            let start = cpu()
            var total = 0
            for round in 0..<rounds {
                for i in 0..<1000 {
                    try builder.append(
                        ItemPurchased(
                            invoiceNo: "536365",
                            stockCode: codes[i % 100],
                            description: "WHITE HANGING HEART T-LIGHT HOLDER",
                            quantity: 1 + (i + round) % 12,
                            unitPrice: 2.55,
                            country: "United Kingdom"
                        ),
                        context: EventContext(userId: "17850")
                    )
                }
                total += builder.finish()!.count
            }
            print(Int(Double(total) / (cpu() - start)))
        }
    }
}
