import EventSchema
import Foundation
import PlanReading
import PlanTools
import TestCases
import Testing

@Suite("Adding an event to a plan file")
struct EventInsertionTests {
    private static func adding(
        _ key: String = "Order Cancelled",
        owner: String? = "checkout",
        to text: String
    ) throws -> String {
        let insertion = EventInsertion(key: key, owner: owner, trackers: ["console", "postgres"])
        let edited = try insertion.applied(to: PlanSource(file: "plan.plist", bytes: Array(text.utf8)))
        return String(decoding: edited.bytes, as: UTF8.self)
    }

    @Test("whatever the file's layout, the existing bytes are unchanged, and the plan has one more event")
    func anyFile() throws {
        let seed = CaseSource.runSeed
        var source = CaseSource(seed: seed)
        for _ in 0..<400 {
            let text = GeneratedPlanFile.make(&source)
            let before = PlanReader().read([PlanSource(file: "plan.plist", bytes: Array(text.utf8))])
            let plan = try #require(before.plan, "seed \(seed): \(before.diagnostics) in \(text)")
            let name = source.pick(["Order Cancelled", "Größe & <Maß>", "x\"y'", "注文"])
            let edited = try Self.adding(name, to: text)
            let report = Comment(rawValue: "seed \(seed): \(text) became \(edited)")

            #expect(Self.keepsAll(of: text, in: edited), report)
            let after = PlanReader().read([PlanSource(file: "plan.plist", bytes: Array(edited.utf8))])
            #expect(after.diagnostics == [], report)
            let changes = PlanDiff(from: plan, to: try #require(after.plan, report)).changes
            #expect(changes.map(\.kind) == [.eventAdded] && changes.first?.event == name, report)
            let added = try #require(after.plan?.events.last, report)
            #expect(added.owner == "checkout" && added.trackers == ["console", "postgres"], report)
        }
    }

    /// Whether the old bytes are all retained, in one or two pieces; only an empty `<dict/>` is opened.
    private static func keepsAll(of text: String, in edited: String) -> Bool {
        let (old, new) = (Array(text.utf8), Array(edited.utf8))
        let front = zip(old, new).prefix { $0 == $1 }.count
        let back = zip(old.reversed(), new.reversed()).prefix { $0 == $1 }.count
        let missing = old.count - min(old.count, front + back)
        return missing == 0 || (missing <= "/ >".utf8.count && text.contains("<dict"))
    }

    @Test("inserted lines have the line endings of the file", arguments: ["\n", "\r\n", "\r"])
    func newlines(newline: String) throws {
        let lines = [
            "<plist>", "<dict>", "\t<key>events</key>", "\t<dict>", "\t\t<key>A</key>", "\t\t<dict>",
            "\t\t\t<key>registeredTrackers</key>", "\t\t\t<array><string>console</string></array>", "\t\t</dict>",
            "\t</dict>", "</dict>", "</plist>", "",
        ]
        let edited = try Self.adding(to: lines.joined(separator: newline))
        let added = [
            "\t\t<key>Order Cancelled</key>", "\t\t<dict>", "\t\t\t<key>owner</key>", "\t\t\t<string>checkout</string>",
            "\t\t\t<key>registeredTrackers</key>",
            "\t\t\t<array><string>console</string><string>postgres</string></array>", "\t\t\t<key>payload</key>",
            "\t\t\t<dict>", "\t\t\t</dict>", "\t\t</dict>",
        ]
        #expect(edited == (lines[..<9] + added + lines[9...]).joined(separator: newline))
    }

    @Test("an inserted event follows the file's layout of keys, and its empty lines between events")
    func style() throws {
        let head = """
            <plist><dict>
              <key>events</key> <dict>
                <key>A</key> <dict>
                  <key>owner</key> <string>a</string>
                  <key>registeredTrackers</key> <array><string>console</string></array>
                </dict>

                <!-- B is next -->
                <key>B</key> <dict>
                  <key>registeredTrackers</key> <array><string>console</string></array>
                </dict> <!-- B is done -->
            """
        let tail = "\n  </dict>\n</dict></plist>"
        #expect(
            try Self.adding(to: head + tail) == head + """


                    <key>Order Cancelled</key> <dict>
                      <key>owner</key> <string>checkout</string>
                      <key>registeredTrackers</key> <array><string>console</string><string>postgres</string></array>
                      <key>payload</key> <dict>
                      </dict>
                    </dict>
                """ + tail
        )
    }

    @Test("the project's own plans retain every byte", arguments: ["retail.plist", "food_ordering.plist"])
    func ownPlans(name: String) throws {
        let path = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("events/\(name)")
        let text = try String(contentsOf: path, encoding: .utf8)
        let edited = try Self.adding(to: text)
        #expect(Self.keepsAll(of: text, in: edited))
        #expect(edited.contains("\n\n\t\t<key>Order Cancelled</key>\n\t\t<dict>\n\t\t\t<key>owner</key>\n"))
    }

    @Test("a binary plist, and a file that is not a plist, are not edited")
    func refusals() throws {
        let binary = try PropertyListSerialization.data(
            fromPropertyList: ["events": [String: String]()],
            format: .binary,
            options: 0
        )
        let insertion = EventInsertion(key: "A", trackers: ["console"])
        for (bytes, sentence) in [
            (Array(binary), "a binary property list has no layout"),
            (Array("<plist><dict>".utf8), "the file has problems"),
            (Array("<plist><array/></plist>".utf8), "the file has problems"),
            (Array("<plist><dict><key>events</key><array/></dict></plist>".utf8), "the file has problems"),
            ([], "the file has problems"),
        ] {
            let error = #expect(throws: PlanEditError.self) {
                try insertion.applied(to: PlanSource(file: "plan.plist", bytes: bytes))
            }
            #expect(error?.description.contains(sentence) == true)
        }
    }
}
