package import EventModel
import Foundation
import Hummingbird
import Sluice

/// What each restaurant's orders come to since the service was started.
package actor RevenueLedger {
    /// What one restaurant's orders come to.
    package struct Revenue: ResponseEncodable, Sendable, Equatable {
        let restaurantId: String
        var orders = 0
        var totalInPence = 0
    }

    private var revenues: [String: Revenue] = [:]
    // An event may be delivered again, but then soon after.
    private var booked = RecentIDs(capacity: 100_000)

    /// An empty one.
    package init() {}

    /// What there is, by restaurant.
    package var revenue: [Revenue] { revenues.values.sorted { $0.restaurantId < $1.restaurantId } }

    /// The events that were booked last, the newest at the end.
    package var bookedIDs: [EventID] { booked.ids }

    /// Books an order or its cancellation, once however often it comes; in other events there is no money.
    func book(_ event: TrackedEvent) throws {
        let line = try Line(event)
        guard booked.insert(event.id), let line else { return }
        revenues[line.restaurantId, default: Revenue(restaurantId: line.restaurantId)].orders += line.orders
        revenues[line.restaurantId]?.totalInPence += line.orders * line.totalInPence
    }
}

/// What an event says of money.
private struct Line {
    /// The part of an event's JSON that is of interest.
    private struct Event: Decodable {
        struct Payload: Decodable {
            let restaurantId: String
            let totalInPence: Int
        }
        let payload: Payload
    }

    /// 1 for an order, -1 for a cancellation.
    let orders: Int
    let restaurantId: String
    let totalInPence: Int

    init?(_ event: TrackedEvent) throws {
        switch event.name {
        case "Order Placed": orders = 1
        case "Order Cancelled": orders = -1
        default: return nil
        }
        let payload = try JSONDecoder().decode(Event.self, from: Data(event.json.utf8)).payload
        restaurantId = payload.restaurantId
        totalInPence = payload.totalInPence
    }
}
