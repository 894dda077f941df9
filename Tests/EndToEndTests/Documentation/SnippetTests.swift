import Foundation
import ServerTestSupport
import Testing

/// Each line of Swift in the documentation is in a compiled file of the tests, or of an example that has tests.
@Suite("the documentation's Swift")
struct SnippetTests {
    private static func files(in folder: String, _ suffix: String) throws -> [String] {
        let found = FileManager.default.enumerator(at: RepositoryFile.url(folder), includingPropertiesForKeys: nil)
        let urls = (found?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.path.hasSuffix(suffix) }
        return try urls.sorted { $0.path < $1.path }.map { try String(contentsOf: $0, encoding: .utf8) }
    }

    /// The line without indentation, which differs between a function and a page.
    private static func flush(_ text: some StringProtocol) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            .map { "\n" + $0 }.joined() + "\n"
    }

    private static func compiled() throws -> [String] {
        try [
            "Tests/ClientApp", "Tests/Snippets", "Tests/Tutorial", "Tests/Readme", "Examples/custom-tracker/Sources",
            "Examples/custom-tracker/Tests",
        ].flatMap { try files(in: $0, ".swift") }.map(flush)
    }

    @Test("each line of Swift on a page of the documentation is in a compiled file")
    func pages() throws {
        let compiled = try Self.compiled()
        let readme = try RepositoryFile.text("README.md")
        let pages = try Self.files(in: "Sources", ".md") + Self.files(in: "Documentation", ".md") + [readme]
        // ReadmeTests checks parts of a manifest.
        let blocks = pages.flatMap { MarkdownPage($0).texts("swift") }.filter {
            !$0.contains(".product(") || $0.hasPrefix("// swift-tools-version")
        }
        #expect(blocks.count >= 14)
        for block in blocks {
            #expect(compiled.contains { $0.contains(Self.flush(block)) }, "nothing compiles:\n\(block)")
        }
    }

    @Test("each line of Swift in a documentation comment is in a compiled file")
    func comments() throws {
        let compiled = try Self.compiled()
        let blocks = try Self.files(in: "Sources", ".swift").flatMap(Self.code(inCommentsOf:))
        #expect(blocks.count >= 5)
        for block in blocks {
            #expect(compiled.contains { $0.contains(Self.flush(block)) }, "nothing compiles:\n\(block)")
        }
    }

    @Test("the rule finds a changed line")
    func changed() throws {
        let block = "let pipeline = try Pipeline(\n    catalog: .nowhere,\n"
        #expect(try !Self.compiled().contains { $0.contains(Self.flush(block)) })
    }

    /// The code in documentation comments: indented by four spaces after an empty line, or between backticks.
    private static func code(inCommentsOf text: String) -> [String] {
        var blocks: [String] = []
        let comments = text.matches(of: /(?:^ *\/\/\/.*\n)+/.anchorsMatchLineEndings()).map { match in
            match.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces).dropFirst(3) }
        }
        for comment in comments {
            var isCode = false
            for (line, previous) in zip(comment, [""] + comment) {
                let begins = line.hasPrefix("     ") && previous.isEmpty && !isCode
                if begins { blocks.append("") }
                isCode = begins || (isCode && (line.isEmpty || line.hasPrefix("     ")))
                if isCode { blocks[blocks.count - 1] += line + "\n" }
            }
            let page = comment.map { $0.hasPrefix(" ") ? $0.dropFirst() : $0 }.joined(separator: "\n")
            blocks += MarkdownPage(page).texts("swift")
        }
        return blocks
    }
}
