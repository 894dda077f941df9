import Foundation
import ServerTestSupport
import Testing

/// The real events of one month that come with the project, and their expected totals.
enum RetailMonth {
    static let path = RepositoryFile.url("Examples/data/retail-2010-12.ndjson.gz").path

    /// The first day: 3,081 purchases and 27 returns.
    static let dayPath = RepositoryFile.url("Examples/data/retail-2010-12-01.ndjson.gz").path

    /// The totals of some events, computed in the same way for every destination.
    struct Facts: Equatable, Sendable, CustomStringConvertible {
        var purchased = 0
        var returned = 0
        var quantityPurchased = 0
        var quantityReturned = 0
        var withoutUser = 0
        var withoutDescription = 0
        var free = 0
        /// The number of distinct ids.
        var ids = 0

        var description: String {
            "\(purchased) + \(returned) events, quantity \(quantityPurchased) + \(quantityReturned), \(withoutUser)"
                + " without user, \(withoutDescription) without description, \(free) free, \(ids) ids"
        }
    }

    /// The expected totals of the month.
    static let facts = Facts(
        purchased: 41_683,
        returned: 798,
        quantityPurchased: 362_316,
        quantityReturned: 20_088,
        withoutUser: 15_631,
        withoutDescription: 125,
        free: 273,
        ids: 42_481
    )

    /// Computes the totals of canonical lines.
    static func facts(of lines: [String]) throws -> Facts {
        var facts = Facts()
        var ids = Set<String>()
        for line in lines {
            let event = try JSONDecoder().decode(Event.self, from: Data(line.utf8))
            if event.name == "Item Purchased" {
                facts.purchased += 1
                facts.quantityPurchased += event.payload.quantity
            } else {
                #expect(event.name == "Item Returned")
                facts.returned += 1
                facts.quantityReturned += event.payload.quantity
            }
            if event.userId == nil { facts.withoutUser += 1 }
            if event.payload.description == nil { facts.withoutDescription += 1 }
            if event.payload.unitPrice == 0 { facts.free += 1 }
            ids.insert(event.id)
        }
        facts.ids = ids.count
        return facts
    }

    /// The lines of the first day, as they are in the file.
    static func dayLines(_ count: Int = .max) async throws -> [String] {
        let text = try await Command.run("gzip", ["-dc", dayPath]).text
        return text.split(separator: "\n").prefix(count).map(String.init)
    }

    private struct Event: Decodable {
        struct Payload: Decodable {
            let quantity: Int
            let unitPrice: Double
            let description: String?
        }

        let id: String
        let name: String
        let userId: String?
        let payload: Payload
    }
}

/// The ids of canonical lines, in order.
func ids(of lines: [String]) -> [String] {
    lines.map { String($0.dropFirst(#"{"id":""#.count).prefix(36)) }
}
