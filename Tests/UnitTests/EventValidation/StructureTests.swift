import EventModel
import EventSchema
import EventValidation
import TestCases
import Testing

@Suite("The short walk over the structure of a line")
struct StructureTests {
    /// A plan of a flat event with a property of each scalar type, an event like those of a shop, and one that is not flat.
    static let catalog = EventCatalog(plan: TrackingPlan(events: [flat, purchase, nested, open]))

    private static func property(_ name: String, _ type: PropertyType) -> PropertyDefinition {
        PropertyDefinition(name: name, type: type, isRequired: false, location: .line(1))
    }

    private static let flat: EventDefinition = {
        var code = property("code", .string)
        (code.minLength, code.maxLength, code.pattern) = (2, 6, "^[A-Z]?[0-9]+$")
        var size = property("size", .string)
        (size.enumeration, size.isNullable) = ([.string("small"), .string("large")], true)
        var count = property("count", .integer)
        (count.minimum, count.maximum) = (.integer(-3), .integer(1_000_000_000_000_000))
        var price = property("price", .number)
        (price.minimum, price.enumeration) = (
            .number(-0.5), [.number(-0.5), .number(2.55), .integer(7), .number(1e-6)]
        )
        var day = property("day", .date)
        day.enumeration = [.string("2024-02-29")]
        return EventDefinition(
            key: "Flat",
            trackers: ["console"],
            properties: [
                code, size, count, price, property("ratio", .number), property("total", .decimal),
                property("gift", .boolean), property("at", .timestamp), day, property("order", .uuid),
            ],
            location: .line(1)
        )
    }()

    /// The shape of the retail data's events.
    private static let purchase: EventDefinition = {
        var invoice = property("invoiceNo", .string)
        (invoice.isRequired, invoice.pattern) = (true, "^[A-Z]?[0-9]{6}$")
        var quantity = property("quantity", .integer)
        (quantity.isRequired, quantity.minimum) = (true, .integer(1))
        var country = property("country", .string)
        (country.isRequired, country.minLength, country.maxLength) = (true, 1, 60)
        return EventDefinition(
            key: "Item Purchased",
            trackers: ["console"],
            properties: [invoice, property("description", .string), quantity, property("unitPrice", .number), country],
            location: .line(2)
        )
    }()

    private static let nested = EventDefinition(
        key: "Nested",
        trackers: ["console"],
        properties: [property("a", .integer), property("b", .array)],
        location: .line(3)
    )

    private static let open = EventDefinition(
        key: "Open",
        trackers: ["console"],
        properties: [property("a", .integer)],
        allowsAdditionalProperties: true,
        location: .line(4)
    )

    private static let retail =
        #"{"name":"Item Purchased","time":"2023-11-01T08:26:00Z","userId":"17850","payload":{"invoiceNo":"536365","#
        + #""description":"WHITE HANGING HEART T-LIGHT HOLDER","quantity":6,"unitPrice":2.55,"country":"United Kingdom"}}"#

