import Hummingbird
import Sluice

/// `POST /orders`, `GET /orders/{id}` and `POST /orders/{id}/cancel`.
///
/// It uses `track` because an order is money: the response is sent after the event is safe in the journal, and the request
/// waits while the journal has no room. If the event is not accepted, neither is the order, and `TrackErrorMiddleware` responds.
struct OrderController: Sendable {
    let orders: OrderStore
    let pipeline: Pipeline

    var routes: RouteCollection<AppRequestContext> {
        RouteCollection(context: AppRequestContext.self)
            .post(use: place)
            .get(":id", use: show)
            .post(":id/cancel", use: cancel)
    }

    @Sendable
    private func place(
        _ request: Request,
        context: AppRequestContext
    ) async throws -> EditedResponse<OrderResponse> {
        let wanted = try await request.decode(as: OrderRequest.self, context: context)
        let order = try Order(wanted)
        try await pipeline.track(
            AppEvents.OrderPlaced(
                items: wanted.items.map { .init(dish: $0.dish, quantity: Int($0.quantity)) },
                note: wanted.note,
                orderId: order.id,
                restaurantId: order.restaurantId,
                totalInPence: order.totalInPence
            )
        )
        await orders.add(order)
        return EditedResponse(status: .created, response: OrderResponse(order))
    }

    @Sendable
    private func show(_ request: Request, context: AppRequestContext) async throws -> OrderResponse {
        OrderResponse(try await orders.order(try Self.id(in: context)))
    }

    @Sendable
    private func cancel(_ request: Request, context: AppRequestContext) async throws -> OrderResponse {
        let id = try Self.id(in: context)
        let reason = try await request.decode(as: CancellationRequest.self, context: context).reason
        let order = try await orders.cancel(id)
        do throws(TrackError) {
            try await pipeline.track(
                AppEvents.OrderCancelled(
                    reason: reason,
                    orderId: order.id,
                    restaurantId: order.restaurantId,
                    totalInPence: order.totalInPence
                )
            )
        } catch {
            await orders.reopen(id)
            throw error
        }
        return OrderResponse(order)
    }

    private static func id(in context: AppRequestContext) throws -> EventID {
        guard let id = EventID(try context.parameters.require("id")) else {
            throw HTTPError(.notFound, message: "There is no such order.")
        }
        return id
    }
}
