package import EventPipeline
package import Hummingbird
package import Logging

/// Everything a request of this service may need to know.
package typealias AppRequestContext = BasicRequestContext

/// The routes, and what every request goes through before them.
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

/// The server and the pipeline, in one service group.
///
/// A group ends its services in the reverse of their order, and the server comes last in Hummingbird's. So the server
/// answers the requests that it has, each with a pipeline that still takes events; then the pipeline delivers them.
package func buildApplication(
    router: Router<AppRequestContext>,
    pipeline: Pipeline,
    configuration: ApplicationConfiguration = ApplicationConfiguration(),
    logger: Logger
) -> some ApplicationProtocol {
    Application(router: router, configuration: configuration, services: [pipeline], logger: logger)
}
