import EventSchema
import PlanTools
import TestCases
import Testing

@Suite("The search for code that sends events")
struct EventUsesTests {
    private static let plan = TrackingPlan(
        events: ["Order Placed", "Type", "It's \"done\"", "Käufe"].map {
            EventDefinition(key: $0, trackers: ["console"], location: .line(1))
        }
    )

    private static func isMade(_ code: String) -> Bool {
        EventUses(of: plan).inSwift(Array(code.utf8)) == [0]
    }

    @Test(
        "a call of the generated type is a use, however it is written",
        arguments: [
            "track(OrderPlaced(total: 1))", "let make = OrderPlaced.init", "OrderPlaced.init(total: 1)",
            "let e: OrderPlaced = .init(total: 1)", "var e: OrderPlaced? = .init(total: 1)",
            "let e: ShopEvents.OrderPlaced = .init(total: 1)", "let e: Shop.ShopEvents.OrderPlaced = .init(total: 1)",
            "ShopEvents.OrderPlaced()",
            "`OrderPlaced` (\n  total: 1)", "OrderPlaced /* what for */ (total: 1)", "[OrderPlaced(total: 1)]",
            #"log("sent \(send(OrderPlaced(total: 1)))")"#, #####"log(##"a \##(OrderPlaced(total: 1))"##)"#####,
            "log(\"\"\"\n  \\(\"in \\(OrderPlaced(total: 1))\")\n  \"\"\")", "let q = \"\\\\\"; OrderPlaced()",
            "let broken = \"never closed\nOrderPlaced()", "/* a /* b */ c */ OrderPlaced()",
            "a / b; OrderPlaced() // c",
            "let r = #/\"/#; OrderPlaced()", "EventOrderPlaced(total: \"\")", "#### OrderPlaced()",
        ]
    )
    func uses(code: String) {
        #expect(Self.isMade(code))
    }

    @Test(
        "text that only resembles a call of the generated type is not a use",
        arguments: [
            "// OrderPlaced()", "/* OrderPlaced() */", "/* a /* b */ OrderPlaced() */", #""OrderPlaced()""#,
            ##"#"OrderPlaced() \(OrderPlaced())"#"##, "\"\"\"\nOrderPlaced()\n\"\"\"", "struct OrderPlaced {}",
            "extension OrderPlaced: Sendable {}", "func OrderPlaced() {}", "case OrderPlaced(Int)",
            "let a = .OrderPlaced(1)",
            "OrderPlacedTwice()", "MyOrderPlaced()", "let e: OrderPlaced", "OrderPlaced.self", "orderPlaced()",
            #"log("\"OrderPlaced()")"#, "#/OrderPlaced()/#", "", "\"", "/*", "#\"", "\"\\(", "\"\\(\"\\(",
        ]
    )
    func others(code: String) {
        #expect(!Self.isMade(code))
    }

    @Test("types whose names are keywords or non-ASCII are found")
    func names() {
        let uses = EventUses(of: Self.plan)
        #expect(uses.inSwift(Array("`Type`(); Käufe()".utf8)) == [1, 3])
    }

    @Test("in JSON within a string, the event's name is found at any level of escaping")
    func escapedText() {
        let uses = EventUses(of: Self.plan)
        func found(_ text: String) -> Set<Int> { uses.inText(Array(text.utf8)) }
        #expect(found(#"body = "{\"name\":\"Order Placed\"}""#) == [0])
        #expect(found(#"-d "{ \"name\" : \"Käufe\", \"payload\": {} }""#) == [3])
        #expect(found(#""\"{\\\"name\\\":\\\"Order Placed\\\"}\"""#) == [0])
        #expect(found(#"{\'name\': \'Type\'}"#) == [1])
        // Quotation marks with different levels of escaping.
        #expect(found(#"\"Order Placed""#) == [])
        #expect(found(#"\\\"Order Placed\""#) == [])
        #expect(found(#"\""#) == [] && found(#"\"\""#) == [])
    }

    @Test("in other languages, the event's name in quotation marks of any kind is a use")
    func text() {
        let uses = EventUses(of: Self.plan)
        func found(_ text: String) -> Set<Int> { uses.inText(Array(text.utf8)) }
        #expect(found(#"track("Order Placed", {})"#) == [0])
        #expect(found("track('Order Placed'); track(`Type`)") == [0, 1])
        #expect(found("it's 'Order Placed'") == [0])
        #expect(found(#"'It's "done"'"#) == [])
        #expect(found(#"`It's "done"` "Käufe""#) == [2, 3])
        #expect(found(#"Order Placed "Order Placed " "order placed" "Order Placed"#) == [])
    }

    @Test("a class in JustTrack's style is found, unless an event's type has the same name")
    func classes() {
        #expect(Self.isMade("EventOrderPlaced()"))
        let plan = TrackingPlan(
            events: ["User", "Event User"].map {
                EventDefinition(key: $0, trackers: ["console"], location: .line(1))
            }
        )
        #expect(EventUses(of: plan).inSwift(Array("EventUser()".utf8)) == [1])
    }

    @Test("a long run of hashes is read in linear time", .timeLimit(.minutes(5)))
    func hashes() {
        let hashes = String(repeating: "#", count: 1_000_000)
        #expect(Self.isMade(hashes + "\nOrderPlaced()"))
    }

    @Test("arbitrary bytes are read to their end")
    func anyBytes() {
        var source = CaseSource(seed: CaseSource.runSeed)
        let pieces = [
            "\"", "\"\"\"", "#", "\\", "\\(", "(", ")", "/*", "*/", "//", "\n", "OrderPlaced(", "\u{FF}", "`", "/",
        ]
        let uses = EventUses(of: Self.plan)
        for _ in 0..<2_000 {
            let text = (0..<source.number(0...40)).map { _ in source.pick(pieces) }.joined()
            _ = uses.inText(Array(text.utf8))
            #expect(uses.inSwift(Array(text.utf8)).isSubset(of: [0]))
            // A call that precedes arbitrary bytes is found, whatever was read before.
            #expect(uses.inSwift(Array("OrderPlaced();\(text)".utf8)) == [0])
        }
    }
}
