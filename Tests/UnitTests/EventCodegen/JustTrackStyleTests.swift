import EventCodegen
import EventSchema
import Foundation
import PlanReading
import TestCases
import Testing

/// The expected output in JustTrack's style is also compiled and used in the target JustTrackApp.
@Suite("The generator's style for JustTrack")
struct JustTrackStyleTests {
    private static let app =
        URL(fileURLWithPath: #filePath).pathComponents.dropLast(3).joined(separator: "/") + "/JustTrackApp"

    @Test("the generator's output equals the checked-in file, byte for byte")
    func unchanged() throws {
        let plan = try #require(PlanReader().read(paths: [Self.app]).plan)
        let generated = SwiftGenerator(options: CodegenOptions(style: .justtrack), root: Self.app).generate(plan)
        let expected = try String(contentsOfFile: Self.app + "/TrackingEvents.swift", encoding: .utf8)
        #expect(generated.diagnostics.isEmpty)
        #expect(generated.text == expected)
    }

    @Test("generated names equal those of JustTrack's own generator")
    func names() throws {
        let fixture = PlanFixture.payload(
            "<key>screenData_var</key><string>string</string><key>My key</key><string>string</string>"
        )
        let plan = try #require(PlanReader().read([fixture.source]).plan)
        let text = try #require(SwiftGenerator(options: CodegenOptions(style: .justtrack)).generate(plan).text)
        #expect(text.contains("public class EventE: Event"))
        #expect(text.contains("public init(screenDataVar: String, Mykey: String)"))
        #expect(text.contains("private let kScreenDataVar = \"screenData_var\""))
    }

    @Test("a type suffix is removed from names, and stays on the wire if JustTrack sent it")
    func suffixes() throws {
        let fixture = PlanFixture.event(
            """
            <key>payloadKeys</key><array><string>points_int</string><string>user_interest</string>
            <dict><key>name</key><string>items</string><key>objectPayloadKeys</key>
            <array><string>Item_Name</string><string>Count_int</string></array></dict></array>
            """
        )
        let plan = try #require(PlanReader().read([fixture.source]).plan)
        let text = try #require(SwiftGenerator(options: CodegenOptions(style: .justtrack)).generate(plan).text)
        #expect(text.contains("public init(points: String, userInterest: String, items: [Items])"))
        #expect(text.contains("private let kPoints = \"points_int\""))
        #expect(text.contains("public init(itemName: String, count: Int)"))
        #expect(text.contains("\"item_Name\": itemName,"))
        #expect(text.contains("\"count\": count,"))
    }

    @Test(
        "keys that JustTrack's classes cannot represent are errors",
        arguments: ["name", "payload", "registered trackers", "kA"]
    )
    func taken(key: String) throws {
        let fixture = PlanFixture.payload("<key>a</key><string>string</string><key>\(key)</key><string>string</string>")
        let plan = try #require(PlanReader().read([fixture.source]).plan)
        let result = SwiftGenerator(options: CodegenOptions(style: .justtrack)).generate(plan)
        let isTaken = key != "registered trackers"
        #expect(result.diagnostics.map(\.code) == (isTaken ? [.swiftNameCollision] : []))
    }

    @Test("colliding keys are reported once, with both names")
    func meeting() throws {
        let fixture = PlanFixture.event(
            "<key>payloadKeys</key><array><string>points</string><string>points_int</string></array>"
        )
        let plan = try #require(PlanReader().read([fixture.source]).plan)
        let result = SwiftGenerator(options: CodegenOptions(style: .justtrack)).generate(plan)
        let sentences = result.diagnostics.map(\.sentence)
        #expect(sentences.count == 1)
        #expect(
            sentences.first?.hasPrefix("the key 'points_int' becomes 'points' in Swift, as does the key 'points'")
                == true
        )
    }

    @Test("a definition that JustTrack's style does not support is an error at its place")
    func types() throws {
        let fixture = PlanFixture.payload("<key>a</key><string>string</string>\n<key>b</key><string>integer</string>")
        let plan = try #require(PlanReader().read([fixture.source]).plan)
        let result = SwiftGenerator(options: CodegenOptions(style: .justtrack)).generate(plan)
        #expect(result.text == nil)
        #expect(result.diagnostics.map(\.code) == [.noJustTrackForm])
        #expect(result.diagnostics.first?.location == plan.events[0].properties[1].location)
    }
}
