import EventCodegen
import EventSchema
import PlanReading
import TestCases
import Testing

@Suite("Names that collide in Swift")
struct CollisionTests {
    private func problems(_ fixture: PlanFixture, namespace: String = "Events") throws -> [String] {
        let reading = PlanReader().read([fixture.source])
        let plan = try #require(reading.plan, "\(reading.diagnostics)")
        let result = SwiftGenerator(options: CodegenOptions(namespace: namespace)).generate(plan)
        #expect((result.text == nil) == !result.diagnostics.isEmpty)
        return result.diagnostics.map { "\($0.location.line):\($0.location.column) \($0.sentence)" }
    }

    private func enumeration(_ values: [String], _ more: String = "") -> String {
        let strings = values.map { "<string>\($0)</string>" }.joined()
        return "<key>type</key><string>string</string><key>enum</key><array>\(strings)</array>\(more)"
    }

    @Test("values of an enum that become one case are reported at the property, each with the one before it")
    func cases() throws {
        let fixture = PlanFixture.payload("👉<key>p</key><dict>\(enumeration(["GB", "A+", "gb", "A-"]))</dict>")
        let expected = [
            "the values 'GB' and 'gb' both become the case 'gb'; name one of them in 'swiftCases'",
            "the values 'A+' and 'A-' both become the case 'a'; name one of them in 'swiftCases'",
        ]
        #expect(try problems(fixture) == expected.map { "\(fixture.marks[0]) \($0)" })
    }

    @Test("swiftCases resolves a collision of cases")
    func caseOverride() throws {
        let names = "<key>swiftCases</key><dict><key>GB</key><string>greatBritain</string></dict>"
        #expect(try problems(PlanFixture.property(enumeration(["GB", "gb"], names))).isEmpty)
    }

    @Test("swiftCases cannot use a member of enums or optionals as a name", arguments: ["none", "some", "rawValue"])
    func reservedCase(name: String) {
        let names = "<key>swiftCases</key><dict><key>GB</key><string>\(name)</string></dict>"
        let reading = PlanReader().read([PlanFixture.property(enumeration(["GB", "DE"], names)).source])
        #expect(reading.diagnostics.map(\.code) == [.badName])
    }

    @Test("swiftCases for a value that is not in the enum is an error of the plan")
    func unknownCase() {
        let names = "<key>swiftCases</key><dict><key>FR</key><string>france</string></dict>"
        let reading = PlanReader().read([PlanFixture.property(enumeration(["GB", "DE"], names)).source])
        #expect(reading.diagnostics.map(\.code) == [.unknownKey])
    }

    @Test("two types inside an event with the same name are reported")
    func nestedTypes() throws {
        let item = """
            <key>type</key><string>array</string><key>items</key><dict><key>swiftName</key><string>Line</string>
            <key>type</key><string>object</string><key>properties</key><dict><key>x</key><string>string</string></dict></dict>
            """
        let fixture = PlanFixture.payload(
            "👉<key>lines</key><dict>\(item)</dict>\n👉<key>others</key><dict>\(item)</dict>"
        )
        let sentence = """
            the type of 'others' becomes 'Line' in Swift, as does the type of 'lines' at plan.plist:\(fixture.marks[0]); \
            give one of them a 'swiftName'
            """
        #expect(try problems(fixture) == ["\(fixture.marks[1]) \(sentence)"])
    }

    @Test("a type and a property that collide are reported once; a property does not collide with its own type")
    func propertyAndType() throws {
        let object =
            "<key>type</key><string>object</string><key>properties</key><dict><key>x</key><string>any</string></dict>"
        let text = "<key>type</key><string>string</string>"
        let named = "<key>swiftName</key><string>Line</string>"
        let meeting = "<key>line</key><dict>\(object)</dict><key>other</key><dict>\(text)\(named)</dict>"
        let fixture = PlanFixture.event(
            "<key>additionalProperties</key><true/><key>payload</key><dict>\(meeting)</dict>"
        )
        #expect(try problems(fixture).count == 1)
        #expect(try problems(fixture).first?.contains("the type of 'line' becomes 'Line'") == true)
        #expect(try problems(PlanFixture.payload("<key>line</key><dict>\(object)\(named)</dict>")).isEmpty)
    }

    @Test("a property cannot have the name of a deprecated property's storage")
    func storage() throws {
        let old =
            "<key>type</key><string>string</string><key>required</key><false/><key>deprecated</key><string>no</string>"
        let taken = "<key>type</key><string>string</string><key>swiftName</key><string>_old</string>"
        let fixture = PlanFixture.payload("<key>old</key><dict>\(old)</dict><key>b</key><dict>\(taken)</dict>")
        #expect(try problems(fixture).map { $0.contains("the storage of 'old' becomes '_old'") } == [true])
    }

