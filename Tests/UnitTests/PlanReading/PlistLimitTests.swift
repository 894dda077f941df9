import PlanReading
import TestCases
import Testing

@Suite("Limits of plan files")
struct PlistLimitTests {
    private func nested(_ depth: Int) -> String {
        String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)
    }

    private func property(example: String) -> PlanFixture {
        .property("<key>type</key><string>any</string> <key>examples</key> <array>\(example)</array>")
    }

    @Test("nodes may be nested 64 levels deep, and not deeper")
    func depth() {
        // The root dictionary, events, e, payload, p and examples are the first six.
        #expect(property(example: nested(58)).read().diagnostics == [])
        let fixture = property(example: String(repeating: "<array>", count: 58) + "👉" + nested(1) + "</array>")
        #expect(fixture.read().places == fixture.marks.map { "\($0) too-deep" })
    }

    @Test("a hundred thousand levels are an error, not a crash")
    func veryDeep() {
        #expect(property(example: nested(100_000)).read().diagnostics.map(\.code) == [.tooDeep])
    }

    @Test("a file may have 200,000 nodes, and not more")
    func nodes() {
        let fixture = PlanFixture(
            "<plist><array>" + String(repeating: "<true/>", count: 200_000) + "</array></plist>"
        )
        #expect(fixture.read().diagnostics.map(\.code) == [.fileTooLarge])
    }

    @Test("a file may have 16 MiB, and not more")
    func bytes() {
        let source = PlanSource(file: "a", bytes: Array(repeating: UInt8(ascii: " "), count: 16 << 20 + 1))
        #expect(PlanReader().read([source]).places == ["1:1 file-too-large"])
    }

    @Test("an entity expansion attack (billion laughs) is rejected")
    func entityBomb() {
        let fixture = PlanFixture(
            """
            <!DOCTYPE plist 👉[
            <!ENTITY a "aaaaaaaaaa"> <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
            ]>
            <plist><string>&b;</string></plist>
            """
        )
        #expect(fixture.read().places == fixture.marks.map { "\($0) unsafe-doctype" })
    }

    @Test("an external entity is never read")
    func externalEntity() {
        let fixture = PlanFixture(
            "<!DOCTYPE plist 👉[<!ENTITY x SYSTEM \"file:///etc/hostname\">]>\n<plist><string>&x;</string></plist>"
        )
        #expect(fixture.read().places == fixture.marks.map { "\($0) unsafe-doctype" })
    }

    @Test("a long cycle of property groups is found without recursion")
    func longCircle() {
        let count = 20_000
        let groups = (0..<count).map {
            "<key>g\($0)</key><dict><key>include</key><array><string>g\(($0 + 1) % count)</string></array></dict>"
        }
        let fixture = PlanFixture.root("<key>propertyGroups</key><dict>\(groups.joined())</dict>")
        #expect(fixture.read().diagnostics.map(\.code) == [.propertyGroupCycle])
    }
}
