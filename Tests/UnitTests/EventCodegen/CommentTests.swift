import EventCodegen
import PlanReading
import TestCases
import Testing

@Suite("Comments of generated code")
struct CommentTests {
    private func lines(_ fixture: PlanFixture) throws -> [Substring] {
        let plan = try #require(PlanReader().read([fixture.source]).plan)
        return try #require(SwiftGenerator().generate(plan).text).split(separator: "\n").map { $0.drop { $0 == " " } }
    }

    @Test("paragraphs and lists of a description are preserved")
    func paragraphs() throws {
        let long = Array(repeating: "word", count: 30).joined(separator: " ")
        let description = "First,\n   wrapped.\n\n  Either\n  - one \(long)\n  - two\n  1. three\n\n\nlast - not a list"
        let lines = try lines(
            .property("<key>type</key><string>any</string><key>description</key><string>\(description)</string>")
        )
        let expected = [
            "/// First, wrapped.", "///", "/// Either",
            "/// - one " + Array(repeating: "word", count: 19).joined(separator: " "),
            "///   " + Array(repeating: "word", count: 11).joined(separator: " "),
            "/// - two", "/// 1. three", "///", "/// last - not a list",
        ]
        let start = try #require(lines.firstIndex(of: "/// First, wrapped."))
        #expect(lines[start...].prefix(expected.count).map(String.init) == expected)
    }

    @Test("a description with code keeps its lines")
    func code() throws {
        let description = "Sent as\n\n```\nif a {\n\tb\n}\n```"
        let lines = try lines(
            .property("<key>type</key><string>any</string><key>description</key><string>\(description)</string>")
        )
        let expected = ["/// Sent as", "///", "/// ```", "/// if a {", "///     b", "/// }", "/// ```"]
        let start = try #require(lines.firstIndex(of: "/// Sent as"))
        #expect(lines[start...].prefix(expected.count).map(String.init) == expected)
    }

    @Test("a property's comment states its key only if it differs from the name")
    func names() throws {
        let lines = try lines(
            .payload(
                "<key>stock</key><string>any</string><key>class</key><string>any</string><key>URL</key><string>any</string>"
            )
        )
        #expect(!lines.contains { $0.contains("`stock`") || $0 == "/// `class` on the wire." })
        #expect(lines.contains("/// `URL` on the wire."))
        #expect(lines.count { $0 == "/// `e` on the wire." } == 1)
    }

    @Test("each of two initialisers documents its parameters")
    func initializers() throws {
        let old =
            "<key>type</key><string>any</string><key>required</key><false/><key>deprecated</key><string>no</string>"
        let lines = try lines(.payload("<key>a</key><string>any</string><key>b</key><dict>\(old)</dict>"))
        #expect(
            lines.filter { $0.hasPrefix("/// Takes") } == [
                "/// Takes the properties, in the order of the plan.",
                "/// Takes the properties, deprecated ones as well, in the order of the plan.",
            ]
        )
    }
}
