import EventSchema
import EventValidation
import TestCases
import TestPromises
import Testing

@Suite("Suggestions")
struct SuggestionTests {
    private static func catalog(_ names: [String]) -> EventCatalog {
        EventCatalog(
            plan: TrackingPlan(events: names.map { EventDefinition(key: $0, trackers: [], location: .line(1)) })
        )
    }

    private static func catalog(keys: [String]) -> EventCatalog {
        let properties = keys.map {
            PropertyDefinition(name: $0, type: .string, isRequired: false, location: .line(2))
        }
        let event = EventDefinition(key: "E", trackers: [], properties: properties, location: .line(1))
        return EventCatalog(plan: TrackingPlan(events: [event]))
    }

    @Test(
        "are names that differ only in case and separators",
        arguments: [
            ("item_purchased", "Item Purchased"), ("ITEM-PURCHASED", "Item Purchased"),
            ("Itempurchased", "Item Purchased"),
            ("été fini", "Été-Fini"), ("Item Purchase", nil), ("", nil), ("!", nil), ("é", nil),
        ] as [(String, String?)]
    )
    func names(text: String, expected: String?) {
        let catalog = Self.catalog(["Item Purchased", "Été-Fini", "?"])
        #expect(catalog.suggestedEvent(for: text).suggestion == expected)
    }

    @Test("are the first of the names that differ only in case and separators")
    func sameFold() {
        #expect(Self.catalog(["a b", "A-B", "ab"]).suggestedEvent(for: "A_B").suggestion == "a b")
    }

    @Test("compare only the first 255 bytes of a text")
    func longText() {
        let known = String(repeating: "a", count: 255)
        let catalog = Self.catalog([known, known + "b"])
        #expect(
            catalog.suggestedEvent(for: known.uppercased() + String(repeating: "x", count: 1 << 20)).suggestion == known
        )
        #expect(catalog.suggestedEvent(for: String(known.dropLast())).suggestion == nil)
    }

    @Test(
        "take as many comparisons in a plan of 20,000 names or keys as in one of 20",
        .promise("large-bodies"),
        arguments: [20, 2000, 20_000]
    )
    func comparisons(count: Int) {
        let names = (0..<count).map { "Event Number \($0)" }
        let (events, keys) = (Self.catalog(names), Self.catalog(keys: names))
        var comparisons = 0
        for number in 0..<500 {
            let known = "event_number_\(number % count)"
            let found = [events.suggestedEvent(for: known), keys.suggestedProperty(for: known, ofEventAt: 0)]
            #expect(found.allSatisfy { $0.suggestion == "Event Number \(number % count)" })
            let missing = "event number \(number) of nothing"
            let lost = [events.suggestedEvent(for: missing), keys.suggestedProperty(for: missing, ofEventAt: 0)]
            #expect(lost.allSatisfy { $0.suggestion == nil })
            comparisons += (found + lost).reduce(0) { $0 + $1.comparisons }
        }
        // 2,000 lookups in tables that are half full at most.
        #expect(comparisons <= 8000)
    }
}
