import EventSchema
import Foundation
import PlanReading
import TestCases
import Testing

@Suite("What a plan protects")
struct SensitivityTests {
    private static let fixture = PlanFixture.root(
        """
        <key>context</key> <dict>
          <key>ip</key> <dict><key>sensitive</key> <string>hash</string> <key>description</key> <string>The address.</string></dict>
          <key>device</key> <dict><key>sensitive</key> <dict><key>trackers</key>
            <array><string>Kafka</string><string>CONSOLE</string></array></dict></dict>
        </dict>
        <key>events</key> <dict><key>e</key> <dict>
          <key>registeredTrackers</key> <array><string>console</string><string>kafka</string></array>
          <key>payload</key> <dict>
            <key>email</key> <dict><key>type</key> <string>string</string> <key>sensitive</key> <string>drop</string></dict>
            <key>open</key> <string>string</string>
          </dict>
        </dict></dict>
        """
    )

    @Test("a property and a key of the context can be dropped, hashed, or be for some trackers only")
    func reading() throws {
        let reading = Self.fixture.read()
        #expect(reading.diagnostics.map(\.description) == [])
        let plan = try #require(reading.plan)
        #expect(plan.context.map(\.name) == ["ip", "device"])
        #expect(plan.context.map(\.sensitivity) == [.hash, .trackers(["console", "kafka"])])
        #expect(plan.context.map(\.description) == ["The address.", nil])
        #expect(plan.events[0].properties.map(\.sensitivity) == [.drop, nil])
    }

    @Test("generated code keeps what is protected")
    func coding() throws {
        let plan = try #require(Self.fixture.read().plan)
        let decoded = try JSONDecoder().decode(TrackingPlan.self, from: JSONEncoder().encode(plan))
        #expect(decoded == plan)
    }

    @Test("a key of the context that two files protect is reported at the second place")
    func collision() {
        let other = PlanSource(file: "other.plist", bytes: Self.fixture.source.bytes)
        let reading = PlanReader().read([Self.fixture.source, other])
        let codes = reading.diagnostics.map { "\($0.location.file) \($0.code)" }
        #expect(
            codes.filter { $0.hasSuffix("duplicate-context-key") }
                == Array(repeating: "other.plist duplicate-context-key", count: 2)
        )
    }
}
