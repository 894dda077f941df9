import EventSchema
import PlanReading
import TestCases
import Testing

@Suite("Plans in JustTrack's format")
struct JustTrackTests {
    /// The features of JustTrack's own example: bare keys, objects with and without suffixes, an empty payload.
    private static let fixture = PlanFixture(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
          <key>events</key>
          <dict>
            <key>basketShown</key>
            <dict>
              <key>name</key> <string>basket_shown</string>
              <key>registeredTrackers</key>
              <array> <string>console</string> <string>Firebase</string> </array>
              <key>payloadKeys</key>
              <array>
                <string>extra</string>
                <string>count_int</string>
                <dict>
                  <key>name</key> <string>basketItems</string>
                  <key>objectPayloadKeys</key>
                  <array>
                    <string>item_name</string>
                    <string>item_number_int</string>
                    <string>item_price_double</string>
                    <string>item_gift_bool</string>
                    <string>user_interest</string>
                    <string>a_int_int</string>
                  </array>
                </dict>
              </array>
            </dict>
            <key>Leave</key>
            <dict>
              <key>name</key> <string>Leave</string>
              <key>registeredTrackers</key> <array><string>console</string></array>
              <key>payloadKeys</key> <array/>
            </dict>
          </dict>
        </dict>
        </plist>
        """
    )

    private let plan: TrackingPlan

    init() throws {
        let reading = Self.fixture.read()
        #expect(reading.diagnostics == [])
        plan = try #require(reading.plan)
    }

    @Test("a JustTrack file is a valid plan without changes")
    func events() {
        #expect(plan.events.map(\.key) == ["basketShown", "Leave"])
        #expect(plan.events.map(\.name) == ["basket_shown", "Leave"])
        #expect(plan.events.map(\.trackers) == [["console", "Firebase"], ["console"]])
        #expect(plan.events.map(\.properties.count) == [3, 0])
    }

    @Test("a bare key is a string that may be absent or null, whatever it ends with")
    func bareKeys() throws {
        let properties = try #require(plan.events.first?.properties.prefix(2))
        #expect(properties.map(\.name) == ["extra", "count_int"])
        #expect(properties.map(\.type) == [.string, .string])
        #expect(properties.allSatisfy { !$0.isRequired && $0.isNullable })
    }

    @Test("a dictionary is an array of objects, whose suffixes are types and are cut at the end, once")
    func objects() throws {
        let property = try #require(plan.events.first?.properties.last)
        #expect(property.name == "basketItems")
        #expect(property.type == .array && !property.isRequired && property.isNullable)
        #expect(property.items?.type == .object)
        let members = try #require(property.items?.properties)
        #expect(
            members.map(\.name) == ["item_name", "item_number", "item_price", "item_gift", "user_interest", "a_int"]
        )
        #expect(members.map(\.type) == [.string, .integer, .number, .boolean, .string, .integer])
        #expect(members.map(\.location.line) == [20, 21, 22, 23, 24, 25])
    }

    @Test("a key of an object begins with a lower-case letter, as JustTrack sent it")
    func smallLetters() throws {
        let fixture = PlanFixture.event(
            """
            <key>payloadKeys</key>
            <array><string>Whole</string><dict><key>name</key><string>Items</string><key>objectPayloadKeys</key>
            <array><string>Item_Name</string><string>Count_int</string></array></dict></array>
            """
        )
        let properties = try #require(fixture.read().plan?.events.first?.properties)
        #expect(properties.map(\.name) == ["Whole", "Items"])
        #expect(properties.last?.items?.properties?.map(\.name) == ["item_Name", "count"])
    }

    @Test(
        "keys may have reserved column names, or collide as columns, if the event has no table",
        arguments: ["userId", "sessionId", "anonymousId", "id", "context", "xmin", "item_name"]
    )
    func columnNames(key: String) {
        func plan(_ tracker: String) -> PlanReport {
            PlanFixture.event(
                "<key>payloadKeys</key><array><string>itemName</string><string>\(key)</string></array>",
                tracker: tracker
            ).read()
        }
        let columns: [DiagnosticCode] = [key == "item_name" ? .sqlNameCollision : .reservedColumn]
        #expect(plan("PostgreS").diagnostics.map(\.code).filter { $0 != .swiftNameCollision } == columns)
        #expect(plan("Firebase").diagnostics.map(\.code).filter { $0 != .swiftNameCollision } == [])
    }

    @Test("two keys that are equal without their suffix are an error")
    func equalKeys() {
        let fixture = PlanFixture.event(
            """
            <key>payloadKeys</key>
            <array><dict><key>name</key><string>a</string><key>objectPayloadKeys</key>
            <array><string>b</string>👉<string>b_int</string></array></dict></array>
            """
        )
        #expect(fixture.read().places == fixture.marks.map { "\($0) duplicate-key" })
    }
}
