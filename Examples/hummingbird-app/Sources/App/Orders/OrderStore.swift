import Hummingbird
import Sluice

/// Stores the orders in memory; a real service uses a database.
actor OrderStore {
    private var orders: [EventID: Order] = [:]

    /// Stores a new order.
    func add(_ order: Order) {
        orders[order.id] = order
    }

    /// Returns the order with an id.
    ///
    /// - Throws: 404 if it does not exist.
    func order(_ id: EventID) throws(HTTPError) -> Order {
        guard let order = orders[id] else { throw HTTPError(.notFound, message: "There is no such order.") }
        return order
    }

    /// Cancels an order; of two concurrent requests, only one succeeds.
    ///
    /// - Throws: 404 if it does not exist, 409 if it is already cancelled.
    func cancel(_ id: EventID) throws(HTTPError) -> Order {
        var order = try order(id)
        guard !order.isCancelled else { throw HTTPError(.conflict, message: "The order was already cancelled.") }
        order.isCancelled = true
        orders[id] = order
        return order
    }

    /// Reverts a cancellation.
    func reopen(_ id: EventID) {
        orders[id]?.isCancelled = false
    }
}
