import Hummingbird
import Sluice

/// What a customer sends to order.
struct OrderRequest: Decodable {
    /// So many of one dish.
    struct Item: Decodable {
        let dish: String
        /// A byte, so that no quantity in a request is too large to reckon with; how much is sensible, the plan says.
        let quantity: UInt8
    }

    let restaurantId: String
    let items: [Item]
    let note: String?
}

/// What a customer sends to cancel an order; the reasons are those of the plan.
struct CancellationRequest: Decodable {
    let reason: AppEvents.OrderCancelled.Reason
}

extension AppEvents.OrderCancelled.Reason: Decodable {}

/// An order that was taken.
struct Order: Sendable {
    let id: EventID
    let restaurantId: String
    let totalInPence: Int
    var isCancelled = false

    /// Prices what a customer wants.
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

/// An order as a customer sees it.
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
