// Events as JustTrack's generator wrote them, without comments.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation
import JustTrack

public class EventUser: Event {

    public let name: String = "User"

    public var payload: Payload {
        return [
            kAction: action == "" ? NSNull() : action as String,
            kResponse: response == "" ? NSNull() : response as String,
            kExtra: extra == "" ? NSNull() : extra as String,
        ]
    }

    public var registeredTrackers: [String] {
        return ["console", "Analytics"]
    }

    private let kAction = "action"
    private let kResponse = "response"
    private let kExtra = "extra"

    public var action = ""
    public var response = ""
    public var extra = ""

    public init(
        action: String,
        response: String,
        extra: String
    ) {
        self.action = action
        self.response = response
        self.extra = extra
    }
}

public class EventBasket: Event {

    public let name: String = "basket_shown"

    public struct Items: Equatable, Codable {

        public var itemName = ""
        public var itemNumber = 0
        public var itemPrice = 0.0
        public var itemGift = false

        public init(
            itemName: String,
            itemNumber: Int,
            itemPrice: Double,
            itemGift: Bool
        ) {
            self.itemName = itemName
            self.itemNumber = itemNumber
            self.itemPrice = itemPrice
            self.itemGift = itemGift
        }

        var asDict: [String: Any] {
            [
                "item_name": itemName,
                "item_number": itemNumber,
                "item_price": itemPrice,
                "item_gift": itemGift,
            ]
        }
    }

    public var payload: Payload {
        return [
            kTable: table == "" ? NSNull() : table as String,
            kItems: items == [] ? NSNull() : items.map { $0.asDict },
        ]
    }

    public var registeredTrackers: [String] {
        return ["Analytics"]
    }

    private let kTable = "table_no"

    private let kItems = "items"

    public var table = ""
    public var items: [Items]

    public init(
        table: String,
        items: [Items]
    ) {
        self.table = table
        self.items = items
    }
}

public class EventNoPayload: Event {

    public let name: String = "NoPayload"

    public var payload: Payload {
        return [:]
    }

    public var registeredTrackers: [String] {
        return ["Analytics"]
    }

    // MARK: Payload not configured

    public init() {}
}
