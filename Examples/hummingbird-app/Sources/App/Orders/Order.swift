import Hummingbird
import Sluice

/// The body of a request to place an order.
struct OrderRequest: Decodable {
    /// A quantity of one dish.
    struct Item: Decodable {
        let dish: String
        /// An 8-bit number, so that the total cannot overflow; the plan has the sensible limit.
        let quantity: UInt8
    }

    let restaurantId: String
    let items: [Item]
    let note: String?
}

/// The body of a request to cancel an order; the plan defines the reasons.
struct CancellationRequest: Decodable {
    let reason: AppEvents.OrderCancelled.Reason
}

extension AppEvents.OrderCancelled.Reason: Decodable {}

/// An order that was placed.
struct Order: Sendable {
    let id: EventID
    let restaurantId: String
    let totalInPence: Int
    var isCancelled = false

    /// Creates an order, with the total of its prices.
    init(_ request: OrderRequest) throws(HTTPError) {
        let restaurant = try Restaurant.named(request.restaurantId)
        var totalInPence = 0
        for item in request.items {
            totalInPence += try restaurant.priceInPence(of: item.dish) * Int(item.quantity)
        }
        id = EventID(version7At: .now(), randomA: .random(in: 0...UInt16.max), randomB: .random(in: 0...UInt64.max))
        restaurantId = restaurant.id
        self.totalInPence = totalInPence
    }
}

/// An order as the API returns it.
struct OrderResponse: ResponseEncodable {
    let id: String
    let restaurantId: String
    let totalInPence: Int
    let isCancelled: Bool

    init(_ order: Order) {
        id = order.id.description
        restaurantId = order.restaurantId
        totalInPence = order.totalInPence
        isCancelled = order.isCancelled
    }
}
