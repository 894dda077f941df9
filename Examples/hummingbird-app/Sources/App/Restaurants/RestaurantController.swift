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

    /// Uses `tryTrack`, because a menu is shown at once, even if the event cannot be accepted.
    private func countView(of restaurant: Restaurant, logger: Logger) {
        do throws(TrackError) {
            try pipeline.tryTrack(AppEvents.MenuViewed(restaurantId: restaurant.id, dishes: restaurant.menu.count))
        } catch {
            // An invalid event is a bug in this program; other errors are expected while the pipeline accepts no events.
            let level: Logger.Level = error.code == .invalid ? .error : .notice
            logger.log(level: level, "A view was not tracked.", metadata: ["error": "\(error)"])
        }
    }
}
