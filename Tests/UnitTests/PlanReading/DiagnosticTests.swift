import EventSchema
import PatternMatching
import PlanReading
import TestCases
import Testing

@Suite("Diagnostics of a plan")
struct DiagnosticTests {
    private static let cases =
        DiagnosticCase.plist + DiagnosticCase.structure + DiagnosticCase.values + DiagnosticCase.plan
        + DiagnosticCase.groups + DiagnosticCase.privacy

    @Test("each mistake is one diagnostic at the offending node", arguments: cases)
    func place(of mistake: DiagnosticCase) {
        let reading = mistake.fixture.read()
        #expect(mistake.fixture.marks.count == 1)
        #expect(reading.places == mistake.fixture.marks.map { "\($0) \(mistake.code.rawValue)" })
        #expect(reading.diagnostics.first?.sentence == mistake.sentence)
        #expect((reading.plan == nil) == (mistake.code.severity == .error))
    }

    @Test("every diagnostic code has a test")
    func completeness() {
        // These need several files or a very large one; PlanReaderTests and PlistLimitTests cover them.
        // The generator reports the last one; JustTrackStyleTests covers it.
        let elsewhere: Set<DiagnosticCode> = [
            .noPlanFiles, .emptyFolder, .unreadableFile, .fileTooLarge, .tooDeep, .conflictingVersions,
            .duplicatePropertyGroup, .duplicateContextKey, .noJustTrackForm,
        ]
        let here = Set(Self.cases.map(\.code))
        #expect(here.isDisjoint(with: elsewhere))
        #expect(here.union(elsewhere) == Set(DiagnosticCode.allCases))
    }

    @Test("diagnostic codes are kebab-case and never change")
    func codes() throws {
        let kebab = try Pattern("^[a-z]+(-[a-z]+)*$")
        #expect(DiagnosticCode.allCases.allSatisfy { kebab.matches($0.rawValue) })
        #expect(DiagnosticCode.unknownType.rawValue == "unknown-type")
    }

    @Test("a diagnostic is one line in the format of compilers")
    func line() {
        let location = PlanLocation(file: "events/a.plist", line: 12, column: 5)
        let diagnostic = Diagnostic(
            .unusedPropertyGroup,
            at: location,
            "the property group 'a' is never included; include it, or remove it"
        )
        let expected =
            "events/a.plist:12:5: warning: the property group 'a' is never included; include it, or remove it [unused-property-group]"
        #expect(diagnostic.description == expected)
    }

    @Test("a name with a line break does not break the line of a diagnostic")
    func lineBreaks() {
        let reading = PlanFixture.root(
            """
            <key>propertyGroups</key> <dict><key>a\nb</key> <dict/></dict>
            <key>events</key> <dict><key>c\nd</key> <dict>
            <key>registeredTrackers</key> <array><string>console</string></array>
            <key>include</key> <array><string>money</string></array></dict></dict>
            """
        ).read()
        #expect(reading.diagnostics.map(\.code) == [.badName, .unusedPropertyGroup, .badName, .unknownPropertyGroup])
        #expect(reading.diagnostics.last?.sentence == "unknown property group 'money'; the plan has a\\u{a}b")
        #expect(reading.diagnostics.allSatisfy { !$0.description.contains("\n") })
    }

    @Test(
        "XML that is not well-formed is reported at the parser's position",
        arguments: [
            ("<plist>\n<dict>\n  <key>a</ky>\n</dict></plist>", 3, "a start tag and an end tag do not match"),
            ("<plist>\n\n<dict>", 3, "the document has content after its end, or its end is missing"),
            (
                "<plist>\n<dict>&foo;</dict></plist>", 2,
                "it refers to an entity that is not declared; write '&amp;' for '&'"
            ),
            (
                "<plist>\n<string>a & b</string></plist>", 2,
                "a name is expected after '<' or '&'; write '&lt;' and '&amp;' in text"
            ),
            (
                "<plist>\n<dict/></plist>\n<plist/>", 3,
                "the document has content after its end, or its end is missing"
            ),
            ("<plist>\n<string>\u{1}</string></plist>", 2, "it contains a character that XML does not allow"),
            (
                "<!-- nothing -->", 1,
                "the document has content after its end, or its end is missing"
            ),
        ]
    )
    func malformed(xml: String, line: Int, reason: String) {
        let reading = PlanFixture(xml).read()
        #expect(reading.diagnostics.map(\.code) == [.malformedPlist])
        #expect(reading.diagnostics.map(\.location.line) == [line])
        #expect(reading.diagnostics.map(\.sentence) == ["not a property list; \(reason)"])
    }

    @Test("text in UTF-16 is reported as a malformed plist")
    func otherEncoding() {
        let bytes = "<plist><dict/></plist>".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        for bytes in [bytes, [0xFF, 0xFE] + bytes] {
            let reading = PlanReader().read([PlanSource(file: "a", bytes: bytes)])
            #expect(reading.places == ["1:1 malformed-plist"])
        }
    }

    @Test("an encoding other than UTF-8 is rejected", arguments: ["UTF-7", "US", "ISO-8859-1", "\u{be}"])
    func declaredEncoding(name: String) {
        let reading = PlanFixture("👉<?xml version='1.0' encoding='\(name)'?><plist><dict/></plist>").read()
        #expect(reading.places == ["1:1 malformed-plist"])
    }

    @Test("a file may declare UTF-8, in upper or lower case", arguments: ["UTF-8", "utf-8"])
    func declaredUTF8(name: String) {
        let reading = PlanFixture("<?xml version='1.0' encoding=\"\(name)\" ?>\n<plist><dict/></plist>").read()
        #expect(!reading.diagnostics.map(\.code).contains(.malformedPlist))
    }
}
