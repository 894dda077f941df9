import EventSchema
import Foundation
import PlanReading
import Testing

@Suite("The plans in events/")
struct OwnPlansTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("events").path

    private let plan: TrackingPlan

    init() throws {
        let reading = PlanReader().read(paths: [Self.folder])
        #expect(reading.diagnostics == [])
        plan = try #require(reading.plan)
    }

    @Test("retail.plist defines purchases and returns")
    func retail() throws {
        let events = plan.events.filter { $0.location.file.hasSuffix("/retail.plist") }
        #expect(events.map(\.name) == ["Item Purchased", "Item Returned"])
        for event in events {
            #expect(event.trackers == ["console", "postgres", "kafka"])
            let names = ["invoiceNo", "stockCode", "description", "quantity", "unitPrice", "country"]
            #expect(event.properties.map(\.name) == names)
            #expect(event.properties.filter { !$0.isRequired }.map(\.name) == ["description"])
            let quantity = try #require(event.properties.first { $0.name == "quantity" })
            #expect(quantity.type == .integer && quantity.minimum == .integer(1))
            let price = try #require(event.properties.first { $0.name == "unitPrice" })
            #expect(price.type == .number && price.minimum == .number(0))
        }
    }

    @Test("food_ordering.plist uses every type, and each event has an owner")
    func foodOrdering() {
        let events = plan.events.filter { $0.location.file.hasSuffix("/food_ordering.plist") }
        #expect(events.count >= 12)
        #expect(events.allSatisfy { $0.owner != nil && $0.description != nil })
        #expect(events.contains { $0.deprecated != nil })
        #expect(events.contains { $0.allowsAdditionalProperties })
        func types(_ properties: [PropertyDefinition]) -> Set<PropertyType> {
            properties.reduce(into: []) { types, property in
                types.insert(property.type)
                types.formUnion(self.types(in: property))
            }
        }
        let used = events.reduce(into: Set<PropertyType>()) { $0.formUnion(types($1.properties)) }
        #expect(used == Set(PropertyType.allCases))
    }

    private func types(in property: PropertyDefinition) -> Set<PropertyType> {
        let nested = (property.properties ?? []) + [property.items].compactMap { $0 }
        return nested.reduce(into: []) { types, property in
            types.insert(property.type)
            types.formUnion(self.types(in: property))
        }
    }
}
