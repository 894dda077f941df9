import Hummingbird
import Logging
import Sluice

/// `GET /restaurants` and `GET /restaurants/{id}`.
struct RestaurantController: Sendable {
    let pipeline: Pipeline

    var routes: RouteCollection<AppRequestContext> {
        RouteCollection(context: AppRequestContext.self)
            .get { _, _ in Restaurant.all }
            .get(":id", use: show)
    }

    @Sendable
    private func show(_ request: Request, context: AppRequestContext) async throws -> Restaurant {
        let restaurant = try Restaurant.named(try context.parameters.require("id"))
        countView(of: restaurant, logger: context.logger)
        return restaurant
    }

    /// `tryTrack`: a menu is shown at once, also when nobody can count that it was.
    private func countView(of restaurant: Restaurant, logger: Logger) {
        do throws(InvalidEvent) {
            let outcome = try pipeline.tryTrack(
                AppEvents.MenuViewed(restaurantId: restaurant.id, dishes: restaurant.menu.count)
            )
            if outcome != .taken { logger.notice("A view was not counted.", metadata: ["outcome": "\(outcome)"]) }
        } catch {
            logger.error("A view was not counted.", metadata: ["error": "\(error)"])
        }
    }
}
