package import EventModel
import Foundation
import Hummingbird
import Sluice

/// The revenue of each restaurant since the service started.
package actor RevenueLedger {
    /// The revenue of one restaurant.
    package struct Revenue: ResponseEncodable, Sendable, Equatable {
        let restaurantId: String
        var orders = 0
        var totalInPence = 0
    }

    private var revenues: [String: Revenue] = [:]
    // A repeated delivery follows soon after the first, so the most recent ids suffice.
    private var booked = RecentIDs(capacity: 100_000)

    /// Creates an empty ledger.
    package init() {}

    /// The revenue of all restaurants, sorted by their ids.
    package var revenue: [Revenue] { revenues.values.sorted { $0.restaurantId < $1.restaurantId } }

    /// The ids of the most recently booked events, from oldest to newest.
    package var bookedIDs: [EventID] { booked.ids }

    /// Books an order or a cancellation once, even if it is delivered again; ignores other events.
    func book(_ event: TrackedEvent) throws {
        let line = try Line(event)
        guard booked.insert(event.id), let line else { return }
        revenues[line.restaurantId, default: Revenue(restaurantId: line.restaurantId)].orders += line.orders
        revenues[line.restaurantId]?.totalInPence += line.orders * line.totalInPence
    }
}

/// The part of an event that concerns revenue.
private struct Line {
    /// The members of the event's JSON that are needed.
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
