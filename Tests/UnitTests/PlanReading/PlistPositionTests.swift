import EventSchema
import PlanReading
import TestCases
import Testing

@Suite("Positions of plist nodes")
struct PlistPositionTests {
    /// The position of property `p` of the first event, as line:column.
    private func place(_ xml: String) -> String? {
        PlanFixture(xml).read().firstProperty.map { "\($0.location.line):\($0.location.column)" }
    }

    private let before = """
        <plist><dict><key>events</key><dict><key>e</key><dict>\
        <key>registeredTrackers</key><array><string>c</string></array><key>payload</key><dict>
        """
    private let after = "<string>any</string></dict></dict></dict></dict></plist>"

    @Test("a column is the byte of the tag's '<', counted from 1")
    func columns() {
        #expect(place(before + "<key>p</key>" + after) == "1:\(before.utf8.count + 1)")
        #expect(place(before + "\n<key>p</key>" + after) == "2:1")
        #expect(place(before + "\n\t  <key>p</key>" + after) == "2:4")
    }

    @Test("an attribute or a line break within a tag does not change the tag's position")
    func attributes() {
        #expect(place(before + "\n <key\n a='>'\n>p</key>" + after) == "2:2")
    }

    @Test("a character of two bytes counts as two columns")
    func bytes() {
        #expect(place(before + "\n<!-- é --><key>p</key>" + after) == "2:12")
    }

    @Test("tags in comments and CDATA are ignored")
    func hidden() {
        let hidden = "<!-- <key> -- ><key> --><!---->"
        #expect(place(before + hidden.replacing("-- >", with: "- ->") + "\n<key>p</key>" + after) == "2:1")
        #expect(place(before + "\n<key><![CDATA[p]]></key>" + after) == "2:1")
        let cdata =
            "<key>q</key><dict><key>type</key><string>any</string>"
            + "<key>description</key><string><![CDATA[<a>]]]]><![CDATA[>]]></string></dict>"
        let reading = PlanFixture(before + cdata + "\n<key>p</key>" + after).read()
        #expect(reading.plan?.events.first?.properties.first?.description == "<a>]]>")
        #expect(reading.plan?.events.first?.properties.last?.location.line == 2)
    }

    @Test("positions after a document type, a byte order mark and CRLF equal those of editors")
    func frame() {
        let doctype = "<!DOCTYPE plist PUBLIC \"-//a\" 'http://b/><key>'>\r\n"
        #expect(place("\u{FEFF}<?xml version=\"1.0\"?>\r\n" + doctype + before + "\r\n <key>p</key>" + after) == "4:2")
        #expect(place("\u{FEFF}" + before + "<key>p</key>" + after) == "1:\(before.utf8.count + 1)")
        #expect(place(before + "\r\r <key>p</key>" + after) == "3:2")
    }

    @Test("the position of an event, a property, items and a group's property is their key")
    func definitions() throws {
        let fixture = PlanFixture(
            """
            <plist>
            <dict>
             <key>propertyGroups</key> <dict><key>g</key> <dict>
              <key>shared</key> <string>any</string></dict></dict>
             <key>events</key>
             <dict>
              <key>e</key>
              <dict>
               <key>registeredTrackers</key> <array><string>c</string></array>
               <key>include</key> <array><string>g</string></array>
               <key>payload</key>
               <dict>
                <key>list</key>
                <dict> <key>type</key><string>array</string>
                 <key>items</key> <string>uuid</string></dict>
               </dict>
              </dict>
             </dict>
            </dict>
            </plist>
            """
        )
        let event = try #require(fixture.read().plan?.events.first)
        #expect(event.location.description == "plan.plist:7:3")
        #expect(event.properties.map(\.name) == ["list", "shared"])
        #expect(event.properties.map(\.location.description) == ["plan.plist:13:5", "plan.plist:4:3"])
        #expect(event.properties.first?.items?.location.description == "plan.plist:15:6")
        #expect(event.properties.first?.items?.type == .uuid)
    }
}