    @Test("a property cannot have the name of the property for additional properties, if the event has it")
    func additional() throws {
        let payload = "<key>payload</key><dict><key>additional properties</key><string>any</string></dict>"
        let fixture = PlanFixture.event("<key>additionalProperties</key><true/>\(payload)")
        #expect(try problems(fixture).map { $0.contains("the property for what the plan does not name") } == [true])
        #expect(try problems(PlanFixture.event(payload)).isEmpty)
    }

    @Test(
        "an event cannot have a name that generated code needs; a swiftName resolves it",
        arguments: [("Swift", ""), ("Sluice", ""), ("Shop Events", ""), ("x", "catalog")]
    )
    func modules(key: String, name: String) throws {
        func fixture(_ name: String) -> PlanFixture {
            let swiftName = name.isEmpty ? "" : "<key>swiftName</key><string>\(name)</string>"
            return PlanFixture.root(
                """
                <key>events</key><dict><key>\(key)</key><dict>\(swiftName)
                <key>registeredTrackers</key><array><string>console</string></array>
                </dict></dict>
                """
            )
        }
        #expect(
            try problems(fixture(name), namespace: "ShopEvents").first?.contains(
                "which generated code needs as the name"
            ) == true
        )
        #expect(try problems(fixture("Other"), namespace: "ShopEvents").isEmpty)
    }

    @Test("a type inside an event cannot have the namespace's name; lint, which has no namespace, accepts it")
    func nestedNamespace() throws {
        let fixture = PlanFixture.payload("👉<key>shop events</key><dict>\(enumeration(["a"]))</dict>")
        #expect(try problems(fixture, namespace: "Events").isEmpty)
        let found = try problems(fixture, namespace: "ShopEvents")
        let start = "\(fixture.marks[0]) the type of 'shop events' becomes 'ShopEvents'"
        #expect(found.map { $0.hasPrefix(start) } == [true])
        let named = enumeration(["a"], "<key>swiftName</key><string>Other</string>")
        let repaired = PlanFixture.payload("<key>shop events</key><dict>\(named)</dict>")
        #expect(try problems(repaired, namespace: "ShopEvents").isEmpty)
    }

    @Test("generated code qualifies a type of Swift if the namespace has the same name")
    func namespaceOfSwift() throws {
        let fixture = PlanFixture.payload("<key>text</key><string>string</string>")
        let plan = try #require(PlanReader().read([fixture.source]).plan)
        let text = try #require(SwiftGenerator(options: CodegenOptions(namespace: "String")).generate(plan).text)
        #expect(text.contains("var text: Swift.String"))
    }

    @Test(
        "a type inside an event hides neither a module nor the members that every type has",
        arguments: ["swift", "sluice", "type", "raw value"]
    )
    func nestedModules(name: String) throws {
        let fixture = PlanFixture.payload("<key>\(name)</key><dict>\(enumeration(["a"]))</dict>")
        let plan = try #require(PlanReader().read([fixture.source]).plan)
        let text = try #require(SwiftGenerator().generate(plan).text)
        #expect(text.contains("enum \(SwiftName.unescaped(SwiftName.type(name)))_:"))
    }

    @Test(
        "a name that generated code needs itself is an error",
        arguments: ["self", "RawValue", "Type"]
    )
    func reserved(name: String) {
        let fixture = PlanFixture.property(
            "<key>type</key><string>string</string><key>swiftName</key><string>\(name)</string>"
        )
        #expect(PlanReader().read([fixture.source]).diagnostics.map(\.code) == [.badName])
    }

    @Test("a swiftName resolves a collision that lint reports, and must be a valid name")
    func swiftName() {
        func plan(_ second: String) -> PlanReport {
            PlanReader().read([
                PlanFixture.root(
                    """
                    <key>events</key><dict>
                    <key>order placed</key><dict><key>name</key><string>one</string>
                    <key>registeredTrackers</key><array><string>console</string></array></dict>
                    <key>OrderPlaced</key><dict><key>name</key><string>two</string>\(second)
                    <key>registeredTrackers</key><array><string>console</string></array></dict>
                    </dict>
                    """
                ).source
            ])
        }
        #expect(plan("").diagnostics.map(\.code) == [.swiftNameCollision])
        #expect(plan("<key>swiftName</key><string>Order2</string>").diagnostics.isEmpty)
        #expect(plan("<key>swiftName</key><string>2 orders</string>").diagnostics.map(\.code).contains(.badName))
    }
}
