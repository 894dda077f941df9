package import EventPipeline
package import Hummingbird
package import Logging

/// The context of a request; this service adds nothing to the basic one.
package typealias AppRequestContext = BasicRequestContext

/// Builds the routes and their middleware.
package func buildRouter(pipeline: Pipeline, ledger: RevenueLedger) -> Router<AppRequestContext> {
    let router = Router(context: AppRequestContext.self)
    router.addMiddleware {
        LogRequestsMiddleware(.debug)
        EventContextMiddleware()
        TrackErrorMiddleware()
    }
    router.addRoutes(RestaurantController(pipeline: pipeline).routes, atPath: "restaurants")
    router.addRoutes(OrderController(orders: OrderStore(), pipeline: pipeline).routes, atPath: "orders")
    router.get("revenue") { _, _ in await ledger.revenue }
    return router
}

/// Builds the server and the pipeline, in one service group.
///
/// A service group shuts its services down in reverse order, and Hummingbird adds the server as the last one. So the server
/// first finishes its requests while the pipeline still accepts their events; then the pipeline delivers all events.
package func buildApplication(
    router: Router<AppRequestContext>,
    pipeline: Pipeline,
    configuration: ApplicationConfiguration = ApplicationConfiguration(),
    logger: Logger
) -> some ApplicationProtocol {
    Application(router: router, configuration: configuration, services: [pipeline], logger: logger)
}
