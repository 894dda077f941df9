import EventSchema
import PlanTools
import TestCases
import Testing

@Suite("Looking for code that sends events")
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
        "a call of the type is a use, however it is written",
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
        "what only looks like one is none",
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

    @Test("types named like a keyword or with letters of other scripts are found by what they are called")
    func names() {
        let uses = EventUses(of: Self.plan)
        #expect(uses.inSwift(Array("`Type`(); Käufe()".utf8)) == [1, 3])
    }

    @Test("in JSON that is itself a string the name is found, however often its marks are escaped")
    func escapedText() {
        let uses = EventUses(of: Self.plan)
        func found(_ text: String) -> Set<Int> { uses.inText(Array(text.utf8)) }
        #expect(found(#"body = "{\"name\":\"Order Placed\"}""#) == [0])
        #expect(found(#"-d "{ \"name\" : \"Käufe\", \"payload\": {} }""#) == [3])
        #expect(found(#""\"{\\\"name\\\":\\\"Order Placed\\\"}\"""#) == [0])
        #expect(found(#"{\'name\': \'Type\'}"#) == [1])
        // Marks that do not belong together.
        #expect(found(#"\"Order Placed""#) == [])
        #expect(found(#"\\\"Order Placed\""#) == [])
        #expect(found(#"\""#) == [] && found(#"\"\""#) == [])
    }

    @Test("elsewhere it is the name in quotation marks of any kind")
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

    @Test("a class in JustTrack's style is found, and gives way to an event that is called so")
    func classes() {
        #expect(Self.isMade("EventOrderPlaced()"))
        let plan = TrackingPlan(
            events: ["User", "Event User"].map {
                EventDefinition(key: $0, trackers: ["console"], location: .line(1))
            }
        )
        #expect(EventUses(of: plan).inSwift(Array("EventUser()".utf8)) == [1])
    }

    @Test("hashes are counted once, however many there are", .timeLimit(.minutes(5)))
    func hashes() {
        let hashes = String(repeating: "#", count: 1_000_000)
        #expect(Self.isMade(hashes + "\nOrderPlaced()"))
    }

    @Test("any bytes are read to their end")
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
            // Whatever came before, a file that is whole again is read again.
            #expect(uses.inSwift(Array("OrderPlaced();\(text)".utf8)) == [0])
        }
    }
}
