import EventSchema
import PlanReading
import TestCases
import Testing

@Suite("Definitions read from a plan")
struct DefinitionTests {
    @Test("a property that is a string is a required property of that type", arguments: PropertyType.allCases)
    func shorthand(type: PropertyType) throws {
        let property = try #require(
            PlanFixture.payload("<key>p</key><string>\(type.rawValue)</string>").read().firstProperty
        )
        #expect(property.type == type)
        #expect(property.isRequired && !property.isNullable)
    }

    @Test("all attributes of an event are read")
    func event() throws {
        let reading = PlanFixture.root(
            """
            <key>version</key> <string>1.2</string>
            <key>events</key> <dict><key>sold</key> <dict>
            <key>name</key> <string>Item Sold</string> <key>description</key> <string>d</string>
            <key>owner</key> <string>o</string> <key>deprecated</key> <string>x</string>
            <key>registeredTrackers</key> <array><string>Console</string></array>
            <key>additionalProperties</key> <true/></dict></dict>
            """
        ).read()
        let plan = try #require(reading.plan)
        let expected = EventDefinition(
            key: "sold",
            name: "Item Sold",
            description: "d",
            owner: "o",
            deprecated: "x",
            trackers: ["Console"],
            allowsAdditionalProperties: true,
            location: PlanLocation(file: "plan.plist", line: 4, column: 25)
        )
        #expect(plan == TrackingPlan(version: "1.2", events: [expected]))
    }

    @Test("limits have the property's type, however the number is written")
    func limits() throws {
        func minimum(_ type: String, _ node: String) -> PlanValue? {
            PlanFixture.property("<key>type</key><string>\(type)</string><key>minimum</key>\(node)").read()
                .firstProperty?.minimum
        }
        #expect(minimum("integer", "<integer>-9223372036854775808</integer>") == .integer(.min))
        #expect(minimum("integer", "<real>2.0</real>") == .integer(2))
        #expect(minimum("number", "<integer>2</integer>") == .number(2))
        #expect(minimum("number", "<real>+2.5e-1</real>") == .number(0.25))
        #expect(minimum("decimal", "<integer>2</integer>") == .string("2"))
        #expect(minimum("decimal", "<real>2.55</real>") == .string("2.55"))
        #expect(minimum("decimal", "<string>2.550</string>") == .string("2.550"))
    }

    @Test("the values of an enum are converted to one form each")
    func enumeration() throws {
        func values(_ type: String, _ nodes: String) -> [PlanValue]? {
            PlanFixture.property("<key>type</key><string>\(type)</string><key>enum</key><array>\(nodes)</array>").read()
                .firstProperty?.enumeration
        }
        #expect(values("integer", "<integer>1</integer><real>2</real>") == [.integer(1), .integer(2)])
        #expect(
            values("uuid", "<string>017F22E2-79B0-7CC3-98C4-DC0C0C07398F</string>")
                == [.string("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")]
        )
        #expect(values("date", "<string>2026-02-28</string>") == [.string("2026-02-28")])
        #expect(values("date", "<string>2026-02-29</string>") == nil)
        #expect(
            values("timestamp", "<date>2026-01-31T12:00:00Z</date>") == [.string("2026-01-31T12:00:00Z")]
        )
    }

    @Test("examples of any type, including objects, are read unchanged")
    func freeExamples() throws {
        func values(_ type: String, _ nodes: String) -> [PlanValue]? {
            let property = "<key>type</key><string>\(type)</string><key>examples</key><array>\(nodes)</array>"
            return PlanFixture.property(property).read().firstProperty?.examples
        }
        #expect(values("any", "<true/><integer>1</integer>") == [.boolean(true), .integer(1)])
        #expect(
            values("object", "<dict><key>b</key><real>1</real><key>a</key><array/></dict>")
                == [
                    .object([PlanMember(key: "b", value: .number(1)), PlanMember(key: "a", value: .array([]))])
                ]
        )
    }

    @Test("an example of an array or object is checked at every level")
    func nestedExamples() {
        let array = "<key>type</key><string>array</string><key>items</key><string>integer</string>"
        let bad = PlanFixture.property(
            array + "<key>examples</key><array><array><integer>1</integer></array>👉<array><true/></array></array>"
        )
        #expect(bad.read().places == bad.marks.map { "\($0) bad-example" })
        let object = """
            <key>type</key><string>object</string>
            <key>properties</key><dict><key>a</key><string>string</string></dict>
            <key>examples</key><array><dict><key>a</key><string/></dict>👉<dict/>👉<dict><key>b</key><true/></dict></array>
            """
        let fixture = PlanFixture.property(object)
        #expect(fixture.read().places == fixture.marks.map { "\($0) bad-example" })
    }

    @Test("lengths count code points")
    func codePoints() {
        let fixture = PlanFixture.property(
            """
            <key>type</key><string>string</string><key>maxLength</key><integer>1</integer>
            <key>enum</key><array><string>🎉</string>👉<string>e\u{301}</string></array>
            """
        )
        #expect(fixture.read().places == fixture.marks.map { "\($0) enum-outside-limits" })
    }

    @Test("groups follow the event's own properties in the order of 'include', each once")
    func groups() throws {
        let fixture = PlanFixture.root(
            """
            <key>propertyGroups</key>
            <dict>
              <key>a</key> <dict><key>a1</key><string>any</string><key>include</key><array><string>c</string></array></dict>
              <key>b</key> <dict><key>include</key><array><string>c</string></array><key>b1</key><string>any</string></dict>
              <key>c</key> <dict><key>c1</key><string>any</string><key>include</key><string>boolean</string></dict>
            </dict>
            <key>events</key>
            <dict><key>e</key> <dict>
              <key>registeredTrackers</key> <array><string>console</string></array>
              <key>include</key> <array><string>b</string><string>a</string></array>
              <key>payload</key> <dict><key>own</key><string>any</string></dict></dict></dict>
            """
        )
        let reading = fixture.read()
        #expect(reading.diagnostics == [])
        #expect(reading.plan?.events.first?.properties.map(\.name) == ["own", "b1", "c1", "include", "a1"])
    }

    @Test("all problems of a file are found in one run, in the order of the file")
    func everything() {
        let fixture = PlanFixture.root(
            """
            👉<key>verson</key> <string>1</string>
            <key>events</key>
            <dict>
              👉<key>a</key>
              <dict>
                👉<key>onwer</key> <string>x</string>
                <key>payload</key>
                <dict>
                  <key>p</key> 👉<string>strng</string>
                  👉<key>q</key> <dict><key>required</key> 👉<string>no</string></dict>
                  <key>p q</key> <string>any</string>
                  👉<key>p_q</key> <string>any</string>
                </dict>
              </dict>
            </dict>
            """
        )
        let codes = [
            "unknown-key", "no-trackers", "unknown-key", "unknown-type", "missing-key", "wrong-node-type",
            "swift-name-collision",
        ]
        #expect(fixture.read().places == zip(fixture.marks, codes).map { "\($0) \($1)" })
    }
}