    private static func payload(_ members: String) -> String { #"{"name":"Flat","payload":{\#(members)}}"# }

    /// Events that need no tape.
    static let accepted = [
        retail, payload(""), #"{"name":"Flat"}"#, #"{"payload":{},"name":"Flat"}"#,
        payload(#""code":"A12","size":"small","count":-3,"price":2.55,"ratio":0.125,"total":"1.50","gift":true"#),
        payload(
            #""at":"2020-01-01T00:00:00.5+02:00","day":"2024-02-29","order":"0190A2B4-7C1E-7d3a-9f00-1234567890ab""#
        ),
        payload(#""gift":false,"total":12.5,"code":"123456""#), payload(#""count":100000000000000,"ratio":-0.5"#),
        payload(#""ratio":123456789.12345"#), payload(#""ratio":0.000001"#), payload(#""ratio":0,"count":0"#),
        #" { "name" : "Flat" , "payload" : { "count" : 5 , "gift" : true } } \#r"#,
        payload(#""code": "A1", "count": 7"#),
        #"{"id":"0190a2b4-7c1e-7d3a-9f00-1234567890ab","name":"Flat","serverTime":true}"#,
        #"{"id":"0190a2b4-7c1e-4d3a-9f00-1234567890ab","name":"Flat","time":"2023-11-01T08:26:00Z","serverTime":false}"#,
        #"{"name":"Flat","userId":"é😀","anonymousId":"","sessionId":"'/\#u{7F}","payload":{"count":1}}"#,
        #"{"name":"Open","payload":{"a":1}}"#, #"{"name":"Open"}"#, #"{"name":"Flat","context":{}}"#,
        #"{"name":"Flat","context":{"a":null,"b":[1,-2.5,true,[],{}],"c":{"d":"e","a":{"a":false}}},"payload":{}}"#,
        #"{"context" : { "a" : [ 1 , "b" ] , "" : 0 } , "payload" : {"count":1},"name":"Flat"}"#,
    ]

    /// Events that the other walk has to look at, valid and invalid ones.
    static let declined = [
        "", "{}", "5", "[]", "null", #"{"name":"Flat""#, #"{"name":"Flat"}}"#, #"{"name":"Flat"},"#,
        #"{"name":"Flat"}x"#,
        #"{"name":"Flat",}"#, #"{"name":"Flat" "payload":{}}"#, #"{"name","Flat"}"#, #"{"name":"Flat":"payload"}"#,
        #"{"name":"Flat"x}"#, #"{"name":"Flat""x"}"#, #"{"name":"Fl\u0061t"}"#,
        #"{"name":"Flat","payload":{"code":"\\1"}}"#,
        #"{"name":"Flat","name":"Flat"}"#, #"{"name":"flat"}"#, #"{"name":["Flat"]}"#, #"{"nam":"Flat"}"#,
        #"{"name":"Flat","receivedAt":"2023-11-01T08:26:00Z"}"#, #"{"name":"Flat","context":[]}"#,
        #"{"name":"Flat","context":5}"#, #"{"name":"Flat","context":{"a":1,"a":2}}"#,
        #"{"name":"Flat","context":{"a"}}"#,
        #"{"name":"Flat","context":{"a":{"b":1,"c":2,"b":3}}}"#, #"{"name":"Flat","context":{"a":1.50}}"#,
        #"{"name":"Flat","context":{"a":1e400}}"#, #"{"name":"Flat","context":{"a":[1,]}}"#,
        #"{"name":"Flat","context":{"a":[1}]}"#, #"{"name":"Flat","context":{"a":[1]}"#,
        #"{"name":"Flat","context":{,}}"#,
        #"{"name":"Flat","context":{"a":1,}}"#, #"{"name":"Flat","context":{"a":nul}}"#,
        #"{"name":"Flat","context":{"a":}}"#,
        #"{"name":"Flat","context":{"a":\#(String(repeating: "[", count: 70))\#(String(repeating: "]", count: 70))}}"#,
        #"{"name":"Flat","context":{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}}"#,
        #"{"name":"Flat","id":"1"}"#, #"{"name":"Flat","time":"yesterday"}"#, #"{"name":"Flat","time":5}"#,
        #"{"name":"Flat","userId":5}"#, #"{"name":"Flat","serverTime":1}"#, #"{"name":"Flat","payload":[]}"#,
        #"{"name":"Flat","userId":"\#(String(repeating: "x", count: 513))"}"#, #"{"name":"Item Purchased"}"#,
        #"{"name":"Nested","payload":{"a":1}}"#, #"{"name":"Open","payload":{"a":1,"c":2}}"#,
        payload(#""code":"A1","code":"A1""#), payload(#""code":"A""#), payload(#""code":"A1234567""#),
        payload(#""code":"12 ""#),
        payload(#""code":5"#), payload(#""code":"A1"#), payload(#""code""#), payload(#""code":"#),
        payload(#""code":}"#),
        payload(#""size":"tiny""#), payload(#""size":null"#), payload(#""code":null"#), payload(#""other":1"#),
        payload(","),
        payload(#""count":1,"#), payload(#""count":1 2"#), payload(#""count":01"#), payload(#""count":-0"#),
        payload(#""count":1.0"#), payload(#""count":1e2"#), payload(#""count":-4"#), payload(#""count":+1"#),
        payload(#""count":-"#),
        payload(#""count":0x1"#), payload(#""count":1234567890123456"#), payload(#""count":9223372036854775808"#),
        payload(#""ratio":1.50"#), payload(#""ratio":1."#), payload(#""ratio":.5"#), payload(#""ratio":0.0000001"#),
        payload(#""ratio":-0.0"#), payload(#""ratio":1234567890.1234567"#), payload(#""ratio":1e400"#),
        payload(#""ratio":1.2.3"#),
        payload(#""price":2.5"#), payload(#""price":-1"#), payload(#""gift":True"#), payload(#""gift":truex"#),
        payload(#""gift":"true""#), payload(#""total":"1,5""#), payload(#""total":1.50"#),
        payload(#""at":"2020-01-01""#),
        payload(#""day":"2023-02-29""#), payload(#""day":"2024-03-01""#), payload(#""order":"1""#),
        payload(#""count":{"a":1}"#), payload(#""count":[1]"#), payload(#""count":{}"#), payload(#"{"count":1}"#),
        #"{"name":"Flat","payload":{"count":{"a":1},"userId":"x"}"#, #"{"payload":{"count":1,"name":"Flat"}}"#,
        "{\"name\":\"Flat\",\"userId\":\"a\u{0}b\"}", "{\"name\":\"Flat\"}\u{0}", "{\"name\":\"Flat\"\u{C}}",
        "\u{1A}{\"name\":\"Flat\"}",
    ]

    @Test("accepts the common events", arguments: accepted)
    func accepts(line: String) {
        let walks = BothWalks(Self.catalog)
        let (short, long) = walks.check(Array("\(line)\n\(Self.retail)\n".utf8))
        #expect(short == long)
        #expect(short.entries.count == 2 && short.rejections.isEmpty)
        #expect(walks.structuralEvents == 2)
    }

    @Test(
        "leaves every other event to the walk over the tape, and the events around it are accepted",
        arguments: declined
    )
    func declines(line: String) {
        let walks = BothWalks(Self.catalog)
        let (short, long) = walks.check(Array("\(Self.retail)\n\(line)\n\(Self.retail)\n".utf8))
        #expect(short == long)
        #expect(walks.structuralEvents == 2 || walks.structuralEvents == 0)
    }

    @Test("leaves events of a body to the other walk if they are refused for a reason outside of them")
    func refusals() {
        let walks = BothWalks(Self.catalog)
        let refused = Violation(code: .invalidTime, path: "$", expected: "a time", found: "none")
        let (short, long) = walks.check(Array("\(Self.retail)\n\(Self.retail)".utf8), .init(refusals: [1: [refused]]))
        #expect(short == long)
        #expect(short.entries.count == 1 && walks.structuralEvents == 0)
    }

    @Test("reads canonical lines again")
    func canonicalLines() {
        let first = BothWalks(Self.catalog).check(Array(Self.accepted.joined(separator: "\n").utf8)).short
        let walks = BothWalks(Self.catalog, acceptsReceivedAt: true)
        let (short, long) = walks.check(first.lines)
        #expect(short == long)
        #expect(short == first)
        #expect(walks.structuralEvents == Self.accepted.count)
    }

    @Test("never sees a context with a member that the plan protects")
    func sensitiveContext() {
        let lines = [#"{"name":"Flat","context":{"ip":"192.0.2.7"}}"#, #"{"name":"Flat","context":{"page":{}}}"#]
        for sensitivity in [Sensitivity.drop, .hash] {
            var plan = TrackingPlan(events: [Self.flat])
            plan.context = [ContextAttribute(name: "ip", sensitivity: sensitivity, location: .line(1))]
            let walks = BothWalks(EventCatalog(plan: plan, hashKey: HashKey([UInt8](repeating: 7, count: 16))))
            let (short, long) = walks.check(Array(lines.joined(separator: "\n").utf8))
            #expect(short == long)
            #expect(short.entries.count == 2 && walks.structuralEvents == 0)
            #expect(!String(decoding: short.lines, as: UTF8.self).contains("192.0.2.7"))
        }
    }

    @Test("never sees an event with a property that the plan protects")
    func sensitive() {
        for sensitivity in [Sensitivity.drop, .hash] {
            var definition = Self.purchase
            definition.properties[1].sensitivity = sensitivity
            let plan = TrackingPlan(events: [definition])
            let walks = BothWalks(EventCatalog(plan: plan, hashKey: HashKey([UInt8](repeating: 7, count: 16))))
            let (short, long) = walks.check(Array(Self.retail.utf8))
            #expect(short == long)
            #expect(short.entries.count == 1 && walks.structuralEvents == 0)
        }
    }
}

// MARK: - Random events

extension StructureTests {
    /// What may change what is accepted, at random.
    private static func request(_ catalog: EventCatalog, _ source: inout CaseSource) -> BothWalks.Request {
        var request = BothWalks.Request()
        if source.once(in: 2) { request.eventTimes = .standard }
        request.nullIsAbsent = source.once(in: 2)
        if source.once(in: 4) {
            request.allowedEvents = EventSet(named: [source.pick(catalog.definitions).name], in: catalog)
        }
        if source.once(in: 4) { request.additions.clientAddress = Array("192.0.2.7".utf8) }
        if source.once(in: 4) { request.turn = (source.number(1...500), source.number(1...3)) }
        return request
    }

    @Test("gives the same bytes and verdicts as the other walk for changed and damaged events", arguments: 0..<8)
    func damaged(part: Int) {
        var source = CaseSource(seed: CaseSource.runSeed &+ UInt64(part))
        let all = Self.accepted + Self.declined
        let walks = BothWalks(Self.catalog, maximumExplained: 3)
        for _ in 0..<1_000 {
            let lines = (0..<source.number(1...6)).map { _ in
                var line = Array(source.pick(source.once(in: 3) ? all : Self.accepted).utf8)
                for _ in 0..<source.pick([0, 0, 0, 1, 2]) { line = EventMutation.damage(line, &source) }
                return line
            }
            let body = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
            let (short, long) = walks.check(body, Self.request(Self.catalog, &source))
            guard short == long else {
                Issue.record("seed \(CaseSource.runSeed), part \(part): \(String(decoding: body, as: UTF8.self))")
                return
            }
        }
        #expect(walks.structuralEvents > 500)
    }

    @Test("gives the same bytes and verdicts as the other walk for events of random plans", arguments: 0..<8)
    func generated(part: Int) {
        var source = CaseSource(seed: CaseSource.runSeed &+ 800 &+ UInt64(part))
        var accepted = 0
        for _ in 0..<20 {
            var plan = GeneratedPlan.make(&source)
            for index in plan.events.indices {
                plan.events[index].properties.removeAll { [.array, .object, .any].contains($0.type) }
            }
            let catalog = EventCatalog(plan: plan)
            let walks = BothWalks(catalog)
            for _ in 0..<15 {
                let lines = (0..<source.number(1...6)).map { _ in Self.line(of: catalog.plan, &source) }
                let body = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
                let (short, long) = walks.check(body, Self.request(catalog, &source))
                guard short == long else {
                    Issue.record("seed \(CaseSource.runSeed), part \(part): \(String(decoding: body, as: UTF8.self))")
                    return
                }
            }
            accepted += walks.structuralEvents
        }
        #expect(accepted > 50)
    }

    private static func line(of plan: TrackingPlan, _ source: inout CaseSource) -> [UInt8] {
        var event = GeneratedEvent.make(of: plan, &source)
        for _ in 0..<source.pick([0, 0, 1]) { event = EventMutation.mutate(event, &source) }
        guard !source.once(in: 4) else { return SentText.of(event, allowsNewlines: false, &source) }
        return Array(ReferenceWriter.value(withoutEscapes(event)).utf8)
    }

    /// The value without the characters that JSON has to escape.
    private static func withoutEscapes(_ value: ReferenceJSON) -> ReferenceJSON {
        func plain(_ text: [UInt32]) -> [UInt32] { text.filter { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C } }
        switch value {
        case .string(let text): return .string(plain(text))
        case .array(let elements): return .array(elements.map(withoutEscapes))
        case .object(let members):
            return .object(
                members.map { ReferenceMember(key: plain($0.key), value: withoutEscapes($0.value)) }
            )
        default: return value
        }
    }
}
