import Hummingbird

/// A restaurant and its menu.
struct Restaurant: ResponseEncodable, Sendable {
    /// A dish on the menu.
    struct Dish: Encodable, Sendable {
        let name: String
        let priceInPence: Int
    }

    let id: String
    let name: String
    let menu: [Dish]

    /// All restaurants; a real service uses a database.
    static let all = [
        Restaurant(
            id: "da-enzo",
            name: "Trattoria da Enzo",
            menu: [Dish(name: "Margherita", priceInPence: 950), Dish(name: "Tiramisù", priceInPence: 600)]
        ),
        Restaurant(
            id: "golden-wok",
            name: "Golden Wok",
            menu: [Dish(name: "Mapo Tofu", priceInPence: 1125), Dish(name: "Spring Rolls", priceInPence: 475)]
        ),
    ]

    /// Returns the restaurant with an id.
    ///
    /// - Throws: 404 if it does not exist.
    static func named(_ id: String) throws(HTTPError) -> Restaurant {
        guard let restaurant = all.first(where: { $0.id == id }) else {
            throw HTTPError(.notFound, message: "There is no such restaurant.")
        }
        return restaurant
    }

    /// Returns the price of a dish.
    ///
    /// - Throws: 422 if the dish is not on the menu.
    func priceInPence(of dish: String) throws(HTTPError) -> Int {
        guard let dish = menu.first(where: { $0.name == dish }) else {
            throw HTTPError(.unprocessableContent, message: "\(name) does not cook one of these dishes.")
        }
        return dish.priceInPence
    }
}
