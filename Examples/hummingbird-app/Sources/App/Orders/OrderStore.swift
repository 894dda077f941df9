import Hummingbird
import Sluice

/// The orders, in memory; a real service has a database.
actor OrderStore {
    private var orders: [EventID: Order] = [:]

    /// Keeps a new order.
    func add(_ order: Order) {
        orders[order.id] = order
    }

    /// The order with this id.
    ///
    /// - Throws: 404 where there is none.
    func order(_ id: EventID) throws(HTTPError) -> Order {
        guard let order = orders[id] else { throw HTTPError(.notFound, message: "There is no such order.") }
        return order
    }

    /// Cancels an order; of two who try, one does.
    ///
    /// - Throws: 404 where there is none, 409 where it was cancelled before.
    func cancel(_ id: EventID) throws(HTTPError) -> Order {
        var order = try order(id)
        guard !order.isCancelled else { throw HTTPError(.conflict, message: "The order was cancelled before.") }
        order.isCancelled = true
        orders[id] = order
        return order
    }

    /// Takes a cancellation back.
    func reopen(_ id: EventID) {
        orders[id]?.isCancelled = false
    }
}
